package feature

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/philox"
	"konkanitrain/internal/testkit"
)

// alone are augmentations of which each has one change, and that one for every utterance.
var alone = map[string]Augment{
	"speed":        {Speeds: []float64{0.9, 1.1}},
	"SpecAugment":  {FreqMasks: 2, FreqWidth: 27, TimeMasks: 5, TimeShare: 0.2},
	"vtlp":         {VTLP: 0.1},
	"bandwidth":    {BandwidthShare: 1},
	"pitch":        {Pitch: 4},
	"shift":        {TimeShift: 0.05},
	"volume":       {Volume: 30},
	"reverb":       {ReverbShare: 1},
	"noise":        {NoiseShare: 1, NoiseSNR: [2]float64{5, 25}},
	"little noise": {NoiseShare: 1, NoiseSNR: [2]float64{100, 100}},
}

// together is all of them.
func together() Augment {
	a := usualAugment()
	a.VTLP, a.ReverbShare, a.BandwidthShare, a.Volume, a.Pitch, a.TimeShift = 0.1, 0.5, 0.3, 12, 2, 0.05
	a.NoiseShare, a.NoiseSNR = 0.5, [2]float64{5, 25}
	return a
}

// voice is a sound of n samples with pauses.
func voice(n int) []float32 {
	x := testkit.Normal[float32](uint64(n)+1, n)
	for i := range x {
		x[i] *= 0.2 * float32(max(0, math.Sin(0.5+float64(i)/3000)))
	}
	return x
}

// Whatever augmentation does, the number of frames is the one that is known beforehand, for any length, silence
// included; features are finite, the sound that was given stays as it was, and a used Extractor gives the same.
func TestAugmentedSound(t *testing.T) {
	for name, a := range alone {
		t.Run(name, func(t *testing.T) {
			used, err := New(Default())
			if err != nil {
				t.Fatal(err)
			}
			for _, rate := range []int{8000, 16000} {
				for _, n := range []int{1, 2, 79, 80, 81, 399, 400, 4000, 16001} {
					for what, x := range map[string][]float32{"voice": voice(n), "silence": make([]float32, n)} {
						given := slices.Clone(x)
						for epoch := range 4 {
							key := Key(1, epoch, philox.ID("x"))
							got, frames, err := used.Extract(nil, x, rate, &a, key)
							want, _ := Default().Frames(n, rate, a.Speed(key))
							if err != nil || frames != want || len(got) != 80*want {
								t.Fatalf("%s of %d samples at %d Hz: %d frames, want %d (%v)", what, n, rate, frames, want, err)
							}
							for _, v := range got {
								if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
									t.Fatalf("%s of %d samples at %d Hz: %v", what, n, rate, v)
								}
							}
							if !slices.Equal(x, given) {
								t.Fatalf("%s of %d samples at %d Hz was changed", what, n, rate)
							}
							fresh, err := New(Default())
							if err != nil {
								t.Fatal(err)
							}
							if again, _, _ := fresh.Extract(nil, x, rate, &a, key); !slices.Equal(got, again) {
								t.Fatalf("%s of %d samples at %d Hz: a used Extractor gives other features", what, n, rate)
							}
						}
					}
				}
			}
		})
	}
}

