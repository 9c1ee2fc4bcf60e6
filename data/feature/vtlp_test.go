package feature

import (
	"math"
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/philox"
	"konkanitrain/internal/testkit"
)

// plainWarp is the formula of Jaitly and Hinton with the boundary of 4800 Hz at 16 kHz, and of 0.6 of the Nyquist
// frequency where that is less.
func plainWarp(f, rate, factor float64) float64 {
	high, half := math.Min(4800, 0.6*rate/2), rate/2
	if f <= high*math.Min(factor, 1)/factor {
		return f * factor
	}
	return half - (half-high*math.Min(factor, 1))/(half-high*math.Min(factor, 1)/factor)*(half-f)
}

func TestWarpMapsTheBandOntoItself(t *testing.T) {
	for _, rate := range []int{8000, 11025, 16000, 48000} {
		for _, factor := range []float64{0.5, 0.8, 0.9, 0.999, 1, 1.001, 1.1, 1.2, 1.5} {
			w, half := newWarp(factor, rate), float64(rate)/2
			before := -1.0
			for i := range 1001 {
				f := half * float64(i) / 1000
				got := w.hz(f)
				if want := plainWarp(f, float64(rate), factor); !(math.Abs(got-want) <= 1e-9*half) {
					t.Fatalf("%d Hz, factor %v: %v Hz becomes %v, want %v", rate, factor, f, got, want)
				}
				if !(got > before) {
					t.Fatalf("%d Hz, factor %v: %v Hz becomes %v, below what came before", rate, factor, f, got)
				}
				before = got
			}
			if w.hz(0) != 0 || !(math.Abs(w.hz(half)-half) <= 1e-9*half) {
				t.Errorf("%d Hz, factor %v: the ends become %v and %v Hz", rate, factor, w.hz(0), w.hz(half))
			}
		}
	}
}

// keyWith is a key whose factor of frequencies lies in a range.
func keyWith(t *testing.T, a *Augment, from, to float64) uint64 {
	t.Helper()
	for i := range 10_000 {
		if key := Key(1, i, philox.ID("x")); a.Warp(key) >= from && a.Warp(key) <= to {
			return key
		}
	}
	t.Fatalf("no factor from %v to %v in 10,000 draws", from, to)
	return 0
}

// The features of a warped utterance are those of the definition, also after others with other factors.
func TestWarpedFbankMatchesTheDefinition(t *testing.T) {
	a := &Augment{VTLP: 0.2}
	for _, c := range []struct{ rate, bins, samples int }{{16000, 80, 1234}, {8000, 40, 777}, {16000, 80, 1}, {8000, 40, 41}} {
		o := Default()
		o.SampleRate, o.NumMels, o.Normalize = c.rate, c.bins, None
		e, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		x := testkit.Uniform[float32](uint64(c.samples), c.samples, -1, 1)
		for _, key := range []uint64{keyWith(t, a, 0.8, 0.85), keyWith(t, a, 1.15, 1.2), keyWith(t, a, 1, 1), keyWith(t, a, 0.9, 0.95)} {
			got, _, err := e.Extract(nil, x, c.rate, a, key)
			if err != nil {
				t.Fatal(err)
			}
			for i, row := range plainFbank(x, c.rate, c.bins, a.Warp(key)) {
				for b, v := range row {
					// As without a warp: float32 at values up to 25.
					if d := math.Abs(float64(got[i*c.bins+b]) - v); !(d <= 1e-6) {
						t.Fatalf("%d Hz, %d samples, factor %v: frame %d, bin %d is off by %g", c.rate, c.samples, a.Warp(key), i, b, d)
					}
				}
			}
		}
	}
}

