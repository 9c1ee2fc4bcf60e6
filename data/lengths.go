package data

import (
	"fmt"
	"slices"

	"konkanitrain/data/audio"
	"konkanitrain/data/feature"
	"konkanitrain/internal/philox"
)

// Length is what is known of an utterance in an epoch before its file is read.
type Length struct {
	Frames int // T, feature frames at the speed of that epoch; 0 where nothing is left of a very short utterance
	Tokens int // U
}

// Lengths lists the lengths of window k of an epoch in the order of the window's examples. It reads no file: lengths
// are a function of the manifest, the seed and the epoch. The list is in into where its capacity suffices; it is
// empty where there is no such window. An evaluation has speed 1 and the set's own order in any epoch.
func (l *Loader) Lengths(epoch, k int, into []Length) []Length {
	into = into[:0]
	if l.order == nil {
		for i := k * l.o.Window; k >= 0 && i < min((k+1)*l.o.Window, l.set.Len()); i++ {
			into = append(into, l.length(epoch, i, l.set.key(i)))
		}
		return into
	}
	for _, entry := range l.order.Window(epoch, k) {
		i, before := l.order.occurrence(entry)
		into = append(into, l.length(epoch, i, occurrenceKey(l.set.key(i), before)))
	}
	return into
}

// length is that of utterance i with a key.
func (l *Loader) length(epoch, i int, key uint64) Length {
	return Length{Frames: l.frames(i, l.speed(epoch, i, key)), Tokens: l.set.Tokens(i)}
}

// occurrenceKey is the key of an utterance that an epoch had so many times before: each time has its own draws.
func occurrenceKey(key uint64, before int) uint64 {
	if before == 0 {
		return key
	}
	return philox.Key(key, uint64(before))
}

// frames is T of utterance i at a speed of the Loader. That its rate can be converted was checked when the Loader was
// made.
func (l *Loader) frames(i int, speed audio.Ratio) int {
	samples, rate := l.set.sound(i)
	n, err := l.o.Feature.Frames(samples, rate, speed)
	if err != nil {
		return 0
	}
	return n
}

// key is the key of all augmentation draws of an utterance, by its own key, in an epoch.
func (l *Loader) key(epoch int, utterance uint64) uint64 {
	return feature.Key(l.o.Seed, epoch, utterance)
}

// speed is the speed that utterance i, with a key, is played at in an epoch.
func (l *Loader) speed(epoch, i int, key uint64) audio.Ratio {
	a := l.augment(i).At(epoch)
	return a.Speed(l.key(epoch, key))
}

// augment is the augmentation of utterance i: with the speeds at which its text fits, and else with speed 1.
func (l *Loader) augment(i int) *feature.Augment {
	if a := l.fitting[l.set.fits[i]]; a != nil && l.o.Augment != nil {
		return a
	}
	return l.o.Augment
}

// Draws is the augmentation of utterance i, nil for none, and the key of its draws in an epoch: what a
// [feature.Extractor] is given for it when the epoch has it for the first time.
func (l *Loader) Draws(epoch, i int) (*feature.Augment, uint64) {
	return l.augment(i), l.key(epoch, l.set.key(i))
}

// fitSpeeds makes an Augment for each set of speeds that some utterances fit, if they are the Loader's own.
func (l *Loader) fitSpeeds() {
	if l.o.Augment == nil || !slices.Equal(l.o.Augment.Speeds, l.set.speeds) {
		return
	}
	l.fitting = map[uint64]*feature.Augment{}
	for _, fits := range l.set.fits {
		if l.fitting[fits] != nil {
			continue
		}
		a := *l.o.Augment
		a.Speeds = nil
		for k, f := range l.o.Augment.Speeds {
			if fits>>min(k, 63)&1 == 1 {
				a.Speeds = append(a.Speeds, f)
			}
		}
		l.fitting[fits] = &a
	}
}

// checkRates is an error if the sound of an utterance can't be resampled at one of the speeds.
func (o LoaderOptions) checkRates(s *Set) error {
	speeds := []float64{1}
	if o.Augment != nil {
		speeds = append(speeds, o.Augment.Speeds...)
	}
	checked := map[int]bool{}
	for i := range s.Len() {
		samples, rate := s.sound(i)
		if checked[rate] {
			continue
		}
		checked[rate] = true
		for _, f := range speeds {
			speed, err := audio.Speed(f)
			if err == nil {
				_, err = o.Feature.Frames(samples, rate, speed)
			}
			if err != nil {
				u := s.At(i)
				return fmt.Errorf("%s (%s) has %d Hz and can't be played at speed %v: %w", u.ID, Where(u.File, u.Line), rate, f, err)
			}
		}
	}
	return nil
}
