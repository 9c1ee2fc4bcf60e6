package perturb

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/philox"
	"konkanitrain/internal/testkit"
)

// speech is loud and soft by turns.
func speech(n int) []float32 {
	x := testkit.Normal[float32](7, n)
	for i := range x {
		x[i] *= 0.1 * float32(math.Abs(math.Sin(1+float64(i)/1500)))
	}
	return x
}

// drawn is noise of a color, or from the recordings.
func drawn(t testing.TB, color Color, from []Recording) Noise {
	t.Helper()
	for key := range uint64(1000) {
		if n := DrawNoise(philox.NewStream(key, 1), key, 0, 30, from); n.Color == color {
			return n
		}
	}
	t.Fatalf("no %s noise in 1000 draws", color)
	return Noise{}
}

// added is what noise adds to x.
func added(c *Changer, x []float32, n Noise) []float64 {
	y := slices.Clone(x)
	c.Noise(y, n)
	d := make([]float64, len(x))
	for i := range x {
		d[i] = float64(y[i]) - float64(x[i])
	}
	return d
}

// plainPower is the mean square around the mean.
func plainPower(x []float64) float64 {
	mean, square := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		square += (v - mean) * (v - mean) / float64(len(x))
	}
	return square
}

func wide(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// recording makes one of a wave that comes in stretches, all in the same memory.
func recording(name string, wave []float32) (Recording, bool) {
	stretch := make([]float32, 300)
	r, err := NewRecording(name, len(wave), func(yield func([]float32, error) bool) {
		for piece := range slices.Chunk(wave, len(stretch)) {
			if !yield(stretch[:copy(stretch, piece)], nil) {
				return
			}
		}
	})
	return r, err == nil && r.Len() > 0 && r.Len() == len(wave)
}

// What is added has the power that the ratio asks for, whatever the noise, the level, an offset of the sound, and the
// length.
func TestNoiseHasItsRatio(t *testing.T) {
	r, _ := recording("rain", testkit.Normal[float32](3, 700))
	for _, rate := range []int{8000, 11025, 16000} {
		c := newChanger(rate)
		for _, color := range append(colors[:], "") {
			var from []Recording
			if color == "" {
				from = []Recording{r}
			}
			n := drawn(t, color, from)
			for _, samples := range []int{2, 3, 100, 5000, 50_001} {
				for _, offset := range []float32{0, 0.2} {
					x := speech(samples)
					for i := range x {
						x[i] += offset
					}
					got := 10 * math.Log10(plainPower(wide(x))/plainPower(added(c, x, n)))
					// Sums are rounded to float32 at levels of 0.5, by up to 2^-25; noise is down to 0.003.
					if !(math.Abs(got-n.SNR) <= 1e-3) {
						t.Errorf("%d samples at %d Hz, %v: %.5f dB", samples, rate, n, got)
					}
				}
			}
		}
	}
}

// To silence, and to a single sample, nothing is added; nor to nothing.
func TestNoiseLeavesSilence(t *testing.T) {
	c := newChanger(16000)
	for _, color := range colors {
		n := drawn(t, color, nil)
		for _, x := range [][]float32{{}, {0.5}, make([]float32, 1000), slices.Repeat([]float32{0.25}, 333)} {
			y := slices.Clone(x)
			if c.Noise(y, n); !slices.Equal(x, y) {
				t.Errorf("%v changed %d samples of silence", n, len(x))
			}
		}
	}
}

// band is the mean power of x at the frequencies from one to another by the sum that defines the discrete Fourier
// transform, over Hann windows of n samples.
func band(x []float64, n int, rate, from, to float64) float64 {
	unit, window := make([]complex128, n), make([]float64, n)
	for i := range n {
		unit[i] = cmplx.Exp(complex(0, -2*math.Pi*float64(i)/float64(n)))
		window[i] = 0.5 - 0.5*real(unit[i])
	}
	sum, count := 0.0, 0
	for k := int(math.Ceil(from * float64(n) / rate)); float64(k) < to*float64(n)/rate; k++ {
		for at := 0; at+n <= len(x); at += n {
			var z complex128
			for i, v := range x[at : at+n] {
				z += complex(window[i]*v, 0) * unit[k*i%n]
			}
			sum += real(z)*real(z) + imag(z)*imag(z)
			count++
		}
	}
	return sum / float64(count)
}

// The power of a color falls as it should from octave to octave, up to 2 kHz of 16: from there the sampled zeros bend
// it a little.
func TestColors(t *testing.T) {
	const rate, n = 16000, 800
	signal := speech(160 * n)
	for color, fall := range map[Color]float64{White: 0, Pink: 3.01, Brown: 6.02} {
		d := added(newChanger(rate), signal, drawn(t, color, nil))
		low := band(d, n, rate, 80, 160)
		for i, from := range []float64{160, 320, 640, 1280} {
			got := 10 * math.Log10(low/band(d, n, rate, from, 2*from))
			// 160 windows of 4 bins and more know a power to 0.2 dB; poles two octaves apart bend it by 0.5.
			if want := fall * float64(i+1); !(math.Abs(got-want) <= 1.2) {
				t.Errorf("%s noise falls by %.2f dB from 80 to %v Hz, want %.2f", color, got, from, want)
			}
		}
	}
}

// Hum has the period of the mains at any length, and twenty harmonics at most.
func TestHum(t *testing.T) {
	for _, c := range []struct{ rate, of50, of60 int }{{8000, 160, 400}, {11025, 441, 735}, {16000, 320, 800}, {1000, 20, 50}} { // whole periods
		x := make([]float32, c.rate)
		for key := range uint64(6) {
			newChanger(c.rate).color(x, Noise{Color: Hum, key: key})
			periodic := func(n int) bool { return slices.Equal(x[n:], x[:len(x)-n]) }
			mains, n := 50, c.of50
			if !periodic(n) {
				mains, n = 60, c.of60
			}
			if !periodic(n) {
				t.Fatalf("%d Hz: there is no period of %d or of %d samples", c.rate, c.of50, c.of60)
			}
			wave, each := wide(x[:n]), 0
			for hz := 0; hz <= c.rate/2; hz += c.rate / n {
				var z complex128
				for i, v := range wave {
					z += complex(v, 0) * cmplx.Exp(complex(0, -2*math.Pi*float64(hz)*float64(i)/float64(c.rate)))
				}
				switch amplitude := 2 * cmplx.Abs(z) / float64(n); {
				case hz%mains != 0 || hz == 0 || hz > humHarmonics*mains:
					// Twenty harmonics are added up in float32, of 2 at most.
					if !(amplitude <= 1e-6) {
						t.Errorf("%d Hz: %g at %d Hz", c.rate, amplitude, hz)
					}
				case !(amplitude <= float64(mains)/float64(hz)+1e-6):
					t.Errorf("%d Hz: %g at %d Hz, more than 1/%d", c.rate, amplitude, hz, hz/mains)
				case amplitude > 1e-6:
					each++
				}
			}
			if each != min(humHarmonics, (c.rate/2-1)/mains) {
				t.Errorf("%d Hz: %d harmonics", c.rate, each)
			}
		}
	}
}

// What is drawn is a function of the stream, what is heard also of the key, and neither of what the Changer did before.
func TestNoiseIsAFunctionOfItsDraws(t *testing.T) {
	x := speech(4000)
	used := newChanger(16000)
	for key := range uint64(20) {
		n := DrawNoise(philox.NewStream(key, 1), key, 5, 25, nil)
		if n != DrawNoise(philox.NewStream(key, 1), key, 5, 25, nil) || !(n.SNR >= 5 && n.SNR <= 25) {
			t.Fatalf("drawn: %v", n)
		}
		if !slices.Equal(added(used, x, n), added(newChanger(16000), x, n)) {
			t.Fatalf("%v is another one in a Changer that was used", n)
		}
		other := DrawNoise(philox.NewStream(key, 1), key+1, 5, 25, nil)
		if other.Color != n.Color || other.SNR != n.SNR || slices.Equal(added(used, x, n), added(used, x, other)) {
			t.Fatalf("another key: %v, and %v", n, other)
		}
	}
}

// Colors and recordings are each as likely, and ratios uniform.
func TestNoiseDistribution(t *testing.T) {
	const draws = 8000
	var from []Recording
	for i := range 4 {
		r, ok := recording(fmt.Sprint(i), testkit.Normal[float32](uint64(i), 100))
		if !ok {
			t.Fatal("refused")
		}
		from = append(from, r)
	}
	counts, sum := map[string]int{}, 0.0
	for key := range uint64(draws) {
		n := DrawNoise(philox.NewStream(key, 1), key, -5, 15, nil)
		counts[string(n.Color)]++
		sum += n.SNR
		name, _, _ := strings.Cut(DrawNoise(philox.NewStream(key, 1), key, -5, 15, from).String(), ",")
		counts[name]++
	}
	for _, what := range []string{"white", "pink", "brown", "hum", "noise from 0", "noise from 1", "noise from 2", "noise from 3"} {
		if n := counts[what]; math.Abs(float64(n)-draws/4) > 6*math.Sqrt(draws*3/16.) { // six deviations
			t.Errorf("%s: %d of %d", what, n, draws)
		}
	}
	if mean := sum / draws; !(math.Abs(mean-5) <= 6*20/math.Sqrt(12*draws)) {
		t.Errorf("the mean ratio is %.3f dB, want 5", mean)
	}
}

// A recording is looped from where the draw says, at any level.
func TestNoiseFromRecordings(t *testing.T) {
	wave := testkit.Uniform[float32](1, 1000, -1, 1)
	for i := range wave {
		wave[i] *= 1e-3
	}
	r, ok := recording("door", wave)
	if !ok {
		t.Fatal("refused")
	}
	x := speech(3500)
	n := Noise{SNR: 3, from: &r, start: 0.4}
	d := added(newChanger(16000), x, n)
	scale := math.Sqrt(plainPower(d) / plainPower(wide(wave)))
	for i, v := range d {
		// 16 bits of a wave that is scaled to 32767 are off by half a step, and the power by half a loop.
		if want := scale * float64(wave[(400+i)%1000]); !(math.Abs(v-want) <= 0.02*scale*1e-3) {
			t.Fatalf("sample %d: %g, want %g", i, v, want)
		}
	}
	if got := n.String(); got != "noise from door, 3.0 dB" {
		t.Errorf("%q", got)
	}
	// Where it is silent for as long as the sound lasts, nothing is added.
	quiet, _ := recording("quiet", append(make([]float32, 900), 1))
	x = speech(500)
	y := slices.Clone(x)
	if newChanger(16000).Noise(y, Noise{SNR: 3, from: &quiet, start: 0.1}); !slices.Equal(x, y) {
		t.Error("silence is noise")
	}
	for name, wave := range map[string][]float32{
		"none": nil, "zeros": make([]float32, 10), "constant": {1, 1, 1}, "NaN": {0, float32(math.NaN())}, "infinite": {0, float32(math.Inf(1))},
	} {
		if _, ok := recording(name, wave); ok {
			t.Errorf("%s was taken", name)
		}
	}
}
