package export

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/data/text/sentencepiece"
	"konkanitrain/recognize"
)

// What sherpa-onnx (https://github.com/k2-fsa/sherpa-onnx) does with a CTC model: it computes log-mel energies with
// kaldi-native-fbank, whose windows, pre-emphasis, removal of DC, floor and count of frames are ours. What it lets
// nobody choose, for most of its front ends, are the edges of the mel bins and the scale of samples.
const (
	sherpaLowHz = 20
	belowHalf   = 400 // Hz that its upper edge lies below half of the sample rate
)

// Slot is a kind of model that sherpa-onnx loads.
type Slot struct {
	Name   string  `json:"model_type"`   // in the metadata
	Method string  `json:"method"`       // of OfflineRecognizer in Python
	Scale  float64 `json:"sample_scale"` // that it computes with
}

// The slots that take any network with CTC.
var (
	wenet     = Slot{"wenet_ctc", "from_wenet_ctc", feature.SixteenBits}
	zipformer = Slot{"zipformer2_ctc", "from_zipformer_ctc", 1}
)

// Note says what of a slot can't be helped: that sherpa-onnx 2.0.1 dithers what wenet_ctc hears, whatever its settings
// say. Noise is next to nothing beside recorded sound, but not beside samples that are 0.
func (s Slot) Note() string {
	if s != wenet {
		return ""
	}
	return fmt.Sprintf("sherpa-onnx adds noise of one step of 16 bits to what %s hears: where samples are exactly 0, as in silence that a program made, "+
		"texts may differ; with sample_scale 1 and subsampling 4 in training a model is for %s, which adds none", wenet.Name, zipformer.Name)
}

// slotOf is the slot that suits a model best: the one with its scale of samples.
func slotOf(d *recognize.Description) Slot {
	if d.Features.SampleScale == zipformer.Scale {
		return zipformer
	}
	return wenet
}

// differences are what of a model sherpa-onnx can't do as it is done here, each with what to do about it.
func differences(d *recognize.Description) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	f := d.Features
	if half := float64(f.SampleRate) / 2; f.High() != half-belowHalf {
		add("its mel bins end at %g Hz, and sherpa-onnx's at %g Hz: train with high_hz -%d", f.High(), half-belowHalf, belowHalf)
	}
	if f.LowHz != sherpaLowHz {
		add("its mel bins begin at %g Hz, and sherpa-onnx's at %d Hz", f.LowHz, sherpaLowHz)
	}
	slot := slotOf(d)
	if f.SampleScale != slot.Scale {
		add("its samples are scaled by %g, and sherpa-onnx's by %d (wenet_ctc) or %d (zipformer2_ctc): train with one of these as sample_scale",
			f.SampleScale, feature.SixteenBits, 1)
	}
	if slot == zipformer && d.Network.Subsampling != 4 {
		add("times of words come out wrong by %g: zipformer2_ctc takes it for subsampled by 4, and it is by %d: train with subsampling 4, "+
			"or sample_scale %d, for wenet_ctc", 4/float64(d.Network.Subsampling), d.Network.Subsampling, feature.SixteenBits)
	}
	return append(list, oddTokens(d.Vocabulary)...)
}

// blank is the name of the blank that sherpa-onnx looks for.
const blank = "<blk>"

// oddTokens are tokens of which sherpa-onnx makes something else.
func oddTokens(t text.Tokenizer) (list []string) {
	var odd []string
	for id := int32(3); int(id) < t.Size(); id++ {
		s := t.Token(id)
		inner := strings.TrimPrefix(s, sentencepiece.Space)
		isByte := len(s) == 6 && strings.HasPrefix(s, "<0x") && strings.HasSuffix(s, ">")
		if strings.Contains(inner, sentencepiece.Space) || s != " " && strings.ContainsFunc(s, unicode.IsSpace) ||
			s == "SIL" || s == blank || s == sentencepiece.Space && !inPieces(t) || isByte && s != fmt.Sprintf("<0x%02X>", id-3) {
			odd = append(odd, fmt.Sprintf("%q", s))
		}
	}
	if len(odd) > 0 {
		list = append(list, fmt.Sprintf("sherpa-onnx writes other text for the tokens %s", strings.Join(odd, ", ")))
	}
	return list
}

// inPieces says whether ▁ stands for a space in tokens, as in pieces of SentencePiece. In a vocabulary of characters it
// is itself.
func inPieces(t text.Tokenizer) bool {
	_, characters := text.Bare(t).(*text.Vocabulary)
	return !characters
}

// hasMark says whether t is of characters and has ▁ among them, which tokens.txt has for a space.
func hasMark(t text.Tokenizer) bool {
	for id := int32(text.Unk) + 1; int(id) < t.Size(); id++ {
		if t.Token(id) == sentencepiece.Space {
			return !inPieces(t)
		}
	}
	return false
}

// refuse is an error where sherpa-onnx would not transcribe as it is done here.
func refuse(m *recognize.Stored, o Options, warnings []string) error {
	if o.Features != Out {
		return fmt.Errorf("sherpa-onnx computes features itself: it takes no graph with features %q; export with features %q", o.Features, Out)
	}
	if len(warnings) > 0 {
		return fmt.Errorf("%s: sherpa-onnx would hear or write something else than this model learned:\n  %s\n"+
			"format %s writes it all the same, for other programs", m.Path, strings.Join(warnings, "\n  "), ONNX)
	}
	return nil
}

// tokens is tokens.txt: a token and its id a line, a space written as SentencePiece does. What marks that nothing is
// known writes what Decode does: the replacement character.
func tokens(t text.Tokenizer) []byte {
	var b bytes.Buffer
	for id := range int32(t.Size()) {
		s := t.Token(id)
		switch id {
		case text.Blank:
			s = blank
		case text.Unk:
			s = t.Decode([]int32{id})
			if s = strings.ReplaceAll(s, " ", sentencepiece.Space); strings.TrimSpace(s) == "" {
				s = "<unk>"
			}
		default:
			if s == " " {
				s = sentencepiece.Space
			}
		}
		fmt.Fprintf(&b, "%s %d\n", s, id)
	}
	return b.Bytes()
}
