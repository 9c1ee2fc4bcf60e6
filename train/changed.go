package train

import (
	"encoding/json"
	"errors"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/settings"
)

// Changed lists the settings of a model's training that are not the defaults, KEY: VALUE each, the value as JSON. saved
// are its settings, as a checkpoint's state has them under "config". Those of the run on its machine, and the names of
// files, are left out.
func Changed(saved json.RawMessage) (lines []string, err error) {
	c := Default()
	set, err := settings.Of(&c)
	if err != nil {
		return nil, err
	}
	defaults, err := set.JSON()
	if err != nil {
		return nil, err
	}
	var differ *checkpoint.SettingsError
	if err := checkpoint.Compare(saved, defaults); err != nil && !errors.As(err, &differ) {
		return nil, err
	}
	if differ == nil {
		return nil, nil
	}
	for _, d := range differ.Differences {
		x := set.Lookup(d.Key)
		if d.Saved == "not set" || x == nil || x.Group == "Run" && d.Key != "seed" || x.NamesFiles() && x.Resume != settings.Fixed {
			continue // a tokenizer is fixed, and what texts are made of whatever its file is called
		}
		lines = append(lines, d.Key+": "+d.Saved)
	}
	return lines, nil
}
