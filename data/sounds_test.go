package data

import (
	"strings"
	"testing"
)

func TestSoundLines(t *testing.T) {
	for _, c := range []struct {
		sounds map[Sound]int
		want   []string
	}{
		{map[Sound]int{{16000, 1}: 5}, nil},
		{map[Sound]int{{16000, 2}: 1, {16000, 6}: 2}, []string{"several channels, whose mean is used: 2 utterances with 6, 1 utterance with 2"}},
		{map[Sound]int{{48000, 1}: 3, {44100, 2}: 4, {16000, 1}: 9}, []string{
			"several channels, whose mean is used: 4 utterances with 2",
			"resampled to 16000 Hz: 4 utterances of 44100 Hz, 3 utterances of 48000 Hz",
		}},
		{map[Sound]int{{8000, 1}: 1, {16000, 1}: 9}, []string{
			"resampled to 16000 Hz: 1 utterance of 8000 Hz",
			"1 utterance of less than 16000 Hz has nothing in the upper part of the spectrum",
		}},
		{map[Sound]int{{8000, 1}: 2}, []string{
			"resampled to 16000 Hz: 2 utterances of 8000 Hz",
			"2 utterances of less than 16000 Hz have nothing in the upper part of the spectrum; for them alone, sample_rate 8000 says as much",
		}},
		{map[Sound]int{{1000, 1}: 1, {2000, 1}: 1, {3000, 1}: 1, {4000, 1}: 1, {5000, 1}: 1, {6000, 1}: 1, {7000, 1}: 1, {8000, 1}: 1, {9000, 1}: 1, {10000, 1}: 1, {16000, 1}: 1}, []string{
			"resampled to 16000 Hz: 1 utterance of 1000 Hz, 1 utterance of 2000 Hz, 1 utterance of 3000 Hz, 1 utterance of 4000 Hz, 1 utterance of 5000 Hz, " +
				"1 utterance of 6000 Hz, 1 utterance of 7000 Hz, 1 utterance of 8000 Hz, 2 utterances of other rates",
			"10 utterances of less than 16000 Hz have nothing in the upper part of the spectrum",
		}},
	} {
		r := &Report{SampleRate: 16000, Sounds: c.sounds}
		for _, n := range c.sounds {
			r.Kept += n
		}
		if got := r.soundLines(); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%v:\n%s\nwant\n%s", c.sounds, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		if s := r.String(); len(c.want) > 0 && !strings.Contains(s, "\n  "+c.want[0]) {
			t.Errorf("the report doesn't say it: %s", s)
		}
	}
}
