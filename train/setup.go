package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"konkanitrain/checkpoint"
	"konkanitrain/data"
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/model"
)

// setUp brings a run to the point where its first update can be made. What can be refused is refused before
// anything large is allocated.
func setUp(ctx context.Context, cfg Config, out io.Writer) (*trainer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if out == nil {
		out = io.Discard
	}
	if cfg.Data.TrainManifest == "" {
		return nil, errors.New("train_manifest is not set: there is nothing to train on")
	}
	chosen, why, err := ChooseDevice(cfg.Run.Device)
	if err != nil {
		return nil, err
	}
	t := &trainer{cfg: cfg, started: time.Now(), warned: map[string]bool{}, report: newReporter(out, 0, 0)}
	t.report.bar = nil // lines only, until the number of updates is known
	t.report.say("device: %s (%s)", chosen, why)
	from, err := t.findCheckpoint()
	if err != nil {
		return nil, err
	}
	if err := t.loadData(ctx, from); err != nil {
		return nil, err
	}
	if err := t.allocate(); err != nil {
		return nil, err
	}
	if err := t.restore(from); err != nil {
		t.close()
		return nil, err
	}
	if err := t.plan(); err != nil {
		t.close()
		return nil, err
	}
	if err := t.makeRoom(); err != nil {
		t.close()
		return nil, err
	}
	if w := shortOfPeak(t.cfg.Optimizer.WarmupUpdates, t.total()); w != "" && !t.profiling() && !t.ended() {
		t.report.say("%s", w)
	}
	t.record("start", map[string]any{
		"update": t.optimizer.Updates, "parameters": t.state.Parameters, "workers": len(t.crew.Workers), "config": t.state.Config,
	})
	t.report = newReporter(out, t.total(), t.optimizer.Updates)
	return t, nil
}

// ChooseDevice says what a device setting means here, and why. This build computes on the CPU; cuda is refused,
// never replaced in silence.
func ChooseDevice(name string) (chosen, why string, err error) {
	switch name {
	case "cpu":
		return "cpu", "as asked for", nil
	case "auto":
		return "cpu", "auto: this build has no CUDA support", nil
	case "cuda":
		return "", "", errors.New("device cuda: this build of konkanitrain has no CUDA support; use --device cpu, or --device auto to take what there is")
	}
	return "", "", fmt.Errorf("device is %q, want auto, cpu or cuda", name)
}

// makeRoom removes the checkpoints that keep_last doesn't ask for before the first save: a run that has filled its disk
// can go on with fewer. Where the run doesn't go on from the newest one, that one is damaged, and the others stay.
func (t *trainer) makeRoom() error {
	entries, err := checkpoint.List(t.cfg.Run.CheckpointDir)
	if n := len(entries); err != nil || n == 0 || t.profiling() || filepath.Clean(entries[n-1].Path) != filepath.Clean(t.last) {
		return err
	}
	for _, path := range t.prune() {
		t.report.say("removed %s: keep_last is %d", path, t.cfg.Run.KeepLast)
	}
	return nil
}

// loadData reads manifests, vocabulary and statistics, and makes the loaders.
func (t *trainer) loadData(ctx context.Context, from *checkpoint.Checkpoint) error {
	cfg := t.cfg
	var err error
	t.policy = cfg.Policy()
	if t.train, err = loadManifest(cfg.Data.TrainManifest, cfg, true); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if t.vocab, err = t.vocabulary(from); err != nil {
		t.report.say("%v", t.train.Report) // what was left out may be why
		return err
	}
	if t.state.Stats, err = t.statistics(ctx, from); err != nil {
		return err
	}
	if err := t.tokenise(t.train, cfg.Model.DecoderLayers == 0); err != nil {
		return err
	}
	augment := cfg.Augment()
	t.loader, err = data.NewLoader(t.train, data.LoaderOptions{
		Seed: cfg.Run.Seed, Window: cfg.Window(), Augment: &augment, Feature: cfg.Features(t.state.Stats),
		Workers: cfg.Data.NumWorkers, CacheWaves: cacheWaves,
	})
	if err != nil {
		return err
	}
	if t.val, err = t.evaluator(cfg.Data.ValManifest); err != nil {
		return err
	}
	t.test, err = t.evaluator(cfg.Data.TestManifest)
	return err
}

// cacheWaves is how much decoded sound of a training set stays in memory, in bytes: 18 minutes at 16 kHz.
const cacheWaves = 64 << 20

// loadManifest reads a set. Limits on length are for training only.
func loadManifest(path string, cfg Config, training bool) (*data.Set, error) {
	o := data.Options{
		SampleRate: cfg.Data.SampleRate, Text: cfg.Policy(), SkipBadLines: cfg.Data.SkipBadLines, BadLimit: cfg.Data.BadLineLimit,
	}
	if training {
		o.MinDuration, o.MaxDuration, o.MaxTextLength = cfg.Data.MinDuration, cfg.Data.MaxDuration, cfg.Data.MaxTextLength
	}
	var err error
	if o.PathMap, err = data.ParsePathMap(cfg.Data.PathMap); err != nil {
		return nil, err
	}
	return data.Load(path, o)
}

