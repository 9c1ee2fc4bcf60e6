package train

import (
	"encoding/json"
	"errors"
	"fmt"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/settings"
	"konkanitrain/recognize"
)

// describe makes the metadata by which the weights can be used without the rest of a checkpoint.
func (l *ledger) describe(s *state) (map[string]string, error) {
	d := recognize.Description{
		Network: l.cfg.Network(s.Vocabulary.Size()), Features: l.cfg.Features(s.Stats), Vocabulary: s.Vocabulary.Tokenizer, Policy: l.cfg.Policy(),
		Update: s.Progress.Updates, MeanOf: s.Averaged, Score: s.Score,
	}
	return d.Encode()
}

// findSource reads what the model that init_from names says of itself, and refuses one of another network or of other
// sound and text settings. Of a file that says nothing the tensors alone decide.
func (l *ledger) findSource() error {
	path := l.cfg.Run.InitFrom
	if path == "" {
		return nil
	}
	d, err := recognize.Describe(path)
	switch {
	case errors.Is(err, recognize.ErrNoDescription):
		return nil
	case err != nil:
		return fmt.Errorf("init_from: %w", err)
	}
	if err := sameNetwork(d, l.cfg); err != nil {
		return fmt.Errorf("init_from: %s: %w", path, err)
	}
	l.source = d
	return nil
}

// sameNetwork refuses a model of another network, or of other features or texts, naming each setting that a resume
// could not change with both values.
func sameNetwork(d *recognize.Description, now Config) error {
	then := now
	n, f := d.Network, d.Features
	then.Model.DModel, then.Model.EncoderLayers, then.Model.DecoderLayers, then.Model.Heads = n.DModel, n.EncoderLayers, n.DecoderLayers, n.Heads
	then.Model.ConvKernel, then.Model.Subsampling, then.Model.SubsampleChannels = n.ConvKernel, n.Subsampling, n.SubsampleChannels
	then.Data.SampleRate, then.Data.NumMels, then.Data.Normalize = f.SampleRate, f.NumMels, f.Normalize
	then.setPolicy(d.Policy)
	saved, err := then.settings()
	if err == nil {
		_, err = sameRun(saved, now)
	}
	return err
}

// settings is a configuration by key, as JSON. Whole numbers stay exact.
func (c Config) settings() (json.RawMessage, error) {
	set, err := settings.Of(&c)
	if err != nil {
		return nil, err
	}
	return set.JSON()
}

// sameRun refuses a checkpoint that a setting makes one of another network, or of other features or texts, naming each
// such setting with both values; what else differs comes back as a list. What the settings say of a resume decides.
func sameRun(saved json.RawMessage, now Config) (changed []string, err error) {
	set, err := settings.Of(&now)
	if err != nil {
		return nil, err
	}
	current, err := set.JSON()
	if err != nil {
		return nil, err
	}
	if saved, err = withFixed(saved, set); err != nil {
		return nil, err
	}
	differences, err := compare(saved, current)
	if err != nil {
		return nil, err
	}
	refused := &checkpoint.SettingsError{}
	for _, d := range differences {
		resume := settings.Note // also where one version has the setting and the other has not
		if x := set.Lookup(d.Key); x != nil {
			resume = x.Resume
		}
		switch resume {
		case settings.Fixed:
			refused.Differences = append(refused.Differences, d)
		case settings.Note:
			changed = append(changed, fmt.Sprintf("%s: %s / %s", d.Key, d.Saved, d.Current))
		}
	}
	if len(refused.Differences) > 0 {
		return nil, fmt.Errorf("the checkpoint belongs to another network or other data settings: %w; "+
			"give the saved values", refused)
	}
	return changed, nil
}

// withFixed adds the settings that a resume can't change to those of an older version that didn't have them: it did as
// their defaults say now.
func withFixed(saved json.RawMessage, now *settings.Set) (json.RawMessage, error) {
	byKey, err := parseSettings(saved)
	if err != nil {
		return nil, err
	}
	defaults, err := Default().settings()
	if err != nil {
		return nil, err
	}
	before, err := parseSettings(defaults)
	if err != nil {
		return nil, err
	}
	for key, value := range before {
		if _, has := byKey[key]; !has && now.Lookup(key).Resume == settings.Fixed {
			byKey[key] = value
		}
	}
	return json.Marshal(byKey)
}

func parseSettings(saved json.RawMessage) (byKey map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(saved, &byKey); err != nil || byKey == nil {
		return nil, errors.New("the saved configuration is no object of settings by key")
	}
	return byKey, nil
}

// compare lists the settings that differ.
func compare(saved, current json.RawMessage) ([]checkpoint.Difference, error) {
	var found *checkpoint.SettingsError
	if err := checkpoint.Compare(saved, current); err != nil && !errors.As(err, &found) {
		return nil, err
	}
	if found == nil {
		return nil, nil
	}
	return found.Differences, nil
}
