package feature

import (
	"fmt"

	"konkanitrain/data/perturb"
	"konkanitrain/internal/philox"
)

// What augmentation does to the sound itself, once it is at the sample rate. Each change draws at a site of its own.

// Far more than is of use, in dB.
const (
	lowestSNR, highestSNR = -20, 100
	mostVolume            = 60
)

// mostShift is the most that time_shift may be, in seconds: more is no edge of an utterance.
const mostShift = 0.5

// Bounds of pitches, in semitones: from the step in which they are drawn, as less would change nothing, to an octave.
const leastPitch, mostPitch = 0.25, 12

// validateSound lists what is wrong with these settings.
func (a Augment) validateSound() (all []error) {
	complain := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }
	for _, c := range []struct {
		name  string
		share float64
	}{{"reverb_share", a.ReverbShare}, {"noise_share", a.NoiseShare}, {"bandwidth_share", a.BandwidthShare}} {
		if !(c.share >= 0 && c.share <= 1) {
			complain("%s is %v; 0 to 1 are possible", c.name, c.share)
		}
	}
	if low, high := a.NoiseSNR[0], a.NoiseSNR[1]; !(low >= lowestSNR && low <= high && high <= highestSNR) {
		complain("noise_snr is %v,%v; two numbers from %v to %v are possible, the lower one first", low, high, lowestSNR, highestSNR)
	}
	if !(a.Pitch == 0 || a.Pitch >= leastPitch && a.Pitch <= mostPitch) {
		complain("pitch is %v semitones; 0 and %v to %v are possible: it is drawn in steps of %v", a.Pitch, leastPitch, mostPitch, leastPitch)
	}
	if !(a.TimeShift >= 0 && a.TimeShift <= mostShift) {
		complain("time_shift is %v s; 0 to %v are possible", a.TimeShift, mostShift)
	}
	if !(a.Volume >= 0 && a.Volume <= mostVolume) {
		complain("volume is %v; 0 to %v are possible", a.Volume, mostVolume)
	}
	return all
}

// changesSound says whether any utterance's sound is changed beside its speed.
func (a *Augment) changesSound() bool {
	return a != nil && (a.Pitch > 0 || a.TimeShift > 0 || a.ReverbShare > 0 || a.NoiseShare > 0 || a.BandwidthShare > 0 || a.Volume > 0)
}

// change changes sound at the sample rate as the key asks for: an utterance that begins later does so in its room,
// the room is heard before the noise, and the recorder comes last.
func (e *Extractor) change(wave []float32, a *Augment, key uint64) {
	if p, drawn := a.Higher(key); drawn {
		e.changer.Pitch(wave, p)
	}
	if s, drawn := a.Later(key); drawn {
		e.changer.Shift(wave, s)
	}
	if r, drawn := a.Reverb(key); drawn {
		e.changer.Reverb(wave, r)
	}
	if n, drawn := a.Noise(key); drawn {
		e.changer.Noise(wave, n)
	}
	if b, drawn := a.Band(key, e.o.SampleRate); drawn {
		e.changer.Band(wave, b)
	}
	if v, drawn := a.Gain(key); drawn {
		e.changer.Volume(wave, v)
	}
}

// Higher is how much higher the key's utterance is made, and whether it is.
func (a *Augment) Higher(key uint64) (p perturb.Pitch, drawn bool) {
	if a == nil || a.Pitch == 0 {
		return 0, false
	}
	p = perturb.DrawPitch(philox.NewStream(key, sitePitch), a.Pitch)
	return p, p != 0
}

// Later is how much later the key's utterance begins, and whether it is shifted at all.
func (a *Augment) Later(key uint64) (s perturb.Shift, drawn bool) {
	if a == nil || a.TimeShift == 0 {
		return 0, false
	}
	return perturb.DrawShift(philox.NewStream(key, siteShift), a.TimeShift), true
}

// among says whether a share of all utterances has this one in it, by the next draw.
func among(share float64, s *philox.Stream) bool { return share > 0 && s.Float64() < share }

// Reverb is the room that the key's utterance sounds in, and whether it does in any.
func (a *Augment) Reverb(key uint64) (r perturb.Reverb, drawn bool) {
	s := philox.NewStream(key, siteReverb)
	if a == nil || !among(a.ReverbShare, s) {
		return r, false
	}
	return perturb.DrawReverb(s, key), true
}

// Noise is the noise that the key's utterance gets, and whether it gets any.
func (a *Augment) Noise(key uint64) (n perturb.Noise, drawn bool) {
	s := philox.NewStream(key, siteNoise)
	if a == nil || !among(a.NoiseShare, s) {
		return n, false
	}
	return perturb.DrawNoise(s, key, a.NoiseSNR[0], a.NoiseSNR[1], a.NoiseFrom), true
}

// Band is the narrow channel that the key's utterance goes through, at a sample rate in Hz, and whether it goes through
// any.
func (a *Augment) Band(key uint64, rate int) (b perturb.Band, drawn bool) {
	s := philox.NewStream(key, siteBand)
	if a == nil || !among(a.BandwidthShare, s) {
		return b, false
	}
	return perturb.DrawBand(s, rate), true
}

// Gain is the gain of the key's utterance, and whether there is any.
func (a *Augment) Gain(key uint64) (v perturb.Volume, drawn bool) {
	if a == nil || a.Volume == 0 {
		return 0, false
	}
	return perturb.DrawVolume(philox.NewStream(key, siteVolume), a.Volume), true
}
