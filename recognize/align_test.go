package recognize

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
	"konkanitrain/recognize/decode"
	"konkanitrain/recognize/transcript"
)

// A text has its words where they were said, though the network would rather write something else, and the confidence
// of each is what the network gives it.
func TestAlignText(t *testing.T) {
	r := mustRead(t, " abc", Decoding{Units: true})
	logits := saying(t, r, "ab c/a", 3) // frames 0, 4, 8, 12 of 40 ms
	got := r.align(logits, "ab a")
	if got.err != nil || len(got.Words) != 2 || got.Text != "ab a" {
		t.Fatalf("%+v", got)
	}
	if w := got.Words[1]; w.Text != "a" || math.Abs(w.Start-0.48) > 1e-9 || math.Abs(w.End-0.52) > 1e-9 { // a sum of 12 frames' lengths
		t.Errorf("%+v", w)
	}
	var f decode.Frames
	f.Set(logits, r.size)
	a := r.tokenizer.Encode("a", nil)[0]
	if p := math.Exp(float64(f.Row(12)[a])); math.Abs(got.Words[1].Confidence-p) > 1e-6 { // float32 log-probabilities
		t.Errorf("confidence %v, want %v", got.Words[1].Confidence, p)
	}
	if p := got.Words[0].Confidence; !(p > 0.99) {
		t.Errorf("a sure word has a confidence of %v", p)
	}
	// What no token writes is aligned with the network's sign for it, and keeps its letters.
	if got := r.align(logits, "ab é"); got.err != nil || got.Words[1].Text != "é" || got.Words[1].Confidence > 0.01 {
		t.Errorf("%+v", got)
	}
	// So it is where tokens write no space either, as those of a model of single words.
	single := mustRead(t, "abc", Decoding{Units: true})
	if got := single.align(saying(t, single, "abc", 3), "ab éc"); got.err != nil || textsOf(got.Words) != "ab éc" || textsOf(got.Characters) != "a b é c" {
		t.Errorf("%+v", got)
	}
	if got := r.align(logits, strings.Repeat("ab", 20)); got.err == nil || got.Words != nil {
		t.Errorf("%+v", got)
	} else {
		testkit.MustFail(t, got.err, "40 tokens take 40 frames at least")
	}
}

// Of a manifest, an utterance that is a part of a recording has the recording's times; a text that is too long is its
// own error, and the others go on.
func TestAlignManifest(t *testing.T) {
	_, paths := speak(t, babble(4, 1))
	dir := filepath.Dir(paths[0])
	whole := make([]int, 32000)
	for i := range whole {
		whole[i] = int(3000 * math.Sin(float64(i)/7))
	}
	testkit.WriteWAV(t, filepath.Join(dir, "whole.wav"), 16000, whole)
	manifest := filepath.Join(dir, "parts.jsonl")
	write(t, manifest, `{"audio_filepath": "0000.wav", "text": "ab"}
{"audio_filepath": "whole.wav", "text": "abc", "offset": 0.5, "duration": 1}
{"audio_filepath": "0001.wav", "text": "`+strings.Repeat("abc", 30)+`"}
{"audio_filepath": "nowhere.wav", "text": "ab"}
{"audio_filepath": "0002.wav", "text": "c"}
`)
	m := random(t, described(t), 2)
	var got []Transcript
	report, err := m.AlignManifest(t.Context(), manifest, EvaluateOptions{}, func(x Transcript) error {
		got = append(got, x)
		return nil
	})
	if err != nil || report.Lines != 5 || len(got) != 4 {
		t.Fatal(err, report, got)
	}
	testkit.MustFail(t, got[2].Err, "0001.wav ("+manifest+", line 3): 90 tokens take 90 frames at least")
	s := got[1].Segments[0]
	if got[1].Duration != 2 || s.Start != 0.5 || s.End != 1.5 || len(s.Words) != 1 || len(s.Characters) != 3 {
		t.Errorf("%+v", got[1])
	}
	at := 0.5
	for _, u := range s.Characters {
		if u.Start < at || u.End <= u.Start || u.End > 1.5 {
			t.Errorf("%+v lies behind %v", u, at)
		}
		at = u.Start
	}
	// The same texts with files, alone.
	for i, said := range map[int]string{0: "ab", 2: "c"} {
		err := m.Align(t.Context(), []Said{{paths[i], said}}, func(x Transcript) error {
			want := got[i+i/2].Segments[0]
			if x.Err != nil || x.Segments[0].Words[0] != want.Words[0] {
				t.Errorf("%+v, want %+v", x, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// What of a text no token writes is named, and so is a text with nothing in it.
func TestAlignWarns(t *testing.T) {
	_, paths := speak(t, babble(2, 1))
	m := random(t, described(t), 1)
	var log bytes.Buffer
	m.log = &log
	n := 0
	err := m.Align(t.Context(), []Said{{paths[0], " "}, {paths[1], "abéa"}}, func(Transcript) error {
		n++
		return nil
	})
	if err != nil || n != 2 {
		t.Fatal(err, n)
	}
	testkit.MustContain(t, log.String(), "WARNING: "+paths[0]+": its text is empty: there is nothing to find\n",
		"WARNING: "+paths[1]+": the model can't write all of its text: 1 of 4 letters (25.00 %) are outside the vocabulary: \"é\" x 1: times and confidences are doubtful there\n")
}

// textsOf are the texts of units.
func textsOf(units []transcript.Unit) string {
	var texts []string
	for _, u := range units {
		texts = append(texts, u.Text)
	}
	return strings.Join(texts, " ")
}