// tokenise turns a set's texts into tokens and prints its report, which is complete then.
func (t *trainer) tokenise(set *data.Set, dropInfeasible bool) error {
	err := set.Tokenise(t.vocab, data.TokenOptions{
		Factor: t.cfg.Model.Subsampling, DropInfeasible: dropInfeasible, UnknownLimit: t.cfg.Data.UnknownLimit,
	})
	if err != nil {
		return err
	}
	t.report.say("%v", set.Report)
	return nil
}

// evaluator is a loader of a set to be scored; nil for an empty path.
func (t *trainer) evaluator(path string) (*data.Loader, error) {
	if path == "" {
		return nil, nil
	}
	set, err := loadManifest(path, t.cfg, false)
	if err != nil {
		return nil, err
	}
	if err := t.tokenise(set, false); err != nil {
		return nil, err
	}
	if w := data.Overlap(t.train, set); w != "" {
		t.report.say("WARNING: %s", w)
	}
	return evalLoader(set, t.cfg, t.state.Stats)
}

// evalWindow is the number of utterances that are read and dealt together for scoring.
func evalWindow(cfg Config) int { return max(16, 4*cfg.Optimizer.BatchSize) }

func evalLoader(set *data.Set, cfg Config, stats *feature.Stats) (*data.Loader, error) {
	return data.NewLoader(set, data.LoaderOptions{
		Evaluate: true, Window: evalWindow(cfg), Feature: cfg.Features(stats), Workers: cfg.Data.NumWorkers,
	})
}

// vocabulary is that of the training texts. A checkpoint's must be the same; that of a model to start from is taken over.
func (t *trainer) vocabulary(from *checkpoint.Checkpoint) (*text.Vocabulary, error) {
	if s := t.source; s != nil {
		t.report.say("the vocabulary is that of %s: %d entries", t.cfg.Run.InitFrom, s.Vocabulary.Size())
		return s.Vocabulary, checkVocabSize(t.cfg, s.Vocabulary, t.cfg.Run.InitFrom)
	}
	built, err := text.Build(t.train.Texts(), t.cfg.Data.MinCharCount)
	if err != nil {
		return nil, err
	}
	if err := checkVocabSize(t.cfg, built, t.train.Path); err != nil || from == nil {
		return built, err
	}
	if diff := t.state.Vocabulary.Diff(built); len(diff) > 0 {
		return nil, fmt.Errorf("resume from %s: its vocabulary is not that of %s (saved / now): %s; "+
			"resume with the manifest the run began with, or start a new run with --init_from", from.Path, t.train.Path, list(diff, 5))
	}
	return t.state.Vocabulary, nil
}

// checkVocabSize holds the setting vocab_size to what there is.
func checkVocabSize(cfg Config, v *text.Vocabulary, source string) error {
	if n := cfg.Model.VocabSize; n != 0 && n != v.Size() {
		return fmt.Errorf("vocab_size is %d, but %s gives %d entries (with blank, sos/eos and unk); correct it or leave it out", n, source, v.Size())
	}
	return nil
}

// statistics are those of global normalisation: a checkpoint's, those of a model to start from, or computed from the training set.
func (t *trainer) statistics(ctx context.Context, from *checkpoint.Checkpoint) (*feature.Stats, error) {
	if t.cfg.Data.Normalize != feature.Global {
		return nil, nil
	}
	if from != nil {
		return t.state.Stats, nil
	}
	if s := t.source; s != nil {
		t.report.say("the feature statistics are those of %s", t.cfg.Run.InitFrom)
		return s.Stats, nil
	}
	t.report.say("computing feature statistics over %s", count(len(t.train.Utterances), "utterance"))
	return data.Statistics(ctx, t.train, t.cfg.Features(nil), t.cfg.Data.NumWorkers)
}

// allocate makes the network and the optimizer.
func (t *trainer) allocate() error {
	network := t.cfg.Network(t.vocab.Size())
	counts := model.Count(network)
	t.state.Parameters = counts.Total
	t.report.say("model: %v; vocabulary %d", counts, t.vocab.Size())
	c, err := newCore(device.NewHost(), network, t.cfg.Run.CPUWorkers, true, t.cfg.Run.FP16)
	if err != nil {
		return err
	}
	t.core = c
	if t.optimizer, err = NewAdamW(c.dev, c.layout, c.params, t.cfg.Optimizer.WeightDecay); err != nil {
		c.close()
		return err
	}
	t.pass = pass{train: true, seed: t.cfg.Run.Seed, losses: make([]rowLoss, t.cfg.Window())}
	if t.profiling() {
		t.metrics = &metrics{}
		for _, w := range t.crew.Workers {
			w.Profile = engine.NewProfile()
		}
		return nil
	}
	t.metrics, err = openMetrics(t.logDir())
	if err != nil {
		t.optimizer.Close()
		c.close()
	}
	return err
}

func (t *trainer) logDir() string {
	if t.cfg.Run.LogDir != "" {
		return t.cfg.Run.LogDir
	}
	return t.cfg.Run.CheckpointDir
}
