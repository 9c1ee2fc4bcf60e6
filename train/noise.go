package train

import (
	"context"
	"fmt"

	"konkanitrain/data"
	"konkanitrain/data/perturb"
	"konkanitrain/internal/words"
)

// loadNoise reads the headers of the recordings that noise is taken from; nil without any. What is left out is said.
func (c Config) loadNoise(ctx context.Context, index string, say func(format string, args ...any)) (*data.Noise, error) {
	if !anyGiven(c.Data.NoiseManifest) {
		return nil, nil
	}
	maps, err := data.ParsePathMap(c.Data.PathMap)
	if err != nil {
		return nil, err
	}
	n, err := data.LoadNoise(ctx, c.Data.NoiseManifest, data.Options{SampleRate: c.Data.SampleRate, PathMap: maps, Index: index})
	if err != nil {
		return nil, fmt.Errorf("noise_manifest: %w", err)
	}
	r := n.Report()
	for _, w := range r.Warnings {
		say("noise: %s", w)
	}
	var left []data.Note
	for _, note := range r.Notes {
		if note.Skipped {
			left = append(left, note)
		}
	}
	sayNoiseLeft(left, say)
	return n, nil
}

// readNoise keeps the sound of these recordings. What is left out is said; nothing that is left is an error.
func (c Config) readNoise(ctx context.Context, n *data.Noise, say func(format string, args ...any)) error {
	if n == nil {
		return nil
	}
	left, err := n.Read(ctx, c.Data.NumWorkers)
	if err != nil {
		return fmt.Errorf("noise_manifest: %w", err)
	}
	sayNoiseLeft(left, say)
	say("noise: %v", n)
	return nil
}

// sayNoiseLeft names recordings that noise can't be taken from.
func sayNoiseLeft(left []data.Note, say func(format string, args ...any)) {
	for i, note := range left {
		if i == 5 {
			say("WARNING: no noise is taken from %s more", words.Count(len(left)-i, "recording"))
			return
		}
		say("WARNING: no noise is taken from %v", note)
	}
}

// recordings are those of n, none where it is nil.
func recordings(n *data.Noise) []perturb.Recording {
	if n == nil {
		return nil
	}
	return n.Recordings
}

// loadNoise reads the headers of the recordings that noise is taken from.
func (r *run) loadNoise(ctx context.Context) (err error) {
	r.sets.noise, err = r.cfg.loadNoise(ctx, r.index, r.report.say)
	return err
}

// readNoise keeps their sound.
func (r *run) readNoise(ctx context.Context) error {
	err := r.cfg.readNoise(ctx, r.sets.noise, r.report.say)
	if err == nil && r.sets.noise != nil {
		r.ledger.noiseHash = r.sets.noise.Identity()
	}
	return err
}
