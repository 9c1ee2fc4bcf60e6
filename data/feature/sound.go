package feature

import (
	"fmt"

	"konkanitrain/data/perturb"
	"konkanitrain/internal/philox"
)

// What augmentation does to the sound itself, once it is at the sample rate. Each change draws at a site of its own.

// lowestSNR and highestSNR are far beyond what is of use, in dB.
const lowestSNR, highestSNR = -20, 100

// validateSound lists what is wrong with these settings.
func (a Augment) validateSound() (all []error) {
	for _, c := range []struct {
		name  string
		share float64
	}{{"reverb_share", a.ReverbShare}, {"noise_share", a.NoiseShare}} {
		if !(c.share >= 0 && c.share <= 1) {
			all = append(all, fmt.Errorf("%s is %v; 0 to 1 are possible", c.name, c.share))
		}
	}
	if low, high := a.NoiseSNR[0], a.NoiseSNR[1]; !(low >= lowestSNR && low <= high && high <= highestSNR) {
		all = append(all, fmt.Errorf("noise_snr is %v,%v; two numbers from %v to %v are possible, the lower one first", low, high, lowestSNR, highestSNR))
	}
	return all
}

// changesSound says whether any utterance's sound is changed beside its speed.
func (a *Augment) changesSound() bool { return a != nil && (a.ReverbShare > 0 || a.NoiseShare > 0) }

// Reverb is the room that the key's utterance sounds in, and whether it does in any.
func (a *Augment) Reverb(key uint64) (r perturb.Reverb, drawn bool) {
	if a == nil || a.ReverbShare == 0 {
		return r, false
	}
	s := philox.NewStream(key, siteReverb)
	if s.Float64() >= a.ReverbShare {
		return r, false
	}
	return perturb.DrawReverb(s, key), true
}

// Noise is the noise that the key's utterance gets, and whether it gets any.
func (a *Augment) Noise(key uint64) (n perturb.Noise, drawn bool) {
	if a == nil || a.NoiseShare == 0 {
		return n, false
	}
	s := philox.NewStream(key, siteNoise)
	if s.Float64() >= a.NoiseShare {
		return n, false
	}
	return perturb.DrawNoise(s, key, a.NoiseSNR[0], a.NoiseSNR[1], a.NoiseFrom), true
}
