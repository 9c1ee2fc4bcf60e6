package train

import (
	"context"
	"fmt"
	"strings"

	"konkanitrain/data"
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/internal/words"
	"konkanitrain/recognize"
)

// cacheWaves is how much decoded sound of a training set stays in memory, in bytes: 18 minutes at 16 kHz.
const cacheWaves = 64 << 20

// loadData reads manifests, vocabulary and statistics, and makes the loaders.
func (r *run) loadData(ctx context.Context) error {
	cfg, state := r.cfg, &r.ledger.state
	var err error
	if r.sets.train, err = loadManifests(ctx, cfg.Data.TrainManifest, cfg, true, r.index); err != nil {
		return err
	}
	if state.Vocabulary.Tokenizer, err = r.vocabulary(); err != nil {
		r.report.say("%v", r.sets.train.Report) // what was left out may be why
		return err
	}
	if state.Stats, err = r.statistics(ctx); err != nil {
		return err
	}
	if err := r.tokenize(r.sets.train, true); err != nil {
		return err
	}
	if state.Phrases == nil { // a checkpoint has its own
		phrases, err := data.Phrases(ctx, r.sets.train)
		if err != nil {
			return err
		}
		state.Phrases = &phrases
	}
	for _, line := range describeTokens(state.Vocabulary.Tokenizer, cfg.Policy(), r.sets.train) {
		r.report.say("%s", line)
	}
	if r.sets.loader, err = r.trainingLoader(r.sets.train); err != nil {
		return err
	}
	if r.sets.val, err = r.scored(ctx, cfg.Data.ValManifest); err != nil {
		return err
	}
	r.sets.test, err = r.scored(ctx, cfg.Data.TestManifest)
	return err
}

// trainingLoader loads the windows of a set to train on.
func (r *run) trainingLoader(set *data.Set) (*data.Loader, error) {
	o := r.cfg.loading(r.ledger.state.Stats, r.sets.noise)
	o.Peeks = r.onCard()
	return data.NewLoader(set, o)
}

// loading says how utterances to train on are loaded; stats are needed for global normalization.
func (c Config) loading(stats *feature.Stats, noise *data.Noise) data.LoaderOptions {
	augment := c.Augment()
	augment.NoiseFrom = recordings(noise)
	return data.LoaderOptions{
		Seed: c.Run.Seed, Window: c.Window(), Sorted: c.Data.SortFirstEpochs, Augment: &augment, Feature: c.Features(stats),
		Workers: c.Data.NumWorkers, CacheWaves: cacheWaves,
	}
}

// indexDir is the folder in checkpoint_dir that keeps what was found out of archives and compressed sound.
const indexDir = "index"

// loadManifests reads a set. Limits on length, and weights, are for training only. index is a folder, as
// data.Options has it.
func loadManifests(ctx context.Context, paths []string, cfg Config, training bool, index string) (*data.Set, error) {
	list, err := data.ParseManifests(paths)
	if err != nil {
		return nil, err
	}
	for i, m := range list {
		if m.Weight != 1 && !training {
			return nil, fmt.Errorf("%v: a weight is for training; scores have each utterance once", list[i])
		}
	}
	o := data.Options{
		Index:      index,
		SampleRate: cfg.Data.SampleRate, Text: cfg.Policy(), SkipBadLines: cfg.Data.SkipBadLines, BadLimit: cfg.Data.BadLineLimit,
	}
	if training {
		o.MinDuration, o.MaxDuration, o.MaxTextLength = cfg.Data.MinDuration, cfg.Data.MaxDuration, cfg.Data.MaxTextLength
	}
	if o.PathMap, err = data.ParsePathMap(cfg.Data.PathMap); err != nil {
		return nil, err
	}
	return data.LoadAll(ctx, list, o)
}

