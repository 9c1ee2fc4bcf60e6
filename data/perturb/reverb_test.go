package perturb

import (
	"math"
	"slices"
	"testing"

	"konkanitrain/internal/philox"
	"konkanitrain/internal/testkit"
)

// Convolution by blocks is the sum that defines it, for one block, whole pairs, half a pair and a rest, and for
// responses that are shorter than the longest, or longer than the sound.
func TestConvolve(t *testing.T) {
	var c convolver
	for _, taps := range []int{1, 2, 5, 16, 300} {
		for _, n := range []int{0, 1, 2, 3, 4, 11, 12, 13, 24, 25, 100, 777, 1000} {
			for _, length := range []int{1, (taps + 1) / 2, taps} {
				x, h := testkit.Uniform[float32](uint64(n), n, -1, 1), testkit.Uniform[float32](uint64(taps), length, -1, 1)
				got := slices.Clone(x)
				c.convolve(got, h, taps)
				for i := range x {
					want := 0.0
					for k := 0; k < length && k <= i; k++ {
						want += float64(h[k]) * float64(x[i-k])
					}
					// A response is rounded to float32, and so is the result, of up to some 300.
					if !(math.Abs(float64(got[i])-want) <= 1e-6*math.Max(1, math.Abs(want))) {
						t.Fatalf("%d samples, %d taps of %d: sample %d is %v, want %v", n, length, taps, i, got[i], want)
					}
				}
			}
		}
	}
}

// A response has the energy 1, the direct sound at its start, the ratio that was drawn, and decays by 60 dB in the time
// that was drawn.
func TestResponse(t *testing.T) {
	for _, rate := range []int{8000, 16000} {
		c := newChanger(rate)
		for key := range uint64(20) {
			r := DrawReverb(philox.NewStream(key, 1), key)
			h := make([]float32, 2*rate)
			h[0] = 1
			c.Reverb(h, r)
			all, tail := 0.0, 0.0
			left := make([]float64, len(h)+1) // energy from here on: the decay curve of Schroeder 1965
			for i := len(h) - 1; i >= 0; i-- {
				e := float64(h[i]) * float64(h[i])
				left[i] = left[i+1] + e
				all += e
				if i > 0 {
					tail += e
				}
			}
			// Energies of sums in float32.
			if got := 10 * math.Log10(float64(h[0])*float64(h[0])/tail); !(math.Abs(all-1) <= 1e-5 && math.Abs(got-r.DRR) <= 1e-3) || h[0] < 0.7 {
				t.Errorf("%d Hz, %v: the energy is %.6f, the direct sound %.4f, %.4f dB above the rest", rate, r, all, h[0], got)
			}
			db := func(at int) float64 { return 10 * math.Log10(left[at]/left[1]) }
			at, end := 1, 1 // from 5 to 25 dB below, as ISO 3382 measures
			for db(at) > -5 {
				at++
			}
			for end = at; db(end) > -25; {
				end++
			}
			// Some 500 to 4000 independent samples in 20 dB: a decay is known to 5 % and better.
			if got := 3 * float64(end-at) / float64(rate); !(math.Abs(got/r.RT60-1) <= 0.15) {
				t.Errorf("%d Hz, %v: it decays in %.3f s", rate, r, got)
			}
			if after := taps(r.RT60, rate); left[after] > 1e-10 {
				t.Errorf("%d Hz, %v: an energy of %g behind its end", rate, r, left[after])
			}
		}
	}
}

// A room is a function of its draws, whatever was done before; another key has other reflections.
func TestReverbIsAFunctionOfItsDraws(t *testing.T) {
	used := newChanger(8000)
	heard := func(c *Changer, n int, r Reverb) []float32 {
		x := speech(n)
		c.Reverb(x, r)
		return x
	}
	for key := range uint64(10) {
		r := DrawReverb(philox.NewStream(key, 1), key)
		if r != DrawReverb(philox.NewStream(key, 1), key) || !(r.RT60 >= shortestRT60 && r.RT60 <= longestRT60 && r.DRR >= lowestDRR && r.DRR <= highestDRR) {
			t.Fatalf("drawn: %v", r)
		}
		for _, n := range []int{1, 3000, 20_000, 100} {
			if !slices.Equal(heard(used, n, r), heard(newChanger(8000), n, r)) {
				t.Fatalf("%d samples, %v: others in a Changer that was used", n, r)
			}
		}
		other := DrawReverb(philox.NewStream(key, 1), key+1)
		if other.RT60 != r.RT60 || slices.Equal(heard(used, 3000, r), heard(used, 3000, other)) {
			t.Fatalf("another key: %v and %v", r, other)
		}
	}
	if got := (Reverb{RT60: 0.451, DRR: 3.24}).String(); got != "reverberation of 0.45 s, direct sound 3.2 dB above it" {
		t.Error(got)
	}
	x := make([]float32, 5000)
	used.Reverb(x, DrawReverb(philox.NewStream(1, 1), 1))
	if slices.ContainsFunc(x, func(v float32) bool { return v != 0 }) {
		t.Error("silence sounds")
	}
}
