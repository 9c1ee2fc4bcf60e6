package data

import (
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
	for _, u := range l.utterances {
		m.Sound += waveBytes(u.Samples)
	}
	m.Sound = min(m.Sound, l.o.CacheWaves)
	var ratios []audio.Ratio
	known := map[rated]bool{}
	most := int64(0) // of one worker
	for _, u := range l.utterances {
		read := audio.ReadBytes(u.Samples)
		for _, speed := range l.speeds() {
			ratio, err := audio.Convert(u.Rate(), l.o.Feature.SampleRate, speed)
			if err != nil {
				continue // was refused when the Loader was made
			}
			if k := (rated{u.Rate(), speed}); !known[k] {
				known[k] = true
				ratios = append(ratios, ratio)
			}
			if scratch, err := l.o.Feature.ScratchBytes(u.Samples, u.Rate(), speed); err == nil {
				most = max(most, read+scratch+l.o.Feature.Resampler.ScratchBytes(u.Samples, ratio))
			}
		}
	}
	m.Scratch = int64(l.o.Workers)*most + l.o.Feature.Resampler.KernelBytes(ratios)
	return m
}

// rated is a rate and a speed, which have a kernel.
type rated struct {
	rate  int
	speed audio.Ratio
}

// speeds are all that an utterance may be played at.
func (l *Loader) speeds() []audio.Ratio {
	speeds := []audio.Ratio{{P: 1, Q: 1}}
	if l.o.Augment != nil && len(l.o.Augment.Speeds) > 0 {
		speeds = speeds[:0]
		for _, f := range l.o.Augment.Speeds {
			if r, err := audio.Speed(f); err == nil {
				speeds = append(speeds, r)
			}
		}
	}
	return speeds
}

// mostFeatures is what the features of the windows that exist at the same time take at most, in bytes: the window in
// use, those that are ready, and the one that is being made. An epoch has each utterance once; windows of two epochs
// may exist at the same time.
func (l *Loader) mostFeatures() int64 {
	longest := make([]int64, len(l.utterances))
	for i, u := range l.utterances {
		for _, speed := range l.speeds() {
			longest[i] = max(longest[i], 4*int64(bufferLen(l.frames(u, speed), l.bins)))
		}
	}
	slices.Sort(longest)
	slices.Reverse(longest)
	windows, epochs := l.o.Ahead+1, 1
	if l.o.Peeks {
		windows++
	}
	if l.o.Evaluate {
		windows = min(windows, l.Windows())
	} else {
		epochs += (windows - 2 + l.Windows()) / l.Windows() // that so many windows in a row touch
	}
	left, sum := windows*min(l.o.Window, len(longest)), int64(0)
	for _, bytes := range longest {
		times := min(epochs, left)
		sum += int64(times) * bytes
		left -= times
	}
	return sum
}
