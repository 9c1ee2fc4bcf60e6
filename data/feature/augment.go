package feature

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"konkanitrain/data/audio"
	"konkanitrain/data/perturb"
	"konkanitrain/internal/philox"
)

// Augment changes training utterances at random: their speed, their sound (package
// perturb), their frequencies (see [Augment.Warp]), and blocks of their features that are
// hidden (SpecAugment, Park et al. 2019). Every choice is a function of a key (see [Key])
// and of the utterance's true length: never of padding, of batch mates, of how often it is
// asked for, or of what other changes there are. What it is like in an epoch is what At says.
type Augment struct {
	Speeds    []float64 // one is chosen, each as likely; none means 1
	FreqMasks int       // masks over bins
	FreqWidth int       // the most bins a mask hides
	TimeMasks int       // masks over frames
	TimeShare float64   // the most frames a mask hides, as a share of the utterance
	VTLP      float64   // frequencies are multiplied by a factor from 1-VTLP to 1+VTLP; 0 for none

	Pitch          float64             // semitones, the most that utterances are made higher or lower; 0 for none
	TimeShift      float64             // seconds, the most that utterances are made to begin earlier or later; 0 for none
	ReverbShare    float64             // of utterances that sound in a room
	NoiseShare     float64             // of utterances that get noise
	NoiseSNR       [2]float64          // dB, from and to: the ratio of the utterance's power to that of its noise
	NoiseFrom      []perturb.Recording // that noise is taken from, at the sample rate; none for generated noise
	BandwidthShare float64             // of utterances that go through a narrow channel
	Volume         float64             // dB, the most of a gain up or down; 0 for none

	LightEpochs int     // the first epochs, in which all of this grows from nothing: see At
	spared      float64 // the share of utterances whose speed is 1 whatever Speeds says
}

// mostMasks bounds the masks of an utterance, and their width in bins: many times what is of use, and no wait.
const mostMasks = 1000

// Validate lists everything that is wrong.
func (a Augment) Validate() error {
	var all []error
	for _, f := range a.Speeds {
		if _, err := audio.Speed(f); err != nil {
			all = append(all, fmt.Errorf("speeds: %w", err))
		}
	}
	for _, c := range []struct {
		name string
		n    int
	}{{"freq_masks", a.FreqMasks}, {"freq_width", a.FreqWidth}, {"time_masks", a.TimeMasks}} {
		if c.n < 0 || c.n > mostMasks {
			all = append(all, fmt.Errorf("%s is %d; 0 to %d are possible", c.name, c.n, mostMasks))
		}
	}
	if a.LightEpochs < 0 {
		all = append(all, fmt.Errorf("light_first_epochs is %d; 0 or more are possible", a.LightEpochs))
	}
	if !(a.TimeShare >= 0 && a.TimeShare <= 1) {
		all = append(all, fmt.Errorf("time_share is %v; 0 to 1 are possible", a.TimeShare))
	}
	if !(a.VTLP == 0 || a.VTLP >= leastVTLP && a.VTLP <= mostVTLP) {
		all = append(all, fmt.Errorf("vtlp is %v; 0 and %v to %v are possible: factors are drawn in steps of %v", a.VTLP, leastVTLP, mostVTLP, leastVTLP))
	}
	all = append(all, a.validateSound()...)
	return errors.Join(all...)
}

// Sites of the random draws of one key.
const (
	siteSpeed  = 0x5eed0001
	siteMask   = 0x5eed0002
	siteVTLP   = 0x5eed0003
	siteNoise  = 0x5eed0004
	siteReverb = 0x5eed0005
	siteBand   = 0x5eed0006
	siteVolume = 0x5eed0007
	sitePitch  = 0x5eed0008
	siteShift  = 0x5eed0009
)

// Key is the key of all augmentation draws in an epoch of the utterance whose identity hashes to id (philox.ID).
func Key(seed uint64, epoch int, id uint64) uint64 {
	return philox.Key(seed, uint64(epoch), id)
}

// Any says whether anything is changed.
func (a *Augment) Any() bool {
	return slices.ContainsFunc(a.Parts(), func(p Part) bool { return p.On })
}

