package train

import (
	"fmt"

	"konkanitrain/internal/rangetest"
	"konkanitrain/internal/words"
	"konkanitrain/update"
)

// rate is the learning rate of an update, by its number.
func (r *run) rate(update int) float64 {
	if r.finding != nil {
		return rangetest.Rate(update - r.ledger.begun)
	}
	return r.ledger.state.Schedule.Rate(update)
}

// setSchedule finds the learning rate of each update, by the settings and the training set of now: with other
// num_epochs than its checkpoint's a run comes to the end of its schedule there. What becomes of the rate is said.
func (r *run) setSchedule() {
	o, s := r.cfg.Optimizer, &r.ledger.state
	before := s.Schedule
	s.Schedule = update.Schedule{Kind: o.Schedule, Peak: o.LearningRate, Warmup: s.Warmup.Updates, Final: o.FinalRate}
	if s.Schedule.Ends() {
		s.Schedule.Total = r.last()
	}
	if before == (update.Schedule{}) || before == s.Schedule || r.ended() {
		return
	}
	next := s.Progress.Updates + 1
	r.report.say("NOTE: the learning rate follows another schedule than in the checkpoint (%v): update %d has %.3g, and would have had %.3g",
		before, next, s.Schedule.Rate(next), before.Rate(next))
}

// last is the number of the update that ends the last epoch, if no window from here on is skipped. Windows that were
// skipped count: a run that is resumed has the last update that it always had. They may have been of another size.
func (r *run) last() int {
	p := &r.ledger.state.Progress
	return p.Updates + p.Skipped + max(0, r.all()-p.Epoch*r.sets.loader.Windows()-p.Window)
}

// sayRates says which way the learning rate goes, unless it is the usual one.
func (r *run) sayRates() {
	if s := r.ledger.state.Schedule; s.Kind != update.Noam && !r.cfg.Run.measuring() && !r.ended() {
		r.report.say("learning rate: %v", s)
	}
}

// warnOfSchedule says at which rate training ends where max_updates ends it before the schedule has come to its end.
func (r *run) warnOfSchedule() {
	o, s, total := r.cfg.Optimizer, r.ledger.state.Schedule, r.total()
	if r.cfg.Run.measuring() || r.ended() || !s.Ends() || total >= s.Total || total < s.Warmup {
		return
	}
	advice := "leave max_updates out"
	if epochs := r.begins(); epochs < o.NumEpochs {
		advice = fmt.Sprintf("set num_epochs to %d, or %s", epochs, advice)
	}
	r.report.say("WARNING: training ends after %s (max_updates), and the learning rate (schedule %s) falls until update %d, with the last of %s: "+
		"it will stand at %.3g, %.3g %% of learning_rate; %s, unless the run is to be resumed",
		words.Count(total, "update"), s.Kind, s.Total, words.Count(o.NumEpochs, "epoch"), s.Rate(total), 100*s.Rate(total)/s.Peak, advice)
}

// begins is the number of epochs that are begun before training ends, if no window from here on is skipped: num_epochs,
// or fewer where max_updates ends it.
func (r *run) begins() int {
	p, windows := &r.ledger.state.Progress, r.sets.loader.Windows()
	done := p.Epoch*windows + p.Window
	left := r.all() - done
	if m := r.cfg.Optimizer.MaxUpdates; m > 0 {
		left = min(left, m-p.Updates)
	}
	return (done + left + windows - 1) / windows
}

// warnOfLightEpochs says where the last epoch's augmentation is still lighter than the settings say.
func (r *run) warnOfLightEpochs() {
	light, epochs := r.cfg.Data.LightFirstEpochs, r.begins()
	if r.cfg.Run.measuring() || r.ended() || epochs > light {
		return
	}
	has, advice := "", fmt.Sprintf("train longer, or set light_first_epochs to %d", epochs/3)
	if epochs < r.cfg.Optimizer.NumEpochs {
		has, advice = " (max_updates)", advice+", unless the run is to be resumed"
	}
	r.report.say("WARNING: augmentation grows over %s (light_first_epochs), and training has %d%s: in the last one it gets only to %.0f %% of its strength; %s",
		words.Count(light, "epoch"), epochs, has, 100*float64(epochs-1)/float64(light), advice)
}
