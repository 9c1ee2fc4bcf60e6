package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"konkanitrain/data/feature"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/op"
	"konkanitrain/recognize"
	"konkanitrain/update"
)

// PlanOptions say for which memory a run is planned, and with which utterances.
type PlanOptions struct {
	Out    io.Writer // what is to be said of manifests; nil: nothing
	Origin *Origin   // what FindOrigin has returned for a configuration that resumes; nil: a new run

	// Memory is what the run may hold in all, in bytes. 0: all of Card, or without one what a run here may hold.
	Memory int64
	// Card is the graphics card to plan for; nil: CPU cores.
	Card *Card

	// Seconds is the length of all utterances, at speed 1. 0: they are those of the manifests.
	Seconds float64
	// TokensPerSecond are the letters in a second of them.
	TokensPerSecond float64

	Page io.Writer // gets the picture of the largest programs' memory; nil: nobody wants it

	costs       *engine.Costs // for tests: what ops cost; nil: what Origin knows
	buffersOnly bool          // for tests: nothing beside buffers counts under the limit
}

// Plan says what a run takes in memory, and whether it fits, before anything is allocated or trained. Its buffers are
// those of [Run] with the same configuration, to the byte: the same shapes of the same epochs, dealt to as many workers
// and fitted in the same way, on a device that counts and keeps nothing. What the process holds beside them is foreseen
// as Run foresees it, from what is in use on the heap. Of sound files only headers are read, and nothing is written.
// The run is planned from its first update on, also where the configuration resumes one.
//
// A card is one worker whose micro-batches have up to batch_size rows. Its programs are those that a run on it has.
//
// A run that doesn't fit is no error, but for a huge network whose weights alone don't. An error says what in the
// configuration, the options or the manifests makes no run.
func Plan(ctx context.Context, cfg Config, o PlanOptions) (*PlanReport, error) {
	defer leanHeap()()
	p, err := newPlanner(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	defer p.replica.Close()
	report, err := p.plan()
	if err == nil && o.Page != nil {
		err = p.writePage(o.Page, report)
	}
	return report, err
}

// planner is a run that is planned and never made.
type planner struct {
	*run
	o       PlanOptions
	workers int       // of the replica; 0: not chosen yet
	speeds  []float64 // of utterances that are made up
	null    *engine.Null[update.Variant]
	whole   *passes // what it would send through the network with room for everything
	passes  *passes // what it will
}

func newPlanner(ctx context.Context, cfg Config, o PlanOptions) (*planner, error) {
	if err := o.Check(cfg); err != nil {
		return nil, err
	}
	given := cfg
	if cfg.Data.Normalize == feature.Global {
		cfg.Data.Normalize = feature.PerUtterance // its statistics change no size, and would read all sound
	}
	augment := cfg.Augment()
	speeds := augment.Played()
	if o.Seconds > 0 {
		cfg.Data.SpeedPerturb = false                            // they are made up at each speed
		cfg.Optimizer.NumEpochs, cfg.Optimizer.MaxUpdates = 1, 0 // which has all shapes
	}
	cfg.Run.ProfileSteps, cfg.Run.FindLR = 0, false
	report := newReporter(o.Out)
	p := &planner{run: &run{cfg: cfg, base: baseBytes(), buffersOnly: o.buffersOnly, report: report, ledger: newLedger(given, report)}, o: o, speeds: speeds}
	p.ledger.origin = &Origin{} // the vocabulary is that of the texts
	if err := p.ledger.findSource(); err != nil {
		return nil, err
	}
	if err := p.takeLessons(); err != nil {
		return nil, err
	}
	if err := p.load(ctx); err != nil {
		return nil, err
	}
	target := op.CPU
	if o.Card != nil {
		target = op.CUDA
	}
	network, err := update.NetworkOn(target, p.net, cfg.Tuning())
	if err != nil {
		return nil, err
	}
	p.library = engine.NewLibrary(network)
	p.library.Until = until(ctx)
	if o.Card != nil {
		p.workers = 1
	}
	return p, p.count()
}

// Check refuses options that make no plan with a configuration: what contradicts it, or would say nothing beside it.
func (o PlanOptions) Check(cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	d := cfg.Data
	switch {
	case o.Memory < 0:
		return fmt.Errorf("memory is %d bytes, want 1 or more", o.Memory)
	case o.Card != nil && o.Card.limitFrom == "" && cfg.Run.CPUWorkers > 0:
		return fmt.Errorf("cpu_workers is %d, and the plan is for the card %s, which is one worker: leave cpu_workers out (0)", cfg.Run.CPUWorkers, o.Card.Name)
	case o.Card != nil && o.Memory > o.Card.Memory:
		return fmt.Errorf("memory is %s, and the card %s has %s: give what of it is free, or leave memory out",
			words.Binary(o.Memory), o.Card.Name, words.Binary(o.Card.Memory))
	case (o.Memory > 0 || o.Card != nil && o.Card.limitFrom == "") && cfg.Run.MemoryLimit != "auto":
		return fmt.Errorf("memory_limit is %s, and the memory to plan for is given too: leave one of them out (memory_limit auto)", cfg.Run.MemoryLimit)
	case o.Seconds > 0 && anyGiven(slices.Concat(d.TrainManifest, d.ValManifest, d.TestManifest)):
		return errors.New("seconds makes utterances up, and a manifest lists others: leave seconds out, or the manifests (--train_manifest= --val_manifest= --test_manifest=)")
	case o.Seconds == 0 && !anyGiven(d.TrainManifest):
		return errors.New("there are no utterances to plan for: give train_manifest, or the length of all of them as --seconds 8")
	}
	return o.checkLengths(d)
}

// checkLengths is about utterances that are made up.
func (o PlanOptions) checkLengths(d DataConfig) error {
	switch {
	case o.Seconds == 0:
	case !(o.Seconds > 0 && o.Seconds <= 24*3600):
		return fmt.Errorf("seconds is %g, want more than 0 and at most a day", o.Seconds)
	case o.Seconds < d.MinDuration || d.MaxDuration > 0 && o.Seconds > d.MaxDuration:
		return fmt.Errorf("seconds is %g, and a run leaves utterances out that are shorter than min_duration %g or longer than max_duration %g: change one of them",
			o.Seconds, d.MinDuration, d.MaxDuration)
	case !(o.TokensPerSecond > 0 && o.TokensPerSecond <= 1000):
		return fmt.Errorf("tokens_per_second is %g, want more than 0 and at most 1000", o.TokensPerSecond)
	}
	return nil
}

// takeLessons takes over what the run that is gone on with has learned of the time that ops take.
func (p *planner) takeLessons() error {
	l := &p.ledger.state.Lessons
	if l.Costs = p.o.costs; l.Costs != nil || p.o.Origin == nil || p.o.Origin.Checkpoint == nil {
		return nil
	}
	var s state
	if err := json.Unmarshal(p.o.Origin.Checkpoint.RawState(), &s); err != nil {
		return fmt.Errorf("resume: the state in %s: %w", p.o.Origin.Checkpoint.Path, err)
	}
	l.Costs, p.ledger.state.Vocabulary, p.ledger.state.Source, p.ledger.state.Config = s.Lessons.Costs, s.Vocabulary, s.Source, s.Config
	return nil
}

// count makes the replica, on a device that keeps nothing, with as many workers as a run would have. For the replica
// there is no limit: what doesn't fit is to be counted too.
func (p *planner) count() error {
	limit, why, err := p.limit()
	if err != nil {
		return err
	}
	p.pool, p.limitFrom = device.NewPool(device.NewNull(0), limit), why
	p.host = p.pool // for a card, what else the process holds isn't counted at all
	if err := p.refuseHuge(); err != nil {
		return err
	}
	if p.workers == 0 {
		p.account(0)
		if p.workers, err = p.chooseWorkers(p.library); err != nil {
			return err
		}
	}
	p.pool.SetLimit(0)
	if p.o.Card != nil {
		p.null, err = engine.NewNullCard(p.pool, p.library, p.cfg.Run.FP16, true)
	} else {
		p.null, err = engine.NewNull(p.pool, p.library, p.workers, true)
	}
	if err != nil {
		return err
	}
	p.equip(p.null)
	p.pool.SetLimit(limit)
	return nil
}

// limit is the most that the run may hold, in bytes, and why.
func (p *planner) limit() (bytes int64, why string, err error) {
	switch {
	case p.o.Memory > 0:
		bytes, why = p.o.Memory, "as --memory says"
	case p.o.Card != nil:
		if bytes, why = p.o.Card.Memory, p.o.Card.limitFrom; why != "" {
			return bytes, why, nil // fractions included
		}
		why = "as PyTorch reports for it"
	default:
		return p.cfg.Run.memory().Budget()
	}
	if f, whole := p.cfg.Run.MemoryFraction, bytes; f > 0 {
		bytes, why = recognize.ShareOf(f, bytes), fmt.Sprintf("memory_fraction %g of %s, %s", f, words.Binary(whole), why)
	}
	return bytes, why, nil
}

// vocab is the size of the vocabulary where there are no texts.
func (p *planner) vocab() int {
	const usual = 100 // letters, digits and marks of a script such as Devanagari
	switch {
	case p.cfg.Model.VocabSize > 0:
		return p.cfg.Model.VocabSize
	case p.ledger.source != nil:
		return p.ledger.source.Vocabulary.Size()
	case p.ledger.state.Vocabulary.Tokenizer != nil:
		return p.ledger.state.Vocabulary.Size()
	}
	return usual
}

// load reads the manifests, or makes utterances up.
func (p *planner) load(ctx context.Context) (err error) {
	if err := p.loadNoise(ctx); err != nil {
		return err
	}
	vocab := 0
	if p.o.Seconds > 0 {
		vocab = p.vocab()
		if p.sets.train, err = p.madeUp(p.o.Seconds); err != nil {
			return err
		}
		p.sets.loader, err = p.madeUpLoader(p.sets.train)
	} else if err = p.loadData(ctx); err == nil {
		vocab = p.ledger.state.Vocabulary.Size()
	}
	p.net = p.cfg.Network(vocab)
	return err
}

// parameters are those of the network.
func (p *planner) parameters() model.Counts { return model.Count(p.net) }
