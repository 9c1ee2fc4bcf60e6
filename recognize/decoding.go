package recognize

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"konkanitrain/data/text"
	"konkanitrain/internal/ngram"
	"konkanitrain/internal/words"
	"konkanitrain/recognize/decode"
)

// Decoder names a way to find the text in what the network says.
type Decoder string

// The decoders.
const (
	Greedy Decoder = "greedy" // the likeliest token of each frame
	Beam   Decoder = "beam"   // CTC prefix beam search, with a language model and hotwords where there are some
	// With the network's own decoder, where it was trained with one:
	Joint   Decoder = "joint"   // it is asked of each token of the beam search
	Rescore Decoder = "rescore" // it is asked of the whole texts that the beam search has found
)

// Decoding says how texts are found and what else is wanted of each. The zero value is greedy decoding, and the text
// alone.
type Decoding struct {
	Decoder Decoder // "" is Greedy

	// AttentionWeight is that of the decoder's log-probability beside CTC's, 0 or more: of Joint and Rescore.
	AttentionWeight float64

	// Of a beam search alone:
	Width        int     // prefixes that are kept; 0 is DefaultWidth
	LM           string  // file of a language model (ARPA, of words or of characters); "" is none
	LMWeight     float64 // of its log-probability beside CTC's, 0 or more
	LengthWeight float64 // nats for each word, or each character where the model is one of characters or there is none
	Hotwords     string  // list, see [decode.ParseHotwords]; "" is none
	Boost        float64 // nats a character, of hotwords that have none of their own

	NBest int  // alternatives that are wanted beside the text; of greedy decoding there is one
	Units bool // words and characters are wanted, with their times and confidences

	// Calibration makes probabilities of confidences. nil: those of greedy decoding by the calibration that training has
	// given the model, if any, and those of searches, which it isn't of, not at all.
	Calibration *decode.Calibration
}

// DefaultWidth is the width of a beam where none is given.
const DefaultWidth = 32

// beamMargin bounds the tokens that make prefixes longer, in nats below the likeliest of a frame: those beyond it are
// in no hypothesis that is among the best.
const beamMargin = 8

// Calibration turns a confidence into a probability; see [decode.Calibration].
type Calibration = decode.Calibration

// Unchanged is a calibration that leaves confidences as they are measured.
func Unchanged() *Calibration {
	return &Calibration{Slope: decode.Unchanged.Slope, Offset: decode.Unchanged.Offset}
}

// Check names what doesn't go together.
func (d Decoding) Check() error {
	switch {
	case !slices.Contains([]Decoder{"", Greedy, Beam, Joint, Rescore}, d.Decoder):
		return fmt.Errorf("there is no decoder %q: want %s, %s, %s or %s", d.Decoder, Greedy, Beam, Joint, Rescore)
	case d.asksDecoder() && !(d.AttentionWeight >= 0 && d.AttentionWeight <= 1000):
		return fmt.Errorf("the weight of the network's decoder is %v, want 0 to 1000", d.AttentionWeight)
	case d.greedy() && d.LM != "":
		return errors.New("a language model takes part in a beam search, and the decoder is greedy: want --decoder beam")
	case d.greedy() && d.Hotwords != "":
		return errors.New("hotwords take part in a beam search, and the decoder is greedy: want --decoder beam")
	case d.greedy() && d.NBest > 1:
		return errors.New("greedy decoding has one hypothesis: for more of them want --decoder beam")
	case d.NBest > d.width():
		return fmt.Errorf("%d hypotheses are wanted of a beam of %d: want a wider beam", d.NBest, d.width())
	}
	return nil
}

// asksDecoder says whether the network's decoder is asked.
func (d Decoding) asksDecoder() bool { return d.Decoder == Joint || d.Decoder == Rescore }

func (d Decoding) greedy() bool { return d.Decoder == "" || d.Decoder == Greedy }

func (d Decoding) width() int {
	if d.Width == 0 {
		return DefaultWidth
	}
	return d.Width
}

// fusion is what takes part in a beam search whatever the weights are: the same for all workers.
type fusion struct {
	vocabulary *decode.Vocabulary
	lm         *ngram.Model    // nil: none
	lexicon    *decode.Lexicon // of a model of words
	hotwords   *decode.Hotwords
}

// bytes is what it takes in memory.
func (f *fusion) bytes() (sum int64) {
	if f.lm != nil {
		sum += f.lm.Bytes()
	}
	if f.lexicon != nil {
		sum += f.lexicon.Bytes()
	}
	if f.hotwords != nil {
		sum += f.hotwords.Bytes()
	}
	return sum
}

// ofWords says whether the language model is one of words.
func (f *fusion) ofWords() bool { return f.lexicon != nil }

