package train

import (
	"fmt"

	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/recognize"
)

// blanks says what is odd about the blanks of a validation, by the likeliest label of each true frame. The state keeps
// what was said last, so that it is said once for each change, and a resumed run says what the straight one does.
type blanks string

const (
	usualBlanks blanks = ""
	fewBlanks   blanks = "few"  // blank is hardly ever said
	manyBlanks  blanks = "many" // hardly anything else is said
	onlyBlanks  blanks = "only" // nothing comes out at all
)

// Shares of the frames below and above which blanks are few and many.
const (
	leastBlanks = 0.05
	mostBlanks  = 0.98
)

// What few and many blanks mean.
const (
	fewBlanksMean  = "the network hardly ever says blank: it holds each letter until the next, letters that are written twice come out once, and pauses are letters"
	manyBlanksMean = "hardly anything but blank comes out"
)

// usualBias is the blank_bias of the presets, in nats.
const usualBias = 3

// short is the number of updates behind which a run is judged in any case: a third of its epochs, three at least.
func (r *run) short() int { return max(3*r.sets.loader.Windows(), r.all()/3) }

// alarmFrom is the update from which on an output that is empty gives an alarm.
func (r *run) alarmFrom() int { return min(r.cfg.Run.BlankAlarm, r.short()) }

// blanksFrom is the update from which on few and many blanks give a warning: behind the warm-up too, during which many
// are usual.
func (r *run) blanksFrom() int {
	return min(max(r.cfg.Run.BlankAlarm, r.ledger.state.Warmup.Updates), r.short())
}

// judgeBlanks says what is odd about the blanks of a validation. It is not known of one that has read nothing, and
// while it is too early.
func (r *run) judgeBlanks(e *recognize.Evaluation) (b blanks, known bool) {
	n, s := r.updater.Updates, &e.Score
	switch {
	case s.Utterances == 0:
		return usualBlanks, false
	case s.EmptyHyps == s.Utterances && n >= r.alarmFrom():
		return onlyBlanks, true
	case n < r.blanksFrom():
		return usualBlanks, false
	case e.BlankShare < leastBlanks:
		return fewBlanks, true
	case e.BlankShare > mostBlanks:
		return manyBlanks, true
	}
	return usualBlanks, true
}

// sayBlanks says what is odd about the blanks of a validation, where that isn't what was said last.
func (r *run) sayBlanks(e *recognize.Evaluation, said *blanks) {
	b, known := r.judgeBlanks(e)
	if !known || b == *said || b == manyBlanks && *said == onlyBlanks {
		return
	}
	*said = b
	n := words.Count(r.updater.Updates, "update")
	share := fmt.Sprintf("%.1f %% of the frames of %s", 100*e.BlankShare, words.Count(e.Score.Utterances, "validation utterance"))
	switch b {
	case onlyBlanks:
		r.report.say("ALARM: after %s the output is empty for all %d validation utterances; %.1f %% of the frames are blank. %s",
			n, e.Score.Utterances, 100*e.BlankShare, r.blankCauses())
	case manyBlanks:
		r.report.say("WARNING: after %s blank is the likeliest in %s, more than %g %%: %s, and nothing at all for %d of them; %s. %s",
			n, share, 100*mostBlanks, manyBlanksMean, e.Score.EmptyHyps, r.density(), r.blankCauses())
	case fewBlanks:
		o := r.cfg.Optimizer
		r.report.say("WARNING: after %s blank is the likeliest in %s only, less than %g %%: %s; %s. %s (learning_rate %g, %s, %s in an update)",
			n, share, 100*leastBlanks, fewBlanksMean, r.density(), r.fewBlanksCure(), o.LearningRate, r.warmupSetting(), words.Count(r.cfg.Window(), "utterance"))
	default:
		r.report.say("after %s blank is the likeliest in %s, as is usual", n, share)
	}
}

// fewBlanksCure is what to do about few blanks: what keeps most runs from them, or else more of it.
func (r *run) fewBlanksCure() string {
	m := r.cfg.Model
	if m.BlankBias >= usualBias && r.cfg.Run.InitFrom == "" {
		return fmt.Sprintf("Few get out of this by themselves, and this one began with blank_bias %g and branch_shrink %g: begin anew with more of both, "+
			"a lower learning_rate or more light_first_epochs", m.BlankBias, m.BranchShrink)
	}
	return fmt.Sprintf("Few get out of this by themselves, and a run that begins with blanks keeps from it: begin anew with blank_bias %d and branch_shrink 0.8, "+
		"as configs/ten_minutes.yaml does; light_first_epochs and a lower learning_rate help too", usualBias)
}

// blankCauses is what may have led to an output of blanks.
func (r *run) blankCauses() string {
	unknown := ""
	if u := r.sets.train.Report.Unknown; u.Share() > 0.01 {
		unknown = fmt.Sprintf(" (%.0f %% of the letters are)", 100*u.Share())
	}
	return fmt.Sprintf("Likely causes: a learning rate that is too high or a warm-up that is too short (learning_rate %g, %s); "+
		"too little data (%s, %.1f minutes) or too few updates; texts that don't belong to the sound; "+
		"letters outside the vocabulary%s; a subsampling of %d that leaves too few frames",
		r.cfg.Optimizer.LearningRate, r.warmupSetting(), words.Count(r.sets.train.Len(), "utterance"), r.sets.train.Seconds()/60, unknown, r.cfg.Model.Subsampling)
}

// density says how many tokens the validation set has for its encoder frames, which bounds what can be blank.
func (r *run) density() string {
	set, tokens, encoded := r.sets.val.set, 0, 0
	for i := range set.Len() {
		tokens += set.Tokens(i)
		encoded += model.Shape{Frames: set.Frames(i)}.Encoded(r.net)
	}
	share := float64(tokens) / max(float64(encoded), 1)
	s := fmt.Sprintf("the texts have %.1f tokens for 100 frames", 100*share)
	if share > 0.5 {
		s += fmt.Sprintf(", so that at a subsampling of %d there is little room for blanks", r.cfg.Model.Subsampling)
	}
	return s
}
