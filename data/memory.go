package data

import (
	"maps"
	"math"
	"slices"

	"konkanitrain/data/audio"
)

// Memory is the most that a Loader holds, in bytes. It is known from the manifest, before any file is read.
type Memory struct {
	Sound   int64 // decoded sound that is kept
	Windows int64 // features of windows in use and read ahead, and buffers that wait for the next ones
	Scratch int64 // what workers decode, resample and transform in, and the resampler's kernels
}

// Total is the sum.
func (m Memory) Total() int64 { return m.Sound + m.Windows + m.Scratch }

// Memory is the most that one Stream of the Loader makes it hold.
func (l *Loader) Memory() Memory {
	m := Memory{Windows: l.buffers.limit}
	for i := 0; i < l.set.Len() && m.Sound < l.o.CacheWaves; i++ {
		samples, _ := l.set.sound(i)
		m.Sound += waveBytes(samples)
	}
	m.Sound = min(m.Sound, l.o.CacheWaves)
	pitches := l.o.Augment.Ratios()
	ratios := slices.Clone(pitches)
	longest := map[int]int{} // samples, of those with a rate
	decoder := int64(0)      // bytes
	for i := range l.set.Len() {
		samples, rate := l.set.sound(i)
		longest[rate] = max(longest[rate], samples)
		if r := l.set.recording(i); r != nil {
			decoder = max(decoder, r.Info.DecoderBytes())
		}
	}
	most := int64(0) // of one worker
	for _, rate := range slices.Sorted(maps.Keys(longest)) {
		samples := longest[rate]
		for _, speed := range l.speeds() {
			ratio, err := audio.Convert(rate, l.o.Feature.SampleRate, speed)
			if err != nil {
				continue // was refused when the Loader was made
			}
			ratios = append(ratios, ratio)
			if scratch, err := l.o.Feature.ScratchBytes(samples, rate, speed, l.o.Augment); err == nil {
				resampling := l.o.Feature.Resampler.ScratchBytes(samples, ratio)
				for _, r := range pitches {
					resampling = max(resampling, l.o.Feature.Resampler.ScratchBytes(ratio.Len(samples), r))
				}
				most = max(most, audio.ReadBytes(samples)+scratch+resampling)
			}
		}
	}
	m.Scratch = int64(l.o.Workers)*(most+decoder) + l.o.Feature.Resampler.KernelBytes(ratios)
	return m
}

// speeds are all that an utterance may be played at.
func (l *Loader) speeds() []audio.Ratio {
	var speeds []audio.Ratio
	for _, f := range l.o.Augment.Played() {
		if r, err := audio.Speed(f); err == nil {
			speeds = append(speeds, r)
		}
	}
	return speeds
}

// mostFeatures is what the features of the windows that exist at the same time take at most, in bytes: the window in
// use, those that are ready, and the one that is being made. An epoch has each utterance once, or as often as its
// weight says; windows of two epochs may exist at the same time.
func (l *Loader) mostFeatures() int64 {
	counts := map[int64]int{} // utterances by the bytes of their longest features
	speeds := l.speeds()
	for i := range l.set.Len() {
		most := int64(0)
		for _, speed := range speeds {
			most = max(most, 4*int64(bufferLen(l.frames(i, speed), l.bins)))
		}
		counts[most] += l.times(i)
	}
	windows, epochs := l.o.Ahead+1, 1
	if l.o.Peeks {
		windows++
	}
	if l.o.Evaluate {
		windows = min(windows, l.Windows())
	} else {
		epochs += (windows - 2 + l.Windows()) / l.Windows() // that so many windows in a row touch
	}
	left, sum := windows*min(l.o.Window, l.perEpoch()), int64(0)
	for _, bytes := range slices.Backward(slices.Sorted(maps.Keys(counts))) {
		times := min(epochs*counts[bytes], left)
		sum += int64(times) * bytes
		left -= times
	}
	return sum
}

// times is the most that an epoch has utterance i.
func (l *Loader) times(i int) int {
	if l.o.Evaluate {
		return 1
	}
	return int(math.Ceil(l.set.Weight(i)))
}

// perEpoch is how many utterances an epoch has.
func (l *Loader) perEpoch() int {
	if l.order == nil {
		return l.set.Len()
	}
	return l.order.total
}
