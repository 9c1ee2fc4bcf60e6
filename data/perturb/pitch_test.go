package perturb

import (
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"konkanitrain/data/audio"
	"konkanitrain/internal/philox"
)

func newChanger(rate int) *Changer { return NewChanger(rate, audio.NewResampler()) }

// frequency is that of the strongest tone of x between 50 Hz and an octave above and below hz, to a thousandth.
func frequency(x []float32, rate int, hz float64) float64 {
	best, most := 0.0, 0.0
	power := func(f float64) float64 {
		step, turn, z := cmplx.Exp(complex(0, -2*math.Pi*f/float64(rate))), complex(1, 0), complex128(0)
		for i, v := range x {
			w := 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(len(x)))
			z += complex(w*float64(v), 0) * turn
			turn *= step
		}
		return cmplx.Abs(z)
	}
	for _, finer := range []float64{0.02, 0.002, 0.0005} {
		middle, width := hz, 1.0
		if best > 0 {
			middle, width = best, 20*finer
		}
		most = 0
		for f := middle * (1 - width/2); f <= middle*(1+width); f += finer * hz {
			if p := power(f); f > 50 && p > most {
				best, most = f, p
			}
		}
	}
	return best
}

// A tone gets the pitch that was drawn, and keeps its length and its level; where it starts and ends it still does.
func TestPitchOfATone(t *testing.T) {
	for _, rate := range []int{8000, 16000, 11025} {
		c := newChanger(rate)
		for _, hz := range []float64{110, 200, 440, 1200} {
			for _, p := range []Pitch{-16, -5, -1, 1, 6, 16} {
				x := make([]float32, rate)
				for i := rate / 4; i < 3*rate/4; i++ {
					x[i] = 0.5 * float32(math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
				}
				c.Pitch(x, p)
				middle := x[rate*3/10 : rate*7/10]
				// The ratio is off by less than 0.15 %, and the measure by 0.05; pieces don't quite fit.
				want := hz * math.Pow(2, float64(p)/quarters)
				if got := frequency(middle, rate, want); !(math.Abs(got/want-1) <= 0.003) {
					t.Errorf("%d Hz, %v: a tone of %v Hz is at %.2f Hz, want %.2f", rate, p, hz, got, want)
				}
				if got := math.Sqrt(power(middle) * 2); !(math.Abs(got-0.5) <= 0.02) {
					t.Errorf("%d Hz, %v: a tone of %v Hz has an amplitude of %.3f, was 0.5", rate, p, hz, got)
				}
				// Pieces are put together from up to 8 ms beside where they belong, and reach over one hop of 12 ms.
				slack := rate * 22 / 1000
				for name, part := range map[string][]float32{"before": x[:rate/4-slack], "behind": x[3*rate/4+slack:]} {
					if got := math.Sqrt(power(part)); !(got <= 0.005) {
						t.Errorf("%d Hz, %v: a tone of %v Hz sounds %s its time, at %.4f", rate, p, hz, name, got)
					}
				}
			}
		}
	}
}

// The voice of a throat that opens again and again keeps its rhythm, and its periods get shorter or longer.
func TestPitchOfAVoice(t *testing.T) {
	const rate = 16000
	c := newChanger(rate)
	for _, hz := range []float64{90, 220} {
		for _, p := range []Pitch{-8, 8} {
			x := make([]float32, 2*rate)
			for i := range x {
				phase := math.Mod(float64(i)*hz/rate, 1)
				loud := 0.3 + 0.2*math.Sin(2*math.Pi*4*float64(i)/rate) // four syllables a second
				x[i] = float32(loud * math.Exp(-20*phase) * math.Sin(2*math.Pi*700*phase/hz))
			}
			given := slices.Clone(x)
			c.Pitch(x, p)
			period := func(x []float32) int { // the lag of the largest correlation, within a fifth of what it should be
				best, most := 0, 0.0
				lag := rate / hz / math.Pow(2, float64(p)/quarters)
				for lag, end := int(0.8*lag), int(1.2*lag); lag < end; lag++ {
					sum := 0.0
					for i := rate / 2; i < rate; i++ {
						sum += float64(x[i]) * float64(x[i+lag])
					}
					if sum > most {
						best, most = lag, sum
					}
				}
				return best
			}
			// Lags are whole samples.
			if got, want := float64(period(x)), rate/hz/math.Pow(2, float64(p)/quarters); !(math.Abs(got-want) <= 1.5) {
				t.Errorf("%v: a voice of %v Hz has a period of %v samples, want %.1f", p, hz, got, want)
			}
			for at := 0; at+rate/16 <= len(x); at += rate / 16 { // a quarter of a syllable
				was, is := math.Sqrt(power(given[at:at+rate/16])), math.Sqrt(power(x[at:at+rate/16]))
				if !(math.Abs(20*math.Log10(is/was)) <= 2.5) {
					t.Errorf("%v: a voice of %v Hz is at %.4f after %.2f s, was at %.4f", p, hz, is, float64(at)/rate, was)
				}
			}
		}
	}
}

// Any length stays; silence stays silence; a pitch of nothing changes nothing, and a used Changer does the same.
func TestPitchKeepsTheLength(t *testing.T) {
	for _, rate := range []int{1000, 8000, 16000} {
		used := newChanger(rate)
		for _, n := range []int{0, 1, 2, 11, 12, 13, 95, 96, 97, 500, 5001} {
			for _, p := range []Pitch{-48, -3, 0, 7, 48} {
				x, silence := speech(n), make([]float32, n)
				given := slices.Clone(x)
				used.Pitch(x, p)
				again := slices.Clone(given)
				if newChanger(rate).Pitch(again, p); !slices.Equal(x, again) || len(x) != n {
					t.Fatalf("%d samples at %d Hz, %v: another sound from a Changer that was used", n, rate, p)
				}
				if p == 0 && !slices.Equal(x, given) {
					t.Fatalf("%d samples at %d Hz changed", n, rate)
				}
				if used.Pitch(silence, p); slices.ContainsFunc(silence, func(v float32) bool { return v != 0 }) {
					t.Fatalf("%d samples at %d Hz, %v: silence sounds", n, rate, p)
				}
			}
		}
	}
}

// Pitches are uniform, in quarters of a semitone, and their ratios are within a tenth of one.
func TestDrawPitch(t *testing.T) {
	const draws = 9000
	counts := map[Pitch]int{}
	for key := range uint64(draws) {
		counts[DrawPitch(philox.NewStream(key, 1), 1)]++
	}
	for p := Pitch(-4); p <= 4; p++ {
		want := draws / 8.
		if p == -4 || p == 4 {
			want /= 2
		}
		if math.Abs(float64(counts[p])-want) > 6*math.Sqrt(want) {
			t.Errorf("%v: %d of %d, want %.0f", p, counts[p], draws, want)
		}
	}
	if len(counts) != 9 {
		t.Errorf("%v", counts)
	}
	ratios := PitchRatios(12)
	if len(ratios) != 96 {
		t.Errorf("%d ratios", len(ratios))
	}
	for p := Pitch(-48); p <= 48; p++ {
		r := p.ratio()
		if off := quarters * math.Log2(r.Float()/math.Pow(2, float64(p)/quarters)); !(math.Abs(off) <= 0.1) || r.Q > mostTerm {
			t.Errorf("%v: %v is off by %.3f quarters", p, r, off)
		}
		if p != 0 && !slices.Contains(ratios, r) {
			t.Errorf("%v: %v is not among those that are foreseen", p, r)
		}
	}
	if got := Pitch(5).String() + ", " + Pitch(-1).String(); got != "1.25 semitones higher, 0.25 semitones lower" {
		t.Error(got)
	}
}
