package feature

import (
	"math"
	"testing"

	"konkanitrain/internal/testkit"
)

// logMel are the energies of a wave at 16 kHz, [T, bins].
func logMel(t *testing.T, o Options, wave []float32) []float32 {
	t.Helper()
	o.Normalize = None
	x, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	f, _, err := x.Extract(nil, wave, o.SampleRate, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A scale of samples is what samples are multiplied by: features of louder sound, down to the floor.
func TestSampleScale(t *testing.T) {
	wave := testkit.Normal[float32](3, 4000)
	for i := range wave {
		wave[i] *= 1e-4 // quiet: of this some bins are at the floor where the scale is 1
	}
	loud := make([]float32, len(wave))
	for i, x := range wave {
		loud[i] = 32 * x // exact
	}
	o := Default()
	scaled := o
	scaled.SampleScale = o.SampleScale / 32
	testkit.Close(t, "32 times as loud", logMel(t, scaled, loud), logMel(t, o, wave), 0)
	one := o
	one.SampleScale = 1
	atFloor := 0
	want := logMel(t, o, wave)
	for i, x := range logMel(t, one, wave) {
		if floor := math.Log(LogFloor); x <= float32(floor) {
			atFloor++
		} else if d := float64(want[i]) - float64(x) - 2*math.Log(SixteenBits); math.Abs(d) > 1e-5 {
			t.Fatalf("feature %d differs by %g more than the scale", i, d)
		}
	}
	if atFloor == 0 || atFloor == len(want) {
		t.Errorf("%d of %d are at the floor", atFloor, len(want))
	}
}

// The upper edge is that of the last filter, counted from 0 or from half of the rate, and energy above it isn't heard.
func TestHighHz(t *testing.T) {
	o := Default()
	if o.High() != 8000 {
		t.Errorf("by default it is %g Hz", o.High())
	}
	below, at := o, o
	below.HighHz, at.HighHz = -400, 7600
	wave := testkit.Normal[float32](5, 4000)
	testkit.Close(t, "7600 Hz in two ways", logMel(t, below, wave), logMel(t, at, wave), 0)
	for i := range wave {
		wave[i] = float32(math.Sin(2 * math.Pi * 7900 / 16000 * float64(i)))
	}
	last := o.NumMels - 1
	heard, not := logMel(t, o, wave)[5*o.NumMels+last], logMel(t, below, wave)[5*o.NumMels+last]
	if heard-not < 5 { // a factor of 150: what the window's side lobes leave
		t.Errorf("a tone of 7900 Hz has %g in the last bin up to 8000 Hz, and %g up to 7600 Hz", heard, not)
	}
}
