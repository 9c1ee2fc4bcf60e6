package train

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"konkanitrain/checkpoint"
	"konkanitrain/data"
	"konkanitrain/internal/control"
	"konkanitrain/internal/scores"
	"konkanitrain/internal/watch"
	"konkanitrain/update"
)

// openPage takes the address at which the run can be seen, before anything is loaded: where it can't be had, nothing
// was begun. Whoever comes before the run has begun waits.
func (r *run) openPage() error {
	text, public := r.cfg.Run.Listen, r.cfg.Run.ListenPublic
	if r.cfg.Run.measuring() {
		r.sayUnshown()
		return nil
	}
	if text == "" {
		return nil
	}
	address, err := watch.ParseAddress(text, public)
	if err == nil {
		r.remote.listener, err = address.Listen(public)
	}
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	r.report.say("page: %s shows this run", r.remote.listener.URL)
	if r.remote.listener.Public {
		r.report.say(watch.Exposed)
	}
	return nil
}

// sayUnshown says of the settings that show a run that they show nothing of one that only measures.
func (r *run) sayUnshown() {
	c := r.cfg.Run
	c.FindLR, c.ProfileSteps = false, 0
	for _, shown := range []struct {
		key string
		set bool
	}{{"listen", c.showsPage()}, {"tensorboard", c.showsBoard()}, {"mlflow", c.tracked()}} {
		if shown.set {
			r.report.say("NOTE: %s has no effect: a run that only measures records nothing to show", shown.key)
		}
	}
}

// show begins to answer viewers. All that they see but the memory that is held now is read from the run's files.
func (r *run) show() error {
	if r.remote.listener == nil {
		return nil
	}
	server, err := watch.New(r.remote.listener, []watch.Source{{
		Name: filepath.Clean(r.cfg.Run.CheckpointDir), Logs: r.logDir(), Run: r.logRun(), Dir: r.ledger.dir,
		Info: func() *control.Info { i := r.info(); return &i },
		Find: r.findScored,
	}})
	if err != nil {
		return err
	}
	r.remote.page = server
	go func() { _ = server.Serve() }() // where it ends early, viewers see that it doesn't answer; training goes on
	return nil
}

// findScored finds an utterance of the validation set; nil where it has none like it.
func (r *run) findScored(u *scores.Utterance) *data.Utterance {
	if r.sets.val == nil {
		return nil
	}
	for i, set := 0, r.sets.val.set; i < set.Len(); i++ {
		if one := set.At(i); one.ID == u.ID && one.File == u.Manifest && one.Line == u.Line {
			return one
		}
	}
	return nil
}

// showsPage says whether a page is asked for.
func (c RunConfig) showsPage() bool { return c.Listen != "" && !c.measuring() }

// mostStretches is in how many parts a step of training is recorded.
const mostStretches = 240

// recordStep writes down who holds what memory over the largest pass of training to come, for whoever looks at the run.
// Training doesn't depend on it.
func (r *run) recordStep(p *passes) error {
	if r.cfg.Run.measuring() || len(p.training) == 0 {
		return nil
	}
	largest, _, err := update.NewRunner(r.net, r.replica, r.cfg.Optimizer.BatchSize).Largest(p.training)
	if err != nil {
		return err
	}
	program, err := r.library.Program(largest.Variant)
	if err != nil {
		return err
	}
	name := pictureName(largest.Variant)
	shown := picture(name, program)
	step := watch.Step{Program: name, Workers: r.replica.Wishes().Workers, Arena: shown.Size, Kernels: len(shown.Steps)}
	if step.Run = r.logRun(); step.Run != "" {
		if step.Logs, err = filepath.Abs(r.logDir()); err != nil {
			return err
		}
	}
	for _, h := range shown.Holdings(mostStretches) {
		step.Parts = append(step.Parts, watch.Part{Name: h.Name, Kind: h.Kind, Held: h.Bytes})
	}
	for _, h := range r.pool.Holders() {
		if !strings.HasPrefix(h.Name, "arena") {
			step.Fixed = append(step.Fixed, watch.Amount(h))
		}
	}
	r.remote.step = &step
	r.writeStep()
	return nil
}

// writeStep writes the step into checkpoint_dir.
func (r *run) writeStep() {
	if r.remote.step == nil {
		return
	}
	path := filepath.Join(r.ledger.dir, watch.StepFile)
	if err := checkpoint.ReplaceFile(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(r.remote.step) }); err != nil {
		r.report.say("NOTE: the memory of a step is not recorded: %v", err)
	}
}
