package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"konkanitrain/internal/settings"
	"konkanitrain/recognize"
)

// decodingFile is the flag for a file with the settings of decoding.
type decodingFile struct {
	Decoding string `yaml:"decoding" default:"" check:"path" zero:"none" help:"YAML file of settings for decoding, as eval --save_decoding writes; flags come before it"`
}

// addDecodingFile gives a command the flag. What it returns is to be called before the flags are applied.
func (o *options) addDecodingFile() (read func() error, err error) {
	var f decodingFile
	set, err := settings.Of(&f)
	if err != nil {
		return nil, err
	}
	set.Flags(o.flags)
	return func() error {
		if err := set.Apply(); err != nil {
			return err
		}
		if err := set.Check().Err(); err != nil || f.Decoding == "" {
			return err
		}
		document, err := os.ReadFile(f.Decoding)
		if err != nil {
			return fmt.Errorf("decoding: %w", err)
		}
		own, err := settings.Of(&decoding{}) // of another kind there are none in such a file
		if err == nil {
			err = own.YAML(f.Decoding, document)
		}
		if err != nil {
			return err
		}
		return o.set.YAML(f.Decoding, document)
	}, nil
}

// saveDecoding writes the settings with which a model was tuned.
func saveDecoding(path string, d decoding, tuned recognize.Decoding, comment string) error {
	d.Decoder, d.BeamWidth = string(tuned.Decoder), tuned.Width
	d.LMWeight, d.LengthWeight, d.AttentionWeight, d.Confidence = tuned.LMWeight, tuned.LengthWeight, tuned.AttentionWeight, nil
	if c := tuned.Calibration; c != nil {
		d.Confidence = []float64{c.Slope, c.Offset}
	}
	set, err := settings.Of(&d)
	if err != nil {
		return err
	}
	values, err := set.JSON() // of each value JSON is YAML
	if err != nil {
		return err
	}
	var byKey map[string]json.RawMessage
	if err := json.Unmarshal(values, &byKey); err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n", comment)
	for _, x := range set.All {
		if v := string(byKey[x.Key]); v != `""` && v != "[]" {
			fmt.Fprintf(&b, "%s: %s\n", x.Key, v)
		}
	}
	return writeBytes("save_decoding", path, b.Bytes())
}