// beam is what a search with these weights asks.
func (f *fusion) beam(d Decoding) decode.BeamOptions {
	o := decode.BeamOptions{Width: d.width(), Margin: beamMargin, Hotwords: f.hotwords}
	part := &decode.Fusion{Weight: d.LMWeight, Bonus: d.LengthWeight}
	if f.lm == nil {
		part.Weight = 0
	}
	if part.Weight > 0 {
		part.Model = languageModel{f.lm}
	}
	switch {
	case part.Weight == 0 && part.Bonus == 0:
	case f.ofWords():
		o.Words = part
		if part.Weight > 0 {
			part.Lexicon = f.lexicon
		}
	default:
		o.Tokens, o.Characters = part, part.Weight > 0
	}
	return o
}

// load reads the files of a decoding for a model's vocabulary. log is told what is odd in them.
func (d Decoding) load(t text.Tokenizer, p text.Policy, warn func(string)) (*fusion, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	v, err := decode.NewVocabulary(writes(t), text.Blank)
	if err != nil {
		return nil, err
	}
	f := &fusion{vocabulary: v}
	if d.LM != "" {
		var warnings []string
		if f.lm, warnings, err = ngram.Read(d.LM); err != nil {
			return nil, err
		}
		for _, w := range warnings {
			warn(w)
		}
		if w, err := d.covers(v, f.lm); err != nil {
			return nil, err
		} else if w != "" {
			warn(w)
		}
		if f.lm.Unit() == ngram.Words {
			unknown, _ := f.lm.Score(ngram.State{}, ngram.Unknown)
			if f.lexicon, err = decode.NewLexicon(unigrams(f.lm), unknown); err != nil {
				return nil, fmt.Errorf("%s: %w", d.LM, err)
			}
		}
	}
	if d.Hotwords != "" {
		list, err := decode.ParseHotwords(d.Hotwords, d.Boost, p.Normalize)
		if err == nil {
			f.hotwords, err = decode.NewHotwords(v, list)
		}
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// covers holds a language model's units against what a network can write: a model that has nothing in common with it
// would rate all texts alike, and is an error; one of which less than half can be written is a warning.
func (d Decoding) covers(v *decode.Vocabulary, m *ngram.Model) (warning string, err error) {
	can, all, strange := v.Covers(func(yield func(string) bool) {
		for u := range unigrams(m) {
			if !yield(u) {
				return
			}
		}
	})
	switch {
	case all > 0 && can == 0:
		return "", fmt.Errorf("%s: the model can write none of its %s (%q, say): it is for another vocabulary; make one of texts as this model "+
			"writes them: konkanitrain lm --checkpoint", d.LM, words.Count(all, m.Unit().Noun()), strange)
	case 2*can < all:
		warning = fmt.Sprintf("%s: the model can write %d of its %s, not %q, say: is it of texts as this model writes them (konkanitrain lm --checkpoint)?",
			d.LM, can, words.Count(all, m.Unit().Noun()), strange)
	}
	return warning, nil
}

// unigrams are the words of a model and their log-probabilities in nats whatever stood before.
func unigrams(m *ngram.Model) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		v := m.Vocabulary()
		for w := ngram.End + 1; int(w) < v.Size(); w++ {
			nats, _ := m.Score(ngram.State{}, w)
			if !yield(v.Text(w), nats) {
				return
			}
		}
	}
}

// languageModel is an n-gram model as decoders ask it.
type languageModel struct{ m *ngram.Model }

func (l languageModel) ID(unit []byte) (int32, bool) {
	w, known := l.m.Vocabulary().IDOf(unit)
	if w == ngram.Start || w == ngram.End { // a word that is written like a mark is none
		return int32(ngram.Unknown), false
	}
	return int32(w), known && w != ngram.Unknown
}

func (l languageModel) Begin() decode.State { return decode.State(l.m.Begin().Number()) }

func (l languageModel) Score(from decode.State, id int32) (float64, decode.State) {
	nats, to := l.m.Score(ngram.StateOf(uint64(from)), ngram.Word(id))
	return nats, decode.State(to.Number())
}

func (l languageModel) End(from decode.State) float64 { return l.m.End(ngram.StateOf(uint64(from))) }

// writes is what each token of a vocabulary writes.
func writes(t text.Tokenizer) []string {
	texts := make([]string, t.Size())
	for id := range texts {
		texts[id] = t.Token(int32(id))
		var b byte
		if byteToken(texts[id], &b) {
			texts[id] = string([]byte{b})
		}
	}
	texts[text.Blank], texts[text.SosEos], texts[text.Unk] = "", "", "\ufffd"
	return texts
}

// byteToken reads the name of a piece of SentencePiece that is a single byte, as <0xE0>.
func byteToken(s string, b *byte) bool {
	if len(s) != 6 || !strings.HasPrefix(s, "<0x") || s[5] != '>' {
		return false
	}
	n, err := strconv.ParseUint(s[3:5], 16, 8)
	*b = byte(n)
	return err == nil
}

// ReadHotwords reads a list of hotwords from a file, for Decoding.Hotwords.
func ReadHotwords(path string) (string, error) {
	b, err := os.ReadFile(path)
	return string(b), err
}