// tokenize turns a set's texts into tokens and prints its report, which is complete then.
func (r *run) tokenize(set *data.Set, training bool) error {
	o := data.TokenOptions{Factor: r.cfg.Model.Subsampling, UnknownLimit: r.cfg.Data.UnknownLimit}
	if training {
		o.DropInfeasible, o.Speeds = r.cfg.Model.DecoderLayers == 0, r.cfg.Augment().Speeds
	}
	if err := set.Tokenize(r.ledger.state.Vocabulary, o); err != nil {
		return err
	}
	r.report.say("%v", set.Report)
	return nil
}

// scored is a set to validate or test on; nil without manifests.
func (r *run) scored(ctx context.Context, paths []string) (*scored, error) {
	if !anyGiven(paths) {
		return nil, nil
	}
	set, err := loadManifests(ctx, paths, r.cfg, false, r.index)
	if err != nil {
		return nil, err
	}
	if err := r.tokenize(set, false); err != nil {
		return nil, err
	}
	if w := data.Overlap(r.sets.train, set); w != "" {
		r.report.say("WARNING: %s", w)
	}
	loader, err := data.NewLoader(set, data.LoaderOptions{
		Evaluate: true, Window: recognize.WindowFor(r.cfg.Optimizer.BatchSize), Feature: r.cfg.Features(r.ledger.state.Stats),
		Workers: r.cfg.Data.NumWorkers,
	})
	return &scored{set.Path, set, loader}, err
}

// anyGiven says whether a list of manifests names one.
func anyGiven(paths []string) bool { return strings.Join(paths, "") != "" }

// vocabulary is that of the training texts, with that of a model to start from. A checkpoint's must be the same; that
// of a run which started from a model may hold more.
func (r *run) vocabulary() (text.Tokenizer, error) {
	train := r.sets.train
	from := r.ledger.origin.Checkpoint
	if from != nil && r.cfg.Data.Tokenizer != tokenizerCharacters {
		return r.ledger.state.Vocabulary.Tokenizer, nil // the file may be gone, or training texts have changed a letter
	}
	built, err := r.cfg.makeTokenizer(train.Texts())
	if err != nil {
		return nil, err
	}
	if s := r.ledger.source; s != nil {
		v, err := r.startVocabulary(s, built)
		if err != nil {
			return nil, err
		}
		return v, checkVocabSize(r.cfg, v, r.cfg.Run.InitFrom+" with "+train.Path)
	}
	saved := r.ledger.state.Vocabulary
	if saved.Tokenizer != nil && r.ledger.startedFromModel() && len(tokensBeside(built, saved)) == 0 {
		return saved, checkVocabSize(r.cfg, saved, train.Path)
	}
	if err := checkVocabSize(r.cfg, built, train.Path); err != nil || from == nil {
		return built, err
	}
	if diff := saved.Diff(built); len(diff) > 0 {
		return nil, fmt.Errorf("resume from %s: its vocabulary is not that of %s (saved / now): %s; "+
			"resume with the manifest the run began with, or start a new run with --init_from", from.Path, train.Path, words.List(diff, 5))
	}
	return saved, nil
}

// checkVocabSize holds the setting vocab_size to what there is.
func checkVocabSize(cfg Config, v text.Tokenizer, source string) error {
	if n := cfg.Model.VocabSize; n != 0 && n != v.Size() {
		return fmt.Errorf("vocab_size is %d, but %s gives %d entries (with blank, sos/eos and unk); correct it or leave it out", n, source, v.Size())
	}
	return nil
}

// statistics are those of global normalization: a checkpoint's, those of a model to start from, or computed from the
// training set.
func (r *run) statistics(ctx context.Context) (*feature.Stats, error) {
	if r.cfg.Data.Normalize != feature.Global {
		return nil, nil
	}
	if r.ledger.origin.Checkpoint != nil {
		return r.ledger.state.Stats, nil
	}
	if s := r.ledger.source; s != nil && s.Features.Stats != nil {
		r.report.say("the feature statistics are those of %s", r.cfg.Run.InitFrom)
		return s.Features.Stats, nil
	}
	r.report.say("computing feature statistics over %s", words.Count(r.sets.train.Len(), "utterance"))
	return data.Statistics(ctx, r.sets.train, r.cfg.Features(nil), r.cfg.Data.NumWorkers)
}
