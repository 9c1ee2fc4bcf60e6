package train

import (
	"fmt"

	"konkanitrain/internal/settings"
	"konkanitrain/internal/words"
	"konkanitrain/update"
)

// trend watches over the training loss: one that was at least twice its best for a while won't come back by itself.
// It is a part of the state, and so goes on where a run is resumed.
//
// The loss is that of a second of sound, for windows hold utterances of different lengths, in a mean whose weights fall
// by a 20th with each update.
type trend struct {
	Loss  float64 `json:"loss"`    // nats, and
	Audio float64 `json:"audio"`   // seconds of sound, summed with these weights
	Count int     `json:"count"`   // updates in them
	First float64 `json:"first"`   // the first mean, nats per second
	Best  float64 `json:"best"`    // the lowest one, and
	At    int     `json:"best_at"` // the update after which it was
	High  int     `json:"high"`    // updates in a row with twice as much or more
	Said  bool    `json:"said,omitempty"`
}

const (
	trendSpan   = 20   // updates that the mean is over, roughly
	trendHigh   = 50   // updates in a row that are no accident
	trendFactor = 2    // times the best
	trendLow    = 0.05 // share of the first mean: a loss below is small, and may double by chance
)

// mean is the loss now, in nats per second of sound.
func (t *trend) mean() float64 { return t.Loss / t.Audio }

// add takes the update with this number, and says whether it is time to warn: once in a run.
func (t *trend) add(out update.Outcome, number int) bool {
	const keep = 1 - 1./trendSpan
	t.Loss, t.Audio, t.Count = keep*t.Loss+out.Loss, keep*t.Audio+out.Audio, t.Count+1
	if t.Count < trendSpan || t.Audio <= 0 {
		return false
	}
	mean := t.mean()
	if t.First == 0 {
		t.First, t.Best, t.At = mean, mean, number
	}
	if mean < t.Best {
		t.Best, t.At = mean, number
	}
	if mean < trendFactor*t.Best || mean < trendLow*t.First {
		t.High = 0
		return false
	}
	t.High++
	if t.High < trendHigh || t.Said {
		return false
	}
	t.Said = true
	return true
}

// retrend takes notice of a resume with another value of a setting: where the same weights have other losses then, for
// what is heard and read, or what of the network is no weight, the trend begins anew; with another learning rate it may
// warn once more.
func (c *Config) retrend(t *trend, key string) {
	set, err := settings.Of(c)
	if err != nil {
		return // the settings were read before
	}
	switch x := set.Lookup(key); {
	case x == nil || x.Group == "Data" || x.Group == "Model":
		*t = trend{}
	case x.Group == "Optimizer":
		t.High, t.Said = 0, false
	}
}

// watch looks at the loss of an update that was made, and says what to do where it diverges. The trend begins behind
// the sorted epochs: in these utterances get longer, and a second of long ones may well have a multiple of the loss. In
// a range test it is to diverge.
func (r *run) watch(out update.Outcome) {
	t := &r.ledger.state.Trend
	if r.epoch() <= r.cfg.Data.SortFirstEpochs {
		*t = trend{}
		return
	}
	if r.finding != nil || !t.add(out, r.updater.Updates) {
		return
	}
	start := "begin anew"
	if r.ledger.best != "" {
		start = fmt.Sprintf("begin anew, from the best checkpoint so far if you like (--init_from %s),", words.Shell(r.ledger.best))
	}
	r.report.say("WARNING: the training loss diverges: for %d updates it has been at least twice its best (%.3g nats per second of sound now, "+
		"%.3g after update %d). More updates seldom help: stop this run (Ctrl-C) and %s with a lower learning_rate (it is %g, after a warm-up of %s), "+
		"or look whether all texts belong to their sound",
		t.High, t.mean(), t.Best, t.At, start, r.cfg.Optimizer.LearningRate, r.warmupSetting())
}
