package feature

import (
	"math"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/audio"
	"konkanitrain/internal/philox"
	"konkanitrain/internal/testkit"
)

// masked draws masks over ones and gives the hidden frames and bins.
func masked(t *testing.T, a Augment, frames, bins int, key uint64) (f, b []int) {
	t.Helper()
	x := make([]float32, frames*bins)
	for i := range x {
		x[i] = 1
	}
	a.Mask(x, frames, bins, key)
	for i := range frames {
		if slices.Max(x[i*bins:(i+1)*bins]) == 0 {
			f = append(f, i)
		}
	}
	for i := range bins {
		hidden := true
		for j := range frames {
			hidden = hidden && x[j*bins+i] == 0
		}
		if hidden {
			b = append(b, i)
		}
	}
	return f, b
}

// Five frames under masks of any width: they may never all be hidden, whatever the
// settings, and each is hidden as often as symmetry asks.
func TestShortUtterance(t *testing.T) {
	const draws = 10_000
	for _, masks := range []int{1, 2, 5} {
		a := Augment{TimeMasks: masks, TimeShare: 1}
		hidden := make([]int, 5)
		for i := range draws {
			f, _ := masked(t, a, 5, 3, Key(1, i, philox.ID("short")))
			if len(f) == 5 {
				t.Fatalf("draw %d of %d masks hides all 5 frames", i, masks)
			}
			for _, j := range f {
				hidden[j]++
			}
		}
		// Mirror images are equally likely, and the middle is hidden the most.
		for j := range 2 {
			if d := math.Abs(float64(hidden[j] - hidden[4-j])); d > 6*math.Sqrt(draws) || hidden[j] < 100 {
				t.Errorf("%d masks: frames are hidden %v times", masks, hidden)
			}
		}
	}
	// A padded batch: only the true frames are handed over, and the rest stays.
	x := make([]float32, 300*4)
	for i := range x {
		x[i] = 1
	}
	a := Augment{TimeMasks: 5, TimeShare: 1}
	for i := range 1000 {
		a.Mask(x[:5*4], 5, 4, Key(2, i, philox.ID("padded")))
	}
	if slices.Min(x[5*4:]) != 1 {
		t.Error("a mask reached beyond the true frames")
	}
}

// Widths are uniform from 0 to the limit, and starts uniform over what fits.
func TestMaskDistribution(t *testing.T) {
	const n, width, trials = 40, 9, 40_000
	widths := make([]int, width+1)
	starts := make([]int, n-4+1) // of masks 4 wide
	for i := range trials {
		m := draw(nil, philox.NewStream(Key(3, i, philox.ID("d")), siteMask), 1, width, n)
		if len(m) == 0 {
			widths[0]++
			continue
		}
		w := m[0].to - m[0].from
		widths[w]++
		if m[0].from < 0 || m[0].to > n {
			t.Fatalf("mask %v over %d places", m[0], n)
		}
		if w == 4 {
			starts[m[0].from]++
		}
	}
	uniform(t, "widths", widths)
	uniform(t, "starts", starts)
}

// uniform is a chi-square test at six deviations.
func uniform(t *testing.T, what string, counts []int) {
	t.Helper()
	total := 0
	for _, c := range counts {
		total += c
	}
	mean := float64(total) / float64(len(counts))
	chi := 0.0
	for _, c := range counts {
		chi += (float64(c) - mean) * (float64(c) - mean) / mean
	}
	free := float64(len(counts) - 1)
	if chi > free+6*math.Sqrt(2*free) {
		t.Errorf("%s are not uniform (chi-square %.1f with %v degrees of freedom): %v", what, chi, free, counts)
	}
}

func TestMaskLimits(t *testing.T) {
	a := usualAugment()
	most := 0
	for i := range 2000 {
		f, b := masked(t, a, 100, 80, Key(4, i, philox.ID("x")))
		if len(f) > 25 || len(b) > 54 {
			t.Fatalf("%d frames of 100 and %d bins of 80 are hidden; 5 x 5 and 2 x 27 are the limits", len(f), len(b))
		}
		most = max(most, len(b))
	}
	if most < 40 {
		t.Errorf("at most %d bins were hidden: the limit is never approached", most)
	}
	for i := range 2000 { // 27 bins of 20
		if _, b := masked(t, a, 10, 20, Key(5, i, philox.ID("x"))); len(b) == 20 {
			t.Fatal("all bins are hidden")
		}
	}
	// 5 % of 19 frames is less than one.
	for i := range 200 {
		if f, _ := masked(t, a, 19, 80, Key(6, i, philox.ID("x"))); len(f) > 0 {
			t.Fatalf("frames %v of 19 are hidden", f)
		}
	}
	a.Mask(nil, 0, 80, 1)
	a.Mask(make([]float32, 80), 1, 80, 1)
	(*Augment)(nil).Mask(nil, 0, 0, 1)
}

