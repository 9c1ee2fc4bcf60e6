package feature

import (
	"fmt"
	"math"
	goreflect "reflect"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/audio"
	"konkanitrain/internal/philox"
)

// In the first epoch of the light ones there is no augmentation; masks get wider from epoch to epoch; and from the last
// one on there is what there is without light epochs.
func TestLightMasks(t *testing.T) {
	const light, frames, bins = 4, 200, 40
	full := usualAugment()
	a := full
	a.LightEpochs = light
	for epoch := range light + 2 {
		now := a.At(epoch)
		strength := min(1, float64(epoch)/light)
		mostBins, mostFrames := 0, 0 // of one mask
		one := now
		one.FreqMasks, one.TimeMasks = 1, 1
		for i := range 1000 {
			f, b := masked(t, one, frames, bins, Key(1, epoch, philox.ID(fmt.Sprint(i))))
			mostBins, mostFrames = max(mostBins, len(b)), max(mostFrames, len(f))
		}
		// Of 1,000 draws of at most 28 widths one is the widest, but for a chance of exp(-1000/28).
		if want := int(math.Round(27 * strength)); mostBins != want {
			t.Errorf("epoch %d: a mask over %d bins, want up to %d", epoch, mostBins, want)
		}
		if want := int(10 * strength); mostFrames != want { // 5 % of 200
			t.Errorf("epoch %d: a mask over %d frames, want up to %d", epoch, mostFrames, want)
		}
		if epoch < light {
			continue
		}
		x, y := make([]float32, frames*bins), make([]float32, frames*bins)
		for i := range x {
			x[i], y[i] = 1, 1
		}
		key := Key(1, epoch, philox.ID("x"))
		now.Mask(x, frames, bins, key)
		full.Mask(y, frames, bins, key)
		if !slices.Equal(x, y) || now.Speed(key) != full.Speed(key) {
			t.Errorf("epoch %d has other draws than without light epochs", epoch)
		}
	}
}

// In a light epoch an utterance has the speed that is drawn for it, or speed 1: the former with a probability that
// grows with the epochs, whether 1 is among the speeds or not.
func TestLightSpeeds(t *testing.T) {
	const light, trials = 5, 4_000
	for _, speeds := range [][]float64{{0.9, 1, 1.1}, {0.9, 1.1}, {1.2}} {
		full := Augment{Speeds: speeds}
		a := Augment{Speeds: speeds, LightEpochs: light}
		for epoch := range light + 2 {
			now, drawn, other := a.At(epoch), 0, 0
			for i := range trials {
				key := Key(3, epoch, philox.ID(fmt.Sprint(i)))
				want, got := full.Speed(key), now.Speed(key)
				if got != want && !got.One() {
					t.Fatalf("epoch %d: speed %v, want %v or 1", epoch, got, want)
				}
				if !want.One() {
					drawn++
				}
				if !got.One() {
					other++
				}
			}
			// A binomial count, at six deviations; none where there is no chance.
			p := min(1, float64(epoch)/light)
			if d := math.Abs(float64(other) - p*float64(drawn)); d > 6*math.Sqrt(float64(drawn)*p*(1-p)) {
				t.Errorf("speeds %v, epoch %d: %d of %d utterances aren't played at 1, want about %.0f", speeds, epoch, other, drawn, p*float64(drawn))
			}
		}
	}
}

// What a checkpoint in a light epoch goes on with.
func TestLightSpeedsNeverChange(t *testing.T) {
	a := Augment{Speeds: []float64{0.9, 1, 1.1}, LightEpochs: 3}
	for epoch, want := range []string{
		"1/1 1/1 1/1 1/1 11/10 1/1 1/1 9/10 1/1 1/1 1/1 9/10 1/1 9/10 1/1 1/1 1/1 1/1 1/1 1/1",
		"1/1 11/10 9/10 1/1 11/10 1/1 1/1 1/1 1/1 11/10 9/10 1/1 1/1 9/10 11/10 9/10 1/1 1/1 1/1 11/10",
	} {
		now := a.At(epoch + 1)
		var got []string
		for u := range 20 {
			got = append(got, now.Speed(Key(11, epoch+1, philox.ID(fmt.Sprintf("u%d", u)))).String())
		}
		if all := strings.Join(got, " "); all != want {
			t.Errorf("epoch %d: speeds %s, were %s", epoch+1, all, want)
		}
	}
}

// The speeds that an utterance may have are known.
func TestPlayed(t *testing.T) {
	for _, c := range []struct {
		a    *Augment
		want []float64
	}{
		{nil, []float64{1}},
		{&Augment{LightEpochs: 2}, []float64{1}},
		{&Augment{Speeds: []float64{0.9, 1.1}}, []float64{0.9, 1.1}},
		{&Augment{Speeds: []float64{0.9, 1.1}, LightEpochs: 2}, []float64{0.9, 1.1, 1}},
		{&Augment{Speeds: []float64{0.9, 1}, LightEpochs: 2}, []float64{0.9, 1}},
	} {
		if got := c.a.Played(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.a, got, c.want)
		}
	}
	none := (*Augment)(nil).At(3)
	if r := none.Speed(1); r != (audio.Ratio{P: 1, Q: 1}) || none.FreqMasks+none.TimeMasks != 0 {
		t.Errorf("no augmentation is %+v", none)
	}
	if err := (Augment{LightEpochs: -1}).Validate(); err == nil || !strings.Contains(err.Error(), "light_first_epochs is -1") {
		t.Error(err)
	}
}

// All that can be set has its strength from At: a setting that At forgets would change utterances from the start.
func TestLightIsAll(t *testing.T) {
	a := Augment{Speeds: []float64{0.9, 1.1}, FreqMasks: 2, FreqWidth: 20, TimeMasks: 3, TimeShare: 0.2, VTLP: 0.1, Pitch: 2, TimeShift: 0.05, ReverbShare: 0.2,
		NoiseShare: 0.3, NoiseSNR: [2]float64{5, 25}, BandwidthShare: 0.4, Volume: 6, LightEpochs: 4}
	first, half, full := a.At(0), a.At(2), a.At(4)
	if first.changesSound() || first.Warp(7) != 1 || first.Speed(7) != (audio.Ratio{P: 1, Q: 1}) || first.FreqWidth != 0 || first.TimeShare != 0 {
		t.Errorf("the first epoch changes something: %+v", first)
	}
	if half.VTLP != 0.05 || half.Pitch != 1 || half.TimeShift != 0.025 || half.ReverbShare != 0.1 || half.NoiseShare != 0.15 || half.BandwidthShare != 0.2 || half.Volume != 3 {
		t.Errorf("in the middle the strength is not a half: %+v", half)
	}
	if !goreflect.DeepEqual(full, a) {
		t.Errorf("behind the light epochs it is %+v, want %+v", full, a)
	}
	for i := range goreflect.TypeFor[Augment]().NumField() { // a new field needs a value above, and a line in At
		if f := goreflect.TypeFor[Augment]().Field(i); f.IsExported() && f.Name != "NoiseFrom" && goreflect.ValueOf(a).Field(i).IsZero() {
			t.Errorf("%s is not tried", f.Name)
		}
	}
}
