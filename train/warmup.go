package train

import (
	"fmt"
	"math"

	"konkanitrain/internal/words"
)

// warmup is how long the learning rate rises. It is a part of the state: what becomes of the number of epochs or of the
// training set later doesn't change a share that was begun with.
type warmup struct {
	Share   float64 `json:"share,omitempty"` // the setting warmup_share that it comes from; 0: warmup_updates
	Updates int     `json:"updates"`
}

// setWarmup finds the length of the warm-up: a checkpoint's, where warmup_share is what it was then, or a new one. A
// new run whose epochs are over while the rate still rises is refused.
func (r *run) setWarmup() error {
	o, w := r.cfg.Optimizer, &r.ledger.state.Warmup
	switch {
	case o.WarmupShare == 0:
		*w = warmup{Updates: o.WarmupUpdates}
	case w.Share != o.WarmupShare:
		*w = warmup{o.WarmupShare, shareOf(r.all(), o.WarmupShare)}
	}
	if all := r.all(); w.Updates > all && !o.LongWarmup && r.ledger.origin.Checkpoint == nil && !r.cfg.Run.measuring() {
		return fmt.Errorf("%s, with the last of %s: it gets only to %.3g %% of learning_rate; %s, or --long_warmup if this is meant",
			r.rises(all), words.Count(o.NumEpochs, "epoch"), 100*float64(all)/float64(w.Updates), r.shorter(all))
	}
	return nil
}

// all is the number of updates of all epochs, if none is skipped. max_updates is a place to stop at, which a run may be
// resumed behind.
func (r *run) all() int { return r.cfg.Optimizer.NumEpochs * r.sets.loader.Windows() }

// warnOfWarmup says where the rate still rises when training ends, or where its peak comes late. Of a warm-up that is
// over when a run is resumed there is nothing left to say.
func (r *run) warnOfWarmup() {
	w, total := r.ledger.state.Warmup.Updates, r.total()
	switch {
	case r.cfg.Run.measuring() || r.ended() || r.ledger.begun >= w:
	case w > total:
		r.report.say("WARNING: %s: it gets only to %.3g %% of learning_rate; %s", r.rises(total), 100*r.ledger.state.Schedule.Rate(total)/r.cfg.Optimizer.LearningRate, r.shorter(total))
	case w > mostWarmup(total):
		r.report.say("WARNING: %s: %.0f %% of the training, where a third or less is usual; %s",
			r.rises(total), 100*float64(w)/float64(total), r.shorter(total))
	}
}

// rises says how long the rate rises, of so many updates.
func (r *run) rises(total int) string {
	return fmt.Sprintf("the learning rate rises for %s (%s), and training ends after %d", words.Count(r.ledger.state.Warmup.Updates, "update"), r.warmupSetting(), total)
}

// shorter is the advice for a run of so many updates: flags with which the warm-up is no more than a third of it. A
// share is one of all epochs, whatever max_updates is.
func (r *run) shorter(total int) string {
	w := r.ledger.state.Warmup
	if total < r.last() {
		return fmt.Sprintf("give --warmup_updates %s, or train longer", orLess(mostWarmup(total)))
	}
	advice := "give "
	if w.Share != usualShare {
		advice += fmt.Sprintf("--warmup_share %g (%s), or ", usualShare, words.Count(shareOf(total, usualShare), "update"))
	}
	advice += "--warmup_updates " + orLess(mostWarmup(total))
	if windows := r.sets.loader.Windows(); w.Updates <= mostEpochs*windows/3 {
		advice += fmt.Sprintf(", or --num_epochs %d or more", (3*w.Updates+windows-1)/windows)
	}
	return advice
}

// mostEpochs is the most that num_epochs may be.
const mostEpochs = 1_000_000_000

// orLess is a number of which less will do, where there is less than it.
func orLess(n int) string {
	if n == 1 {
		return "1"
	}
	return fmt.Sprintf("%d or less", n)
}

// usualShare of a run's updates is a warm-up that suits most runs, as most presets have it.
const usualShare = 0.1

// shareOf is the number of updates of a share of all.
func shareOf(all int, share float64) int { return max(1, int(math.Round(share*float64(all)))) }

// mostWarmup is the longest warm-up of a run of so many updates that isn't warned of: a third of it.
func mostWarmup(total int) int { return max(1, total/3) }

// warmupSetting is the setting that the warm-up comes from, with its value.
func (r *run) warmupSetting() string {
	if s := r.ledger.state.Warmup.Share; s > 0 {
		return fmt.Sprintf("warmup_share %g", s)
	}
	return fmt.Sprintf("warmup_updates %d", r.ledger.state.Warmup.Updates)
}
