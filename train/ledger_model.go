package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/settings"
	"konkanitrain/recognize"
)

// describe makes the metadata by which the weights can be used without the rest of a checkpoint.
func (l *ledger) describe(s *state) (map[string]string, error) {
	d := recognize.Description{
		Network: l.cfg.Network(s.Vocabulary.Size()), Features: l.cfg.Features(s.Stats), Vocabulary: s.Vocabulary.Tokenizer, Policy: l.cfg.Policy(), Phrases: s.Phrases,
		Update: s.Progress.Updates, EMADecay: l.cfg.Optimizer.EMADecay, MeanOf: s.Averaged, Score: s.Score,
	}
	return d.Encode()
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
// such setting with both values; what else differs comes back as a list, and as another what differs without an effect.
// What the settings say of a resume decides.
func sameRun(saved json.RawMessage, now Config) (changed, idle []checkpoint.Difference, err error) {
	set, err := settings.Of(&now)
	if err != nil {
		return nil, nil, err
	}
	current, err := set.JSON()
	if err != nil {
		return nil, nil, err
	}
	if saved, err = withDefaults(saved); err != nil {
		return nil, nil, err
	}
	differences, err := compare(saved, current)
	if err != nil {
		return nil, nil, err
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
			changed = append(changed, d)
		case settings.Start:
			idle = append(idle, d)
		}
	}
	if len(refused.Differences) > 0 {
		return nil, nil, fmt.Errorf("the checkpoint belongs to another network or other data settings: %w; "+
			"give the saved values", refused)
	}
	return changed, idle, nil
}

// keepStart takes what says how a run started from the configuration of one that goes on, for what is told of it.
func (c *Config) keepStart(saved json.RawMessage) error {
	set, err := settings.Of(c)
	if err != nil {
		return err
	}
	set.Reset(settings.Start) // what came later than the run has its default
	var then map[string]json.RawMessage
	if err := json.Unmarshal(saved, &then); err != nil {
		return err
	}
	maps.DeleteFunc(then, func(key string, _ json.RawMessage) bool {
		x := set.Lookup(key)
		return x == nil || x.Resume != settings.Start
	})
	text, err := json.Marshal(then)
	if err != nil {
		return err
	}
	return set.YAML(checkpoint.StateFile, text)
}

// withDefaults gives a saved configuration the defaults of settings that came later.
func withDefaults(saved json.RawMessage) (json.RawMessage, error) {
	var then, defaults map[string]json.RawMessage
	if json.Unmarshal(saved, &then) != nil || then == nil {
		return saved, nil // compare refuses it
	}
	d, err := Default().settings()
	if err == nil {
		err = json.Unmarshal(d, &defaults)
	}
	if err != nil {
		return nil, err
	}
	maps.Copy(defaults, then)
	return json.Marshal(defaults)
}

// compare lists the settings that differ.
func compare(saved, current json.RawMessage) ([]checkpoint.Difference, error) {
	var byKey map[string]json.RawMessage
	if err := json.Unmarshal(saved, &byKey); err != nil || byKey == nil {
		return nil, errors.New("the saved configuration is no object of settings by key")
	}
	if err := asLists(byKey, current); err != nil {
		return nil, err
	}
	var found *checkpoint.SettingsError
	if err := checkpoint.Compare(byKey, current); err != nil && !errors.As(err, &found) {
		return nil, err
	}
	if found == nil {
		return nil, nil
	}
	return found.Differences, nil
}

// asLists makes lists of those saved settings that were one text and are a list now, an empty one of no text.
func asLists(saved map[string]json.RawMessage, current json.RawMessage) error {
	var now map[string]json.RawMessage
	if err := json.Unmarshal(current, &now); err != nil {
		return err
	}
	for key, value := range saved {
		if !bytes.HasPrefix(value, []byte(`"`)) || !bytes.HasPrefix(now[key], []byte("[")) {
			continue
		}
		list := "[" + string(value) + "]"
		if string(value) == `""` {
			list = "[]"
		}
		saved[key] = json.RawMessage(list)
	}
	return nil
}
