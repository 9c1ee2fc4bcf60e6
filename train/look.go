package train

import (
	"context"
	"iter"

	"konkanitrain/data"
	"konkanitrain/data/audit"
	"konkanitrain/data/text"
)

// LoadForAudit reads the manifests of a configuration as a run would, to be looked at: what would be left out of
// training is left out, and texts are in tokens. Lines that can't be used are in the reports of the sets, however many
// there are. Where the context ends first, the error is its cause.
func LoadForAudit(ctx context.Context, cfg Config, trained, heldOut []string) ([]audit.Part, error) {
	cfg.Data.SkipBadLines, cfg.Data.BadLineLimit = true, 1
	var parts []audit.Part
	load := func(paths []string, role audit.Role) error {
		for _, path := range paths {
			set, err := loadManifests(ctx, []string{path}, cfg, role == audit.Train, "")
			if err != nil {
				return err
			}
			parts = append(parts, audit.Part{Set: set, Role: role})
		}
		return nil
	}
	if err := load(trained, audit.Train); err != nil {
		return nil, err
	}
	n := len(parts)
	if err := load(heldOut, audit.HeldOut); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- tokenizeForAudit(cfg, parts[:n], parts) }() // of a million texts it takes seconds
	select {
	case err := <-done:
		return parts, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// tokenizeForAudit turns the texts of sets into tokens of the vocabulary that a run would make of those to train on.
func tokenizeForAudit(cfg Config, trained, all []audit.Part) error {
	v, err := text.Build(textsOf(trained), cfg.Data.MinCharCount)
	if err != nil {
		return err
	}
	for _, p := range all {
		o := data.TokenOptions{Factor: cfg.Model.Subsampling, UnknownLimit: 1}
		if p.Role == audit.Train {
			o.DropInfeasible, o.Speeds = cfg.Model.DecoderLayers == 0, cfg.Augment().Speeds
		}
		if err := p.Set.Tokenize(v, o); err != nil {
			return err
		}
	}
	return nil
}

// textsOf yields the texts of several sets.
func textsOf(parts []audit.Part) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, p := range parts {
			for s := range p.Set.Texts() {
				if !yield(s) {
					return
				}
			}
		}
	}
}