// Factors are uniform over the range, multiples of a thousandth, and a function of the key alone.
func TestWarpsAreDrawn(t *testing.T) {
	const draws = 20_000
	a := &Augment{VTLP: 0.1}
	counts := make([]int, 10)
	for i := range draws {
		f := a.Warp(Key(3, i, philox.ID("x")))
		if f != a.Warp(Key(3, i, philox.ID("x"))) || !(f >= 0.9 && f <= 1.1) || !(math.Abs(1000*f-math.Round(1000*f)) <= 1e-9) {
			t.Fatalf("a factor of %v", f)
		}
		if k := int(math.Round(1000*f)) - 900; k%20 != 0 { // those on an edge are in no group, all others of 19
			counts[k/20]++
		}
	}
	uniform(t, "factors", counts)
	if f := (*Augment)(nil).Warp(1); f != 1 {
		t.Errorf("no augmentation gave a factor of %v", f)
	}
}

// A warp changes neither speed nor masks, and none changes nothing.
func TestWarpIsIndependent(t *testing.T) {
	e, err := New(Default())
	if err != nil {
		t.Fatal(err)
	}
	x := testkit.Uniform[float32](1, 30_000, -1, 1)
	plain, with := usualAugment(), usualAugment()
	with.VTLP = 0.2
	for i := range 20 {
		key := Key(1, i, philox.ID("x"))
		was, frames, err := e.Extract(nil, x, 16000, &plain, key)
		if err != nil {
			t.Fatal(err)
		}
		got, n, err := e.Extract(nil, x, 16000, &with, key)
		if err != nil || n != frames {
			t.Fatalf("%d frames, without a warp %d, %v", n, frames, err)
		}
		for k, v := range got {
			if (v == 0) != (was[k] == 0) {
				t.Fatalf("draw %d: a warp changes what is masked at %d", i, k)
			}
		}
		if slices.Equal(got, was) != (with.Warp(key) == 1) {
			t.Fatalf("draw %d: a factor of %v", i, with.Warp(key))
		}
		with.VTLP = 0
		if got, _, _ = e.Extract(got, x, 16000, &with, key); !slices.Equal(got, was) {
			t.Fatal("vtlp 0 is not what it was")
		}
		with.VTLP = 0.2
	}
}

// Silence stays silence: at the floor before it is normalized, and 0 after, but for the rounding of a mean.
func TestWarpedSilence(t *testing.T) {
	a := &Augment{VTLP: 0.2}
	for _, samples := range []int{1, 80, 4000} {
		for _, normalize := range []string{None, PerUtterance} {
			o := Default()
			o.Normalize = normalize
			e, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			f, _, err := e.Extract(nil, make([]float32, samples), 16000, a, keyWith(t, a, 1.1, 1.2))
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range f {
				if want := map[string]float64{None: math.Log(LogFloor), PerUtterance: 0}[normalize]; !(math.Abs(float64(v)-want) <= 1e-6) {
					t.Fatalf("%d samples of silence, normalized by %s: %v, want %v", samples, normalize, v, want)
				}
			}
		}
	}
}

func TestWarpErrors(t *testing.T) {
	for _, v := range []float64{-0.1, 0.0009, 0.51, math.NaN(), math.Inf(1)} {
		if err := (Augment{VTLP: v}).Validate(); err == nil || !strings.Contains(err.Error(), "vtlp is") {
			t.Errorf("vtlp %v: %v", v, err)
		}
	}
	// The lowest of 100 filters at 16 kHz are 37 Hz wide, and FFT bins are 31.25 Hz apart: with 38 Hz some miss one.
	o := Default()
	o.NumMels = 100
	for v, want := range map[float64]bool{0.2: true, 0.3: false} {
		err := (&Augment{VTLP: v}).CheckWarps(o)
		if (err == nil) != want || !want && !strings.Contains(err.Error(), "vtlp is 0.3: with frequencies times 1.205, mel filters 1 of 100") {
			t.Errorf("vtlp %v with 100 filters: %v", v, err)
		}
	}
	if err := (&Augment{VTLP: mostVTLP}).CheckWarps(Default()); err != nil {
		t.Error(err)
	}
	if err := (*Augment)(nil).CheckWarps(Default()); err != nil {
		t.Error(err)
	}
}