func TestMasksAreAFunctionOfTheKey(t *testing.T) {
	a := usualAugment()
	mask := func(key uint64) []float32 {
		x := testkit.Normal[float32](1, 200*80)
		a.Mask(x, 200, 80, key)
		return x
	}
	if !slices.Equal(mask(Key(1, 2, philox.ID("a"))), mask(Key(1, 2, philox.ID("a")))) {
		t.Error("the same key gave other masks")
	}
	for _, k := range []uint64{Key(2, 2, philox.ID("a")), Key(1, 3, philox.ID("a")), Key(1, 2, philox.ID("b"))} {
		if slices.Equal(mask(Key(1, 2, philox.ID("a"))), mask(k)) {
			t.Error("another seed, epoch or utterance gave the same masks")
		}
	}
	// What is not hidden stays as it was.
	was, x := testkit.Normal[float32](1, 200*80), mask(9)
	for i, v := range x {
		if v != 0 && v != was[i] {
			t.Fatal("a feature outside the masks changed")
		}
	}
}

func TestSpeeds(t *testing.T) {
	a := Augment{Speeds: []float64{0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.15, 1.2}}
	counts := map[audio.Ratio]int{}
	for i := range 9000 {
		counts[a.Speed(Key(7, i, philox.ID("x")))]++
	}
	var all []int
	for _, f := range a.Speeds {
		r, err := audio.Speed(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, counts[r])
	}
	if len(counts) != 9 {
		t.Errorf("%v", counts)
	}
	uniform(t, "speeds", all)
	if r := (&Augment{}).Speed(1); !r.One() {
		t.Errorf("no speeds gave %v", r)
	}
	if r := (*Augment)(nil).Speed(1); !r.One() {
		t.Errorf("no augmentation gave %v", r)
	}
}

// A tone played 1.1 times as fast is 1.1 times as high, and its wave shorter by that.
func TestSpeedMovesTheTone(t *testing.T) {
	o := Default()
	o.Normalize = None
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float32, 16000)
	for i := range x {
		x[i] = float32(0.5 * math.Sin(2*math.Pi*1000*float64(i)/16000))
	}
	peak := func(a *Augment) (int, float64) {
		f, n, err := e.Extract(nil, x, 16000, a, 1)
		if err != nil {
			t.Fatal(err)
		}
		row := f[n/2*80:][:80]
		best := slices.Index(row, slices.Max(row))
		flt := e.mels.filters[best]
		return n, (float64(flt.start) + float64(len(flt.weights)-1)/2) * 16000 / 512
	}
	for _, s := range []float64{0.8, 1, 1.2} {
		n, hz := peak(&Augment{Speeds: []float64{s}})
		if want := int(math.Round(100 / s)); n < want-1 || n > want+1 {
			t.Errorf("speed %v: %d frames", s, n)
		}
		if !(math.Abs(hz-1000*s) <= 35) { // filters are 40 to 60 Hz apart
			t.Errorf("speed %v: the tone is at %v Hz", s, hz)
		}
	}
}

func TestAugmentErrors(t *testing.T) {
	err := Augment{Speeds: []float64{1, 3, math.NaN()}, FreqMasks: -1, FreqWidth: -2, TimeMasks: -3, TimeShare: 1.5}.Validate()
	for _, s := range []string{"speed 3", "speed NaN", "freq_masks is -1", "freq_width is -2", "time_masks is -3", "time_share is 1.5"} {
		if err == nil || !strings.Contains(err.Error(), s) {
			t.Errorf("%v; want %q", err, s)
		}
	}
	for _, a := range []Augment{{FreqMasks: mostMasks + 1}, {TimeMasks: mostMasks + 1}, {FreqWidth: mostMasks + 1}} {
		if err := a.Validate(); err == nil || !strings.Contains(err.Error(), "0 to 1000 are possible") {
			t.Errorf("%+v: %v", a, err)
		}
	}
	if err := usualAugment().Validate(); err != nil {
		t.Error(err)
	}
}

// Masks are listed by their first and last place.
func TestSpans(t *testing.T) {
	if got := spans([]span{{3, 8}, {12, 13}}); got != "3 to 7, 12" {
		t.Errorf("%q", got)
	}
}
