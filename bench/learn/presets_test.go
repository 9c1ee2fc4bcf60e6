package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/internal/settings"
	"konkanitrain/train"
)

// What the table says of the mix, it says of the presets: they are the same settings, but for what a task's sound asks
// for.
func TestMixIsThePresets(t *testing.T) {
	s, err := readSheet("recipes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join("..", "..")
	for _, c := range []struct {
		task, preset string
		but          []string // settings that differ
	}{
		{task: "digits-theo", preset: "digits.yaml"},
		// Telephone speech, with half the channels: a tenth of 1,000 updates is 100.
		{task: "sequences", preset: "ten_minutes.yaml", but: []string{"sample_rate", "num_mels", "freq_width", "warmup_updates", "warmup_share"}},
		{task: "sentences", preset: "one_hour.yaml"},
	} {
		p, err := s.planFor(s.named("mix", len(s.Recipes)), taskNamed(c.task), root)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(root, "configs", c.preset))
		if err != nil {
			t.Fatal(err)
		}
		var flags strings.Builder
		for name, value := range p.flags {
			flags.WriteString(name + ": " + value + "\n")
		}
		mix, preset := values(t, p.preset, flags.String()), values(t, string(text))
		for _, name := range append(c.but, "checkpoint_dir") {
			if mix[name] == preset[name] {
				t.Errorf("%s and the mix on %s have one %s, %v: it is no difference to leave out", c.preset, c.task, name, mix[name])
			}
			delete(mix, name)
			delete(preset, name)
		}
		if diff := cmp.Diff(preset, mix); diff != "" {
			t.Errorf("%s (-) and the mix on %s (+):\n%s", c.preset, c.task, diff)
		}
	}
}

// values are all settings after YAML documents, each over those before it, as they are written.
func values(t *testing.T, documents ...string) map[string]any {
	t.Helper()
	c := train.Default()
	set, err := settings.Of(&c)
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents {
		if err := set.YAML("settings", []byte(document)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := set.JSON()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	if err := json.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	return values
}
