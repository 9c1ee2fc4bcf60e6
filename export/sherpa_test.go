package export

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/text"
	"konkanitrain/internal/testkit"
	"konkanitrain/recognize"
)

// forSherpa is a model that sherpa-onnx hears as it has learned.
func forSherpa(t testing.TB) *recognize.Description {
	d := described(t, 4)
	d.Features.HighHz = -400
	return d
}

// What differs in sherpa-onnx is said, and refused by the format that is for it.
func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		change func(*recognize.Description)
		slot   Slot
		want   []string
	}{
		{func(*recognize.Description) {}, wenet, nil},
		{func(d *recognize.Description) { d.Features.HighHz = 7600 }, wenet, nil},
		{func(d *recognize.Description) { d.Features.SampleRate = 8000 }, wenet, nil},
		{func(d *recognize.Description) { d.Network.Subsampling = 2 }, wenet, nil},
		{func(d *recognize.Description) { d.Features.SampleScale = 1 }, zipformer, nil},
		{func(d *recognize.Description) { d.Features.HighHz = 0 }, wenet, []string{"end at 8000 Hz, and sherpa-onnx's at 7600 Hz: train with high_hz -400"}},
		{func(d *recognize.Description) { d.Features.LowHz = 40 }, wenet, []string{"begin at 40 Hz, and sherpa-onnx's at 20 Hz"}},
		{func(d *recognize.Description) { d.Features.SampleScale = 2 }, wenet, []string{"scaled by 2, and sherpa-onnx's by 32768 (wenet_ctc) or 1 (zipformer2_ctc)"}},
		{func(d *recognize.Description) { d.Features.SampleScale, d.Network.Subsampling = 1, 2 }, zipformer,
			[]string{"come out wrong by 2: zipformer2_ctc takes it for subsampled by 4, and it is by 2"}},
		{func(d *recognize.Description) { d.Features.HighHz, d.Features.LowHz = 0, 0 }, wenet, []string{"end at 8000 Hz", "begin at 0 Hz"}},
	} {
		d := forSherpa(t)
		c.change(d)
		got := differences(d)
		if len(got) != len(c.want) || !slices.EqualFunc(got, c.want, strings.Contains) || slotOf(d) != c.slot {
			t.Errorf("%v by %s, want %v by %s", got, slotOf(d).Name, c.want, c.slot.Name)
		}
		m := stored(t, d)
		o := graphs
		o.Format = Sherpa
		r, err := Write(m, filepath.Join(t.TempDir(), "x"), o)
		if len(c.want) > 0 {
			testkit.MustFail(t, err, append([]string{"would hear or write something else", "format onnx writes it all the same"}, c.want...)...)
		} else if err != nil || *r.Slot != c.slot || slices.Contains(r.Notes, wenet.Note()) != (c.slot == wenet) {
			t.Errorf("%+v, %v", r, err)
		}
		if _, r := mustWrite(t, m, graphs); !slices.Equal(r.Warnings, got) {
			t.Errorf("format onnx warns of %v, want %v", r.Warnings, got)
		}
	}
	o := graphs
	o.Format, o.Features = Sherpa, In
	_, err := Write(stored(t, forSherpa(t)), filepath.Join(t.TempDir(), "x"), o)
	testkit.MustFail(t, err, `takes no graph with features "in"`)
}

// Tokens are listed with their ids, in the names that sherpa-onnx looks for.
func TestTokens(t *testing.T) {
	got := string(tokens(described(t, 4).Vocabulary))
	if want := "<blk> 0\n<sos/eos> 1\n� 2\n▁ 3\na 4\nb 5\nc 6\nd 7\nक 8\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p, err := text.TrainBPE(slices.Values([]string{"ab ab ab", "ab b"}), 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	got = string(tokens(p))
	if !strings.HasPrefix(got, "<blk> 0\n<sos/eos> 1\n⁇ 2\n") && !strings.HasPrefix(got, "<blk> 0\n<sos/eos> 1\n▁⁇▁ 2\n") || !strings.Contains(got, "▁") || oddTokens(p) != nil {
		t.Errorf("%q, %v", got, oddTokens(p))
	}
	if c := configOf(&recognize.Description{Vocabulary: p}, ""); c.Space != "▁" {
		t.Errorf("the space of pieces is %q", c.Space)
	}
	for _, odd := range []string{"\u00a0", "\u2003", "▁"} { // spaces that are letters of a vocabulary, and what stands for one
		v, err := text.NewVocabulary([]rune("a" + odd))
		if err != nil {
			t.Fatal(err)
		}
		if list := oddTokens(v); len(list) != 1 || !strings.Contains(list[0], "writes other text for the tokens") {
			t.Errorf("%q: %v", odd, list)
		}
		if hasMark(v) != (odd == "▁") || hasMark(p) {
			t.Errorf("%q: %v, of pieces %v", odd, hasMark(v), hasMark(p))
		}
		if c := configOf(&recognize.Description{Vocabulary: v}, ""); c.Space != " " {
			t.Errorf("%q: the space is %q", odd, c.Space)
		}
	}
}
