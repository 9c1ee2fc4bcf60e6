package decode

import (
	"fmt"
	"testing"
)

// Frames of a network that is mostly sure; ns/frame is what matters, and nothing may be allocated.
func benchmark(b *testing.B, v int, d func(*Vocabulary) Decoder) {
	const frames = 500 // 20 s
	f := peaky(rng(1), frames, v)
	decoder := d(letters(b, v))
	decoder.Decode(f, 1)
	b.ReportAllocs()
	for b.Loop() {
		decoder.Decode(f, 1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/frames, "ns/frame")
}

func BenchmarkGreedy(b *testing.B) {
	for _, v := range []int{60, 500} {
		b.Run(fmt.Sprintf("V=%d", v), func(b *testing.B) {
			benchmark(b, v, func(*Vocabulary) Decoder { return NewGreedy(0) })
		})
	}
}

// All tokens of a frame, those of a margin, and a margin with models and hotwords.
func BenchmarkBeam(b *testing.B) {
	for _, v := range []int{60, 500} {
		hot, err := NewHotwords(letters(b, v), []Hotword{{Phrase: "abc", Boost: 1}, {Phrase: "abd e", Boost: 1}, {Phrase: "fgh", Boost: 1}})
		if err != nil {
			b.Fatal(err)
		}
		m := &Fusion{Model: still{}, Weight: 0.5, Bonus: 0.5}
		for _, c := range []struct {
			name string
			o    BeamOptions
		}{{"all", BeamOptions{}}, {"margin", BeamOptions{Margin: 8}}, {"models", BeamOptions{Margin: 8, Words: m, Tokens: m, Hotwords: hot}}} {
			for _, c.o.Width = range []int{8, 16, 64} {
				b.Run(fmt.Sprintf("V=%d/width=%d/%s", v, c.o.Width, c.name), func(b *testing.B) {
					benchmark(b, v, func(v *Vocabulary) Decoder { return mustBeam(b, v, c.o) })
				})
			}
		}
	}
}

func BenchmarkSet(b *testing.B) {
	for _, v := range []int{60, 500} {
		b.Run(fmt.Sprintf("V=%d", v), func(b *testing.B) {
			logits := peaky(rng(1), 500, v).LogProbs
			var f Frames
			f.Set(logits, v)
			b.ReportAllocs()
			for b.Loop() {
				f.Set(logits, v)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/500, "ns/frame")
		})
	}
}

func BenchmarkAlign(b *testing.B) {
	f := peaky(rng(1), 500, 60)
	tokens := NewGreedy(0).Decode(f, 1)[0].Tokens
	a := NewAligner(0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Align(f, tokens); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/500, "ns/frame")
}
