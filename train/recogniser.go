package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"konkanitrain/checkpoint"
	"konkanitrain/data"
	"konkanitrain/data/audio"
	"konkanitrain/data/feature"
	"konkanitrain/device"
	"konkanitrain/model"
)

// Recogniser is a trained model: it scores manifests and transcribes files.
type Recogniser struct {
	speech
	cfg   Config
	state state
	path  string
	log   io.Writer
}

// LoadOptions say where a recogniser runs.
type LoadOptions struct {
	Device  string    // auto, cpu or cuda
	Workers int       // compute workers; 0: one for each core
	Log     io.Writer // warnings; nil: none
}

// Load opens a checkpoint's folder, or in a checkpoint_dir what the run in it came to: the averaged weights if it ended
// with them, else the best checkpoint, or without a best one the newest whole one.
func Load(path string, o LoadOptions) (*Recogniser, error) {
	if o.Device == "" {
		o.Device = "auto"
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if _, _, err := ChooseDevice(o.Device); err != nil {
		return nil, err
	}
	for again := 0; ; again++ {
		r, err := load(path, o)
		// A run in progress may remove an old checkpoint between the look at its name and at its files.
		if again < 3 && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return r, err
	}
}

func load(path string, o LoadOptions) (*Recogniser, error) {
	r := &Recogniser{log: o.Log}
	c, err := r.open(path)
	if err != nil {
		return nil, err
	}
	r.path = c.Path
	if r.cfg, err = fromSettings(r.state.Config); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, err)
	}
	r.vocab, r.policy = r.state.Vocabulary, r.cfg.Policy()
	if r.core, err = newCore(device.NewHost(), r.cfg.Network(r.vocab.Size()), o.Workers, false, false); err != nil {
		return nil, err
	}
	if err := c.LoadModel(r.tensors("", r.weights.Floats())); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// open finds the checkpoint meant by path and reads its state.
func (r *Recogniser) open(path string) (*checkpoint.Checkpoint, error) {
	if _, err := os.Stat(filepath.Join(path, checkpoint.StateFile)); err == nil {
		return r.read(path)
	}
	entries, err := checkpoint.List(path)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("%s is neither a checkpoint (a folder step-... with %s) nor a folder with checkpoints", path, checkpoint.StateFile)
	}
	c, damaged, err := checkpoint.Latest(path)
	if err != nil {
		return nil, err
	}
	for _, d := range damaged {
		fmt.Fprintf(r.log, "WARNING: passed over the checkpoint %v\n", d)
	}
	if c == nil {
		return nil, fmt.Errorf("none of the %d checkpoints in %s is whole", len(entries), path)
	}
	if a := r.averaged(path, c); a != nil {
		return a, nil
	}
	if c, err = r.read(c.Path); err != nil || r.state.Best == nil {
		return c, err
	}
	best := filepath.Join(path, checkpoint.Name(r.state.BestStep))
	if best == c.Path {
		return c, nil
	}
	b, err := r.read(best)
	if err != nil {
		fmt.Fprintf(r.log, "WARNING: the best checkpoint can't be used, taking the newest: %v\n", err)
		return r.read(c.Path)
	}
	return b, nil
}

// averaged reads the averaged weights of a checkpoint_dir with this newest checkpoint. It returns nil where there are
// none or where they belong to another end of training.
func (r *Recogniser) averaged(dir string, newest *checkpoint.Checkpoint) *checkpoint.Checkpoint {
	path := filepath.Join(dir, averagedDir, checkpoint.Name(newest.Step))
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	c, err := r.read(path)
	if err != nil {
		fmt.Fprintf(r.log, "WARNING: the averaged weights can't be used: %v\n", err)
		return nil
	}
	if r.state.AverageOf != newest.Model {
		return nil
	}
	return c
}

func (r *Recogniser) read(path string) (*checkpoint.Checkpoint, error) {
	c, err := checkpoint.Open(path)
	if err != nil {
		return nil, err
	}
	r.state = state{}
	if err := c.State(&r.state); err != nil {
		return nil, err
	}
	if r.state.Format != stateFormat || r.state.Vocabulary == nil {
		return nil, fmt.Errorf("%s has format %d, this version of konkanitrain reads %d", path, r.state.Format, stateFormat)
	}
	return c, nil
}

