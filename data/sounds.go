package data

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"konkanitrain/internal/words"
)

// Sound is how a recording's samples are written.
type Sound struct {
	Rate     int // Hz
	Channels int
}

// soundLines says, once for the whole set, what is done with sound that is not of one channel at the run's rate.
func (r *Report) soundLines() (lines []string) {
	channels, rates := map[int]int{}, map[int]int{}
	mixed, low, lowest := 0, 0, 0
	for s, n := range r.Sounds {
		if s.Channels > 1 {
			channels[s.Channels] += n
			mixed += n
		}
		if s.Rate != r.SampleRate {
			rates[s.Rate] += n
		}
		if s.Rate < r.SampleRate {
			low += n
			lowest = max(lowest, s.Rate)
		}
	}
	if mixed > 0 {
		lines = append(lines, fmt.Sprintf("several channels, whose mean is used: %s", counts(channels, "with %d")))
	}
	if len(rates) > 0 {
		lines = append(lines, fmt.Sprintf("resampled to %d Hz: %s", r.SampleRate, counts(rates, "of %d Hz")))
	}
	if low == 0 {
		return lines
	}
	verb := "have"
	if low == 1 {
		verb = "has"
	}
	line := fmt.Sprintf("%s of less than %d Hz %s nothing in the upper part of the spectrum", words.Count(low, "utterance"), r.SampleRate, verb)
	if low == r.Kept {
		line += fmt.Sprintf("; for them alone, sample_rate %d says as much", lowest)
	}
	return append(lines, line)
}

// counts lists how many utterances there are of each sort, the most first.
func counts(by map[int]int, sort string) string {
	keys := slices.SortedFunc(maps.Keys(by), func(a, b int) int { return cmp.Or(by[b]-by[a], a-b) })
	var parts []string
	for i, k := range keys {
		if i == named && len(keys) > named+1 {
			rest := 0
			for _, k := range keys[i:] {
				rest += by[k]
			}
			parts = append(parts, fmt.Sprintf("%s of other rates", words.Count(rest, "utterance")))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %s", words.Count(by[k], "utterance"), fmt.Sprintf(sort, k)))
	}
	return strings.Join(parts, ", ")
}
