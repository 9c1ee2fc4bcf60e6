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

// What the table says of a recipe, it says of a preset: they are the same settings, but for what a task's sound asks
// for.
func TestRecipesAreThePresets(t *testing.T) {
	s, err := readSheet("recipes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join("..", "..")
	for _, c := range []struct {
		recipe, task, preset string
		but                  []string // settings that differ
	}{
		{recipe: "mix", task: "digits-theo", preset: "digits.yaml"},
		// Telephone speech, with half the channels: a twentieth of 4,000 updates is 200.
		{recipe: "mix+long", task: "sequences", preset: "ten_minutes.yaml", but: []string{"sample_rate", "num_mels", "freq_width", "warmup_updates", "warmup_share"}},
		{recipe: "mix", task: "sentences", preset: "one_hour.yaml"},
	} {
		p, err := s.planFor(s.named(c.recipe, len(s.Recipes)), taskNamed(c.task), root)
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
		recipe, preset := values(t, p.preset, flags.String()), values(t, string(text))
		for _, name := range append(c.but, "checkpoint_dir") {
			if recipe[name] == preset[name] {
				t.Errorf("%s and %s on %s have one %s, %v: it is no difference to leave out", c.preset, c.recipe, c.task, name, recipe[name])
			}
			delete(recipe, name)
			delete(preset, name)
		}
		if diff := cmp.Diff(preset, recipe); diff != "" {
			t.Errorf("%s (-) and %s on %s (+):\n%s", c.preset, c.recipe, c.task, diff)
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
