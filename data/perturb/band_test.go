package perturb

import (
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"konkanitrain/internal/philox"
)

// levelOf is the amplitude of a tone of 0.1 behind change, relative to what it was, in dB; it is measured after 0.1 s.
func levelOf(rate int, hz float64, change func(x []float32)) float64 {
	x := make([]float32, rate)
	for i := range x {
		x[i] = 0.1 * float32(math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
	}
	change(x)
	var z complex128
	x = x[rate/10:]
	n := 0.0
	for i, v := range x {
		w := 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(len(x)))
		z += complex(w*float64(v), 0) * cmplx.Exp(complex(0, -2*math.Pi*hz*float64(i)/float64(rate)))
		n += w
	}
	return 20 * math.Log10(2*cmplx.Abs(z)/n/0.1)
}

// A filter has the response that defines Butterworth's: 1/(1 + (f/f0)^2n) in power, at frequencies bent by the bilinear
// transform.
func TestButterworth(t *testing.T) {
	for _, rate := range []int{8000, 16000} {
		bend := func(hz float64) float64 { return math.Tan(math.Pi * hz / float64(rate)) }
		for _, c := range []struct {
			hz    float64
			order int
			high  bool
		}{{300, 4, true}, {3400, 8, false}, {1000, 8, false}, {2500, 2, true}} {
			for _, hz := range []float64{100, 300, 500, 1000, 2000, 2900, 3400, 3700} {
				ratio := bend(hz) / bend(c.hz)
				if c.high {
					ratio = 1 / ratio
				}
				want := -10 * math.Log10(1+math.Pow(ratio, float64(2*c.order)))
				got := levelOf(rate, hz, func(x []float32) { butterworth(x, rate, c.hz, c.order, c.high) })
				if want < -80 && got < -80 { // float32 between the sections
					continue
				}
				if !(math.Abs(got-want) <= 0.01+1e-4*math.Pow(10, -want/20)) {
					t.Errorf("%d Hz, order %d at %v Hz, high-pass %v: %.3f dB at %v Hz, want %.3f", rate, c.order, c.hz, c.high, got, hz, want)
				}
			}
		}
	}
}

// A telephone lets through what a telephone does, but for the rounding of its tones by mu-law; another channel cuts
// what lies above.
func TestBand(t *testing.T) {
	none := math.Inf(-1)
	for _, rate := range []int{6000, 8000, 16000, 22050} {
		phone := func(x []float32) { newChanger(rate).Band(x, Band{true, telephoneHigh}) }
		for hz, want := range map[float64][2]float64{60: {none, -40}, 150: {-35, -20}, 500: {-1, 0.2}, 1000: {-0.2, 0.2}, 2500: {-0.3, 0.2}, 5000: {none, -40}, 7000: {none, -60}} {
			if hz >= float64(rate)/2 {
				continue
			}
			if got := levelOf(rate, hz, phone); !(got >= want[0] && got <= want[1]) {
				t.Errorf("%d Hz, telephone: %.2f dB at %v Hz, want %v to %v", rate, got, hz, want[0], want[1])
			}
		}
		for range 3 {
			b := Band{High: 0.5 * float64(rate) / 2}
			change := func(x []float32) { newChanger(rate).Band(x, b) }
			if below, above := levelOf(rate, 0.7*b.High, change), levelOf(rate, 1.5*b.High, change); !(math.Abs(below) <= 0.1) || !(above < -28) {
				t.Errorf("%d Hz, %v: %.2f dB below, %.2f above", rate, b, below, above)
			}
		}
	}
}

// Mu-law keeps the sign and nothing, and is off by less than half of a step, which is log(256)/127 of the value and
// more than that near 0.
func TestMuLaw(t *testing.T) {
	var x []float32
	for i := -1100; i <= 1100; i++ {
		x = append(x, float32(i)/1000)
	}
	y := slices.Clone(x)
	muLaw(y)
	for i, v := range x {
		want := math.Max(-1, math.Min(float64(v), 1))
		if step := math.Log(256) / 127 * (math.Abs(want) + 1./255); !(math.Abs(float64(y[i])-want) <= 0.52*step) || float64(y[i])*want < 0 || (v == 0) != (y[i] == 0) && v == 0 {
			t.Errorf("%v becomes %v", v, y[i])
		}
	}
	levels := map[float32]bool{}
	for _, v := range y {
		levels[v] = true
	}
	// The noise of 8 bits is some 37 dB below a sound, whatever its level.
	for _, level := range []float32{0.01, 0.03, 0.1, 0.3} {
		x := speech(5000)
		for i := range x {
			x[i] *= 10 * level
		}
		y := slices.Clone(x)
		muLaw(y)
		off := make([]float64, len(x))
		for i := range x {
			off[i] = float64(y[i]) - math.Max(-1, math.Min(float64(x[i]), 1))
		}
		if db := 10 * math.Log10(plainPower(wide(x))/plainPower(off)); !(db >= 33 && db <= 40) {
			t.Errorf("at a level of %v, mu-law makes noise %.1f dB below the sound", level, db)
		}
	}
	if len(levels) > 255 || len(levels) < 200 {
		t.Errorf("%d levels", len(levels))
	}
}

// Channels are telephones and others, as likely, the latter within their bounds; silence goes through as silence.
func TestDrawBand(t *testing.T) {
	const draws = 4000
	if got := (Band{High: 4210.3}).String(); got != "nothing above 4210 Hz" {
		t.Error(got)
	}
	for _, rate := range []int{1000, 8000, 16000, 48000} {
		phones, nyquist := 0, float64(rate)/2
		for key := range uint64(draws) {
			b := DrawBand(philox.NewStream(key, 1), rate)
			if b != DrawBand(philox.NewStream(key, 1), rate) {
				t.Fatalf("drawn: %v", b)
			}
			if b.Telephone {
				if phones++; b.High != telephoneHigh || b.String() != "telephone, 300 to 3400 Hz with 8 bits of mu-law" {
					t.Fatal(b)
				}
			} else if !(b.High >= min(2500, nyquist/2) && b.High <= 0.8*nyquist) {
				t.Fatalf("%d Hz: %v", rate, b)
			}
			if key < 20 {
				x := make([]float32, 100)
				if newChanger(rate).Band(x, b); slices.ContainsFunc(x, func(v float32) bool { return v != 0 }) {
					t.Fatalf("%d Hz, %v: silence sounds", rate, b)
				}
			}
		}
		if math.Abs(float64(phones)-draws/2) > 3*math.Sqrt(draws) { // six deviations
			t.Errorf("%d Hz: %d of %d are telephones", rate, phones, draws)
		}
	}
}

// A gain is uniform over its range; what is beyond full scale is clipped, and nothing else is bent.
func TestVolume(t *testing.T) {
	testUniform(t, 6, func(s *philox.Stream) float64 { return float64(DrawVolume(s, 6)) })
	for _, v := range []Volume{-12, 0, 6.5} {
		gain := math.Pow(10, float64(v)/20)
		x := []float32{0, 1e-4, -0.3, 0.5, -0.9, 1, -1, 1.5}
		y := slices.Clone(x)
		newChanger(16000).Volume(y, v)
		for i := range x {
			if want := math.Max(-1, math.Min(gain*float64(x[i]), 1)); !(math.Abs(float64(y[i])-want) <= 1e-7) {
				t.Errorf("%v: %v becomes %v, want %v", v, x[i], y[i], want)
			}
		}
	}
	if got := Volume(4.25).String() + Volume(-3).String(); got != "volume +4.2 dBvolume -3.0 dB" {
		t.Error(got)
	}
}
