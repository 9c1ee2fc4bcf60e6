package audit

import (
	"fmt"
	"math"
)

// From what on sound is named.
const (
	muchClipped  = 0.002 // of the samples
	longSilence  = 2     // seconds, at one end
	mostlySilent = 0.8   // of the frames
	veryQuiet    = -50   // dBFS
	largeOffset  = 0.01  // of full scale, and
	offsetUnder  = 20    // dB that it lies under the level at most
)

// judgeSound finds what is odd about single sounds.
func (a *audit) judgeSound() {
	var unreadable, silent, noise, clipped, ends, quiet, offset group
	for _, t := range a.errors {
		unreadable.add(a.item(t.at, 0, "%s", t.why))
	}
	for i := range a.all {
		e := &a.all[i]
		add := func(g *group, score float32, format string, args ...any) {
			g.add(a.item(i, float64(score), format, args...))
		}
		switch e.state {
		case unheard, broken:
			continue
		case allQuiet:
			add(&silent, e.level, "%s", silenceText(e))
			continue
		case steady:
			add(&noise, float32(e.seconds), "%.1f s that are all equally loud, within %d dB", e.seconds, steadyWithin)
		}
		if e.clipped >= muchClipped {
			add(&clipped, e.clipped, "%.3g %% of the samples are clipped", 100*e.clipped)
		}
		if end := max(e.leading, e.trailing); end >= longSilence || e.silent >= mostlySilent {
			add(&ends, max(end, e.silent*float32(e.seconds)), "%.1f s of silence before and %.1f s behind, %.0f %% in all of %.1f s",
				e.leading, e.trailing, 100*e.silent, e.seconds)
		}
		if e.level < veryQuiet {
			add(&quiet, -e.level, "%.0f dBFS", e.level)
		}
		if dc := math.Abs(float64(e.offset)); dc >= largeOffset && 20*math.Log10(dc) > float64(e.level)-offsetUnder {
			add(&offset, float32(dc), "the mean of the samples is %.3f of full scale", e.offset)
		}
	}
	a.find("unreadable", Fault, unreadable, "%s a header that promises sound, and no sound that can be read", "utterance has", "utterances have")
	a.find("silent", Fault, silent, "%s silent from the first to the last sample", "utterance is", "utterances are")
	a.find("steady", Doubt, noise, "%s all noise or tone: nobody seems to speak", "utterance is", "utterances are")
	a.find("clipped", Doubt, clipped, "%s overdriven: waves are cut off at full scale", "utterance is", "utterances are")
	a.find("long_silence", Remark, ends, "%s mostly silent, or for 2 s and more at an end", "utterance is", "utterances are")
	a.find("quiet", Remark, quiet, "%s very quiet, under -50 dBFS", "utterance is", "utterances are")
	a.find("offset", Remark, offset, "%s a constant offset: the recorder adds direct current", "utterance has", "utterances have")
	a.judgeSampleRates()
}

func silenceText(e *entry) string {
	if e.level <= -200 {
		return fmt.Sprintf("every sample is %v", e.offset)
	}
	return fmt.Sprintf("%.0f dBFS", e.level)
}

// judgeSampleRates finds sound without the upper part of the band that is asked for.
func (a *audit) judgeSampleRates() {
	var low group
	rate := 0
	for i := range a.all {
		e := &a.all[i]
		if rate = a.sets[e.set].Set.SampleRate; int(e.rate) < rate {
			low.add(a.item(i, float64(rate-int(e.rate)), "recorded at %d Hz", int(e.rate)))
		}
	}
	title := fmt.Sprintf("%%s recorded at less than sample_rate, %d Hz: the upper part of the band is empty", rate)
	if low.count == len(a.all) && low.count > 0 {
		low.items = nil // it is so everywhere
		title = fmt.Sprintf("%%s recorded at less than sample_rate, %d Hz: no utterance needs that much", rate)
	}
	a.find("low_rate", Remark, low, title, "utterance is", "utterances are")
}