// Close frees the model.
func (r *Recogniser) Close() { r.core.close() }

// Describe is one line: which checkpoint, how large, how well it did on validation.
func (r *Recogniser) Describe() string {
	s := fmt.Sprintf("%s: update %d, %v, vocabulary %d", r.path, r.state.Progress.Updates, model.Count(r.net), r.vocab.Size())
	if updates := r.state.Averaged; len(updates) > 0 {
		s += ", mean of the weights after " + updatesText(updates)
	}
	if e := r.state.Score; e != nil {
		s += fmt.Sprintf(", validation WER %.2f %% CER %.2f %%", 100*e.WER, 100*e.CER)
	}
	return s
}

// EvalOptions say how a manifest is read and where results go.
type EvalOptions struct {
	PathMap      []string
	SkipBadLines bool
	BadLineLimit float64
	Progress     io.Writer              // the manifest's report and what is odd in its files; nil: none
	PerUtterance func(Hypothesis) error // called for each utterance, in order; may be nil
}

// Evaluate scores every utterance of a manifest, whatever its length.
func (r *Recogniser) Evaluate(ctx context.Context, manifest string, o EvalOptions) (*Evaluation, error) {
	cfg := r.cfg
	cfg.Data.PathMap, cfg.Data.SkipBadLines, cfg.Data.BadLineLimit = o.PathMap, o.SkipBadLines, o.BadLineLimit
	set, err := loadManifest(manifest, cfg, false)
	if err != nil {
		return nil, err
	}
	// Texts with letters outside the vocabulary are scored, not refused: those letters are errors.
	if err := set.Tokenise(r.vocab, data.TokenOptions{Factor: r.cfg.Model.Subsampling, UnknownLimit: 1}); err != nil {
		return nil, err
	}
	if o.Progress != nil {
		fmt.Fprintln(o.Progress, set.Report)
	}
	loader, err := evalLoader(set, cfg, r.state.Stats)
	if err != nil {
		return nil, err
	}
	e, err := r.evaluate(ctx, loader, cfg.Optimizer.BatchSize, o.PerUtterance)
	if o.Progress != nil {
		for _, w := range loader.Warnings() {
			fmt.Fprintln(o.Progress, "WARNING:", w)
		}
		if err == nil {
			for _, trouble := range e.troubles(manifest) {
				fmt.Fprintln(o.Progress, trouble)
			}
		}
	}
	return e, err
}

// Transcribe recognises files one by one and gives each result, or what was wrong with the file, to emit, in
// order. It ends early with emit's error or the context's.
func (r *Recogniser) Transcribe(ctx context.Context, paths []string, emit func(path, text string, err error) error) error {
	extractor, err := feature.New(r.cfg.Features(r.state.Stats))
	if err != nil {
		return err
	}
	var reader audio.Reader
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		hyp, err := r.transcribe(path, &reader, extractor)
		if err := emit(path, hyp, err); err != nil {
			return err
		}
	}
	return nil
}

var errTooShort = errors.New("it is too short for a single feature frame")

func (r *Recogniser) transcribe(path string, reader *audio.Reader, extractor *feature.Extractor) (string, error) {
	info, wave, err := reader.Read(path, 0, 0)
	if err != nil {
		return "", err
	}
	for _, w := range info.Warnings {
		fmt.Fprintf(r.log, "WARNING: %s\n", w)
	}
	features, n, err := extractor.Extract(nil, wave, info.Rate, nil, 0)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if n == 0 {
		return "", fmt.Errorf("%s: %w", path, errTooShort)
	}
	examples := []*data.Example{{Utt: &data.Utterance{ID: path}, Features: features, Frames: n}}
	var result decoded
	p := &pass{losses: make([]rowLoss, 1), logits: func(_ int, logits []float32) { result = r.greedy(logits) }}
	if err := r.run(examples, deal(examples, r.net, 1, len(r.crew.Workers)), p); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return result.text, nil
}