// At is the augmentation in an epoch, counted from 0. In the first LightEpochs epochs it has the strength
// epoch / LightEpochs: masks, warps, gains and the shares of changed utterances are at most so large a part of what
// they are later, and an utterance is played at the speed that is drawn for it with this probability, else at 1. So the
// first epoch has none; from LightEpochs on At is a itself. Of nil it is no augmentation. What is added to an Augment
// gets its share of the strength here.
func (a *Augment) At(epoch int) Augment {
	if a == nil {
		return Augment{}
	}
	now := *a
	if epoch >= a.LightEpochs {
		return now
	}
	strength := float64(max(epoch, 0)) / float64(a.LightEpochs)
	now.FreqWidth = int(math.Round(strength * float64(a.FreqWidth)))
	now.TimeShare *= strength
	now.VTLP *= strength
	now.Pitch *= strength
	now.TimeShift *= strength
	now.NoiseShare *= strength
	now.ReverbShare *= strength
	now.BandwidthShare *= strength
	now.Volume *= strength
	now.spared = 1 - strength
	return now
}

// Played lists the speeds that an utterance may have in some epoch: Speeds, and 1 where epochs are light.
func (a *Augment) Played() []float64 {
	if a == nil || len(a.Speeds) == 0 {
		return []float64{1}
	}
	if a.LightEpochs == 0 || slices.Contains(a.Speeds, 1) {
		return a.Speeds
	}
	return append(slices.Clone(a.Speeds), 1)
}

// Speed is the speed of the key's utterance, as input samples per output sample. The
// Augment must have passed Validate.
func (a *Augment) Speed(key uint64) audio.Ratio {
	if a == nil || len(a.Speeds) == 0 {
		return audio.Ratio{P: 1, Q: 1}
	}
	s := philox.NewStream(key, siteSpeed)
	r, err := audio.Speed(a.Speeds[s.IntN(len(a.Speeds))])
	if err != nil || a.spared > 0 && s.Float64() < a.spared {
		return audio.Ratio{P: 1, Q: 1}
	}
	return r
}

// Mask sets blocks of features [frames, bins] to 0, the mean of normalized features.
// A mask's width is uniform from 0 to its limit, and its start uniform over all
// places where it fits. The limit is the setting, but always less than everything;
// a mask that would leave no frame or no bin together with those before it is left out.
func (a *Augment) Mask(features []float32, frames, bins int, key uint64) {
	var space [2][16]span
	overBins, overFrames := a.masks(key, frames, bins, space[0][:0], space[1][:0])
	for _, m := range overBins {
		for t := range frames {
			clear(features[t*bins+m.from : t*bins+m.to])
		}
	}
	for _, m := range overFrames {
		clear(features[m.from*bins : m.to*bins])
	}
}

// masks appends the masks of the key's utterance to two lists: those over bins, and those over frames.
func (a *Augment) masks(key uint64, frames, bins int, overBins, overFrames []span) (_, _ []span) {
	if a == nil || frames <= 0 || bins <= 0 {
		return overBins, overFrames
	}
	s := philox.NewStream(key, siteMask)
	width := int(math.Floor(a.TimeShare*float64(frames) + 1e-9)) // 0.07*100 is 7
	overBins = draw(overBins, s, a.FreqMasks, a.FreqWidth, bins)
	return overBins, draw(overFrames, s, a.TimeMasks, width, frames)
}

// span is a mask over from <= i < to.
type span struct{ from, to int }

// draw appends count random masks of up to width over n places. It always takes the
// same number of draws.
func draw(masks []span, s *philox.Stream, count, width, n int) []span {
	width = min(width, n-1)
	for range count {
		w := s.IntN(width + 1)
		from := s.IntN(n - w + 1)
		if w == 0 {
			continue
		}
		masks = append(masks, span{from, from + w})
		if covered(masks, n) {
			masks = masks[:len(masks)-1]
		}
	}
	return masks
}

// covered says whether masks together hide all of n places.
func covered(masks []span, n int) bool {
	at := 0
	for at < n {
		next := at
		for _, m := range masks {
			if m.from <= at {
				next = max(next, m.to)
			}
		}
		if next == at {
			return false
		}
		at = next
	}
	return true
}
