package data

import (
	"context"
	"math"
	"slices"

	"konkanitrain/data/audio"
	"konkanitrain/data/cut"
)

// measured is in how many utterances of a set Phrases measures the quiet: enough for the middle one, and soon read.
const measured = 50

// Phrases says what the utterances of a set are like, so that long recordings can be cut into pieces like them. Lengths
// are those of all utterances, as their speed is without augmentation; quiet is measured in some, spread evenly over
// the set, without those that can't be read and those in which nothing is said. The error is the context's.
func Phrases(ctx context.Context, s *Set) (cut.Phrases, error) {
	var p cut.Phrases
	n := s.Len()
	if n == 0 {
		return p, nil
	}
	seconds := make([]float64, n)
	for i := range n {
		samples, rate := s.sound(i)
		seconds[i] = float64(samples) / float64(max(rate, 1))
	}
	p.Typical, p.Longest = middle(seconds), quantile(seconds, nearlyAll)
	var reader audio.Reader
	var before, within, behind []float64
	for k := range min(measured, n) {
		if ctx.Err() != nil {
			return p, context.Cause(ctx)
		}
		u := s.At(k * n / min(measured, n))
		wave, _, err := u.read(&reader)
		if err != nil {
			continue // is found, and told, where it is trained on
		}
		if a, b, c, ok := cut.Quiet(wave, u.Rate()); ok {
			before, within, behind = append(before, a), append(within, b), append(behind, c)
		}
	}
	p.Before, p.Within, p.Behind = quiet(middle(before)), quiet(quantile(within, common)), quiet(middle(behind))
	p.MostBefore, p.MostBehind = quiet(quantile(before, common)), quiet(quantile(behind, common))
	return p, nil
}

// nearlyAll is the share of the utterances that are no longer than the longest is said to be: of single words some are
// not cut out of their recordings, and with the length of such a one several words would be taken for one.
const nearlyAll = 0.99

// common is what this share of the utterances has, or less of it.
const common = 0.9

// leastQuiet is the least quiet, in seconds, that is more than a word's soft first or last sound.
const leastQuiet = 0.05

// quiet is so many seconds of quiet, 0 of what may be a sound.
func quiet(seconds float64) float64 {
	if seconds < leastQuiet {
		return 0
	}
	return seconds
}

// middle is the lower median, 0 of nothing.
func middle(x []float64) float64 { return quantile(x, 0.5) }

// quantile is the lowest value that a share of all are not above, 0 of nothing.
func quantile(x []float64, share float64) float64 {
	if len(x) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(x))[max(int(math.Ceil(share*float64(len(x))))-1, 0)]
}
