package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"konkanitrain/internal/settings"
	"konkanitrain/internal/words"
	"konkanitrain/train"
)

// comparedRows are the micro-batches of the table.
var comparedRows = []int{8, 2, 1}

// comparable are the flags that mean something beside --compare.
var comparable = []string{"compare", "seconds", "tokens_per_second", "vocab_size"}

// compare prints the table of presets.
func (o *planOptions) compare(w io.Writer) error {
	err := errors.Join(append(o.unknown, o.set.Apply(), o.ownSet.Apply(), o.ownSet.Check().Err())...)
	o.flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(comparable, f.Name) {
			err = errors.Join(err, settings.Problemf(f.Name, "%s has no place beside --compare, whose settings are those of the presets", f.Name))
		}
	})
	var rows []string
	for _, name := range strings.Split(o.own.Compare, ",") {
		if err == nil {
			var more []string
			more, err = o.comparePreset(strings.TrimSpace(name))
			rows = append(rows, more...)
		}
	}
	if err != nil {
		return o.usage(err)
	}
	_, err = io.WriteString(w, compareHead+strings.Join(rows, ""))
	return err
}

const compareHead = `| preset | parameters | batch | float32, none | blocks | all | fp16, none | blocks | all |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
`

// comparePreset makes the lines of one preset.
func (o *planOptions) comparePreset(name string) (lines []string, err error) {
	path := name
	if _, err := os.Stat(path); err != nil || !strings.ContainsAny(name, "./"+string(filepath.Separator)) {
		path = filepath.Join("configs", name+".yaml")
	}
	document, err := os.ReadFile(path)
	if err != nil {
		return nil, settings.Problemf("compare", "compare: %q is no preset and no file: %w", name, err)
	}
	config := train.Default()
	set, err := settings.Of(&config)
	if err != nil {
		return nil, err
	}
	if err := set.YAML(path, document); err != nil {
		return nil, err
	}
	if o.config.Model.VocabSize > 0 {
		config.Model.VocabSize = o.config.Model.VocabSize
	}
	seconds := o.own.Seconds
	if seconds == 0 {
		seconds = 8
	}
	list, err := train.Compare(config, comparedRows, seconds, o.own.TokensPerSecond)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, c := range list {
		line := fmt.Sprintf("| `%s` | %s | %d x %g s |", name, thousands(c.Parameters), c.Rows, seconds)
		for _, half := range c.Bytes {
			for _, bytes := range half {
				line += " " + words.Binary(bytes) + " |"
			}
		}
		lines = append(lines, line+"\n")
	}
	return lines, nil
}

// thousands is a number with commas: 9,858,120.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