// Each change alone makes other features of an utterance, and draws them by the seed, the epoch and the utterance.
func TestEachChangeChanges(t *testing.T) {
	e, err := New(Default())
	if err != nil {
		t.Fatal(err)
	}
	x := voice(16000) // peaks at 0.8, which clips with 2 dB
	plain, _, err := e.Extract(nil, x, 16000, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range alone {
		different := map[string]bool{}
		for _, key := range []uint64{Key(1, 0, 5), Key(3, 0, 5), Key(1, 1, 5), Key(1, 0, 6)} {
			got, _, err := e.Extract(nil, x, 16000, &a, key)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Equal(got, plain) {
				t.Errorf("%s changes nothing", name)
			}
			different[fmt.Sprint(got[:800])] = true
		}
		if len(different) < 2 {
			t.Errorf("%s is always the same", name)
		}
	}
}

// drawn are what is drawn for a key.
func drawn(a *Augment, key uint64) map[string]string {
	noise, some := a.Noise(key)
	reverb, any := a.Reverb(key)
	band, narrow := a.Band(key, 16000)
	volume, _ := a.Gain(key)
	pitch, _ := a.Higher(key)
	shift, _ := a.Later(key)
	return map[string]string{
		"speed": fmt.Sprint(a.Speed(key)), "vtlp": fmt.Sprint(a.Warp(key)), "noise": fmt.Sprint(noise, some),
		"reverb":    fmt.Sprint(reverb, any),
		"bandwidth": fmt.Sprint(band, narrow), "volume": fmt.Sprint(volume), "pitch": fmt.Sprint(pitch),
		"shift": fmt.Sprint(float64(shift)),
	}
}

// What one change draws is the same with and without all others.
func TestDrawsAreIndependent(t *testing.T) {
	all := together()
	for what, only := range map[string]Augment{
		"speed": {Speeds: all.Speeds}, "vtlp": {VTLP: all.VTLP}, "noise": {NoiseShare: all.NoiseShare, NoiseSNR: all.NoiseSNR},
		"reverb": {ReverbShare: all.ReverbShare}, "bandwidth": {BandwidthShare: all.BandwidthShare}, "volume": {Volume: all.Volume}, "pitch": {Pitch: all.Pitch},
		"shift": {TimeShift: all.TimeShift},
	} {
		for i := range 200 {
			key := Key(1, i, philox.ID("x"))
			if got, want := drawn(&only, key)[what], drawn(&all, key)[what]; got != want {
				t.Fatalf("%s: %s alone, %s with all others", what, got, want)
			}
		}
	}
}

// Shares are shares: of so many utterances.
func TestShares(t *testing.T) {
	const keys = 10_000
	for _, share := range []float64{0, 0.1, 0.5, 1} {
		a := Augment{NoiseShare: share, ReverbShare: share, BandwidthShare: share}
		counts := map[string]int{"noise": 0, "reverb": 0, "bandwidth": 0, "all three": 0}
		for i := range keys {
			key := Key(1, i, philox.ID("x"))
			_, noise := a.Noise(key)
			_, reverb := a.Reverb(key)
			_, band := a.Band(key, 16000)
			for what, some := range map[string]bool{"noise": noise, "reverb": reverb, "bandwidth": band, "all three": noise && reverb && band} {
				if some {
					counts[what]++
				}
			}
		}
		for what, n := range counts {
			want := share
			if what == "all three" {
				want = share * share * share
			}
			if off := math.Abs(float64(n) - want*keys); !(off <= 6*math.Sqrt(keys*want*(1-want))) { // six deviations
				t.Errorf("%d of %d utterances have %s, want %v of them", n, keys, what, want)
			}
		}
	}
}

// With its strength at 0, augmentation gives the features of none, to the bit, at rates that are and aren't resampled.
func TestNoChange(t *testing.T) {
	e, err := New(Default())
	if err != nil {
		t.Fatal(err)
	}
	for _, rate := range []int{8000, 16000} {
		x := voice(10_000)
		want, _, err1 := e.Extract(nil, x, rate, nil, 7)
		got, _, err2 := e.Extract(nil, x, rate, &Augment{NoiseSNR: [2]float64{5, 25}}, 7)
		if err1 != nil || err2 != nil || !slices.Equal(got, want) {
			t.Errorf("%d Hz: %v, %v, or other features", rate, err1, err2)
		}
	}
}

// Augmentation allocates nothing for an utterance, once its buffers are there.
func TestAugmentAllocatesNothing(t *testing.T) {
	a := together()
	a.NoiseShare, a.ReverbShare, a.BandwidthShare = 1, 1, 1
	e, err := New(Default())
	if err != nil {
		t.Fatal(err)
	}
	x, dst, i := voice(20_000), []float32(nil), 0
	extract := func() { dst, _, _ = e.Extract(dst, x, 16000, &a, Key(1, i%20, 1)); i++ }
	for range 20 {
		extract()
	}
	if n := testing.AllocsPerRun(20, extract); n != 0 {
		t.Errorf("%v allocations for an utterance", n)
	}
}

func TestSoundErrors(t *testing.T) {
	for want, a := range map[string]Augment{
		"noise_share is 1.5":    {NoiseShare: 1.5},
		"reverb_share is -1":    {ReverbShare: -1},
		"bandwidth_share is 2":  {BandwidthShare: 2},
		"pitch is -1":           {Pitch: -1},
		"pitch is 0.24":         {Pitch: 0.24},
		"pitch is 12.1":         {Pitch: 12.1},
		"time_shift is -0.1 s":  {TimeShift: -0.1},
		"time_shift is 0.6 s":   {TimeShift: 0.6},
		"time_shift is NaN s":   {TimeShift: math.NaN()},
		"volume is -1":          {Volume: -1},
		"volume is 61":          {Volume: 61},
		"volume is NaN":         {Volume: math.NaN()},
		"noise_share is NaN":    {NoiseShare: math.NaN()},
		"noise_snr is 20,10;":   {NoiseSNR: [2]float64{20, 10}},
		"noise_snr is -30,10;":  {NoiseSNR: [2]float64{-30, 10}},
		"noise_snr is 10,+Inf;": {NoiseSNR: [2]float64{10, math.Inf(1)}},
	} {
		if err := a.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	a := together()
	if err := a.Validate(); err != nil {
		t.Error(err)
	}
}
