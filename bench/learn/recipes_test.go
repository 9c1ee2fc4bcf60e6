package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/internal/testkit"
)

const small = `
base:
  digits: --config preset.yaml --num_epochs 3
  words: --num_epochs 5
recipes:
  - name: base
    what: as it is
  - name: mix
    what: all at once
    flags: --dropout 0.2 --fp16 --warmup-share=0.1
    on: {digits: --batch_size 7, digits-theo: --batch_size 8}
  - name: mix-dropout
    what: all but the dropout
    like: mix
    flags: --dropout 0.1
    tasks: [digits, sequences]
    cores: all
`

func TestPlans(t *testing.T) {
	s, err := parseSheet([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	preset := "# by hand\ndropout: 0.3 # high\ncheckpoint_dir: runs/x\nbatch_size: 4\ntrain_manifest: a.jsonl\nspeeds: [0.9, 1]\n"
	if err := os.WriteFile(filepath.Join(dir, "preset.yaml"), []byte(preset), 0o666); err != nil {
		t.Fatal(err)
	}
	const plain = "batch_size: 4\ndropout: 0.3\nspeeds:\n    - 0.9\n    - 1\n"
	for _, c := range []struct {
		recipe, task, flags, preset string
		all                         bool
	}{
		{"base", "digits-theo", "--num_epochs=3", plain, false},
		{"base", "words", "--num_epochs=5", "", false},
		{"base", "sentences", "", "", true}, // it has no base here, and wants all cores by itself
		{"mix", "digits-theo", "--batch_size=8 --dropout=0.2 --fp16=true --num_epochs=3 --warmup_share=0.1", plain, false},
		{"mix", "digits-official", "--batch_size=7 --dropout=0.2 --fp16=true --num_epochs=3 --warmup_share=0.1", plain, false},
		{"mix", "words", "--dropout=0.2 --fp16=true --num_epochs=5 --warmup_share=0.1", "", false},
		{"mix-dropout", "digits-theo", "--batch_size=8 --dropout=0.1 --fp16=true --num_epochs=3 --warmup_share=0.1", plain, true},
	} {
		p, err := s.planFor(s.named(c.recipe, 3), taskNamed(c.task), dir)
		if err != nil {
			t.Fatal(err)
		}
		if flags := strings.Join(p.flags.list(), " "); flags != c.flags || p.preset != c.preset || p.all != c.all {
			t.Errorf("%s on %s: %s, all cores: %v, over\n%s", c.recipe, c.task, flags, p.all, p.preset)
		}
	}
	if r := s.named("mix-dropout", 3); r.isFor(taskNamed("words")) || !r.isFor(taskNamed("sequences")) || !r.isFor(taskNamed("digits-theo")) {
		t.Error("mix-dropout is for other tasks than it says")
	}
	var over []string
	for i := range s.Recipes {
		over = append(over, s.Recipes[i].over(s))
	}
	if diff := cmp.Diff([]string{"", "base", "mix"}, over); diff != "" {
		t.Errorf("compared with, want (-) and got (+):\n%s", diff)
	}
}

// What is wrong with recipes is said, all at once.
func TestBadSheets(t *testing.T) {
	head := "recipes:\n  - {name: base, what: x}\n"
	for text, want := range map[string][]string{
		"":                                       {"it is empty"},
		"recipes: [":                             {"line 1"},
		"recipe: []":                             {"line 1", "recipe"},
		"base: {}":                               {"there are no recipes"},
		head + "---\nrecipes: []":                {"a second document"},
		"base: {speech: --a 1}\n" + head:         {`"speech" is no preset`, "digits"},
		"base: {digits: a}\n" + head:             {`base digits: "a" is no flag`},
		"base: {words: --seed 3}\n" + head:       {"base words: --seed is not a recipe's to set"},
		head + "  - {name: base, what: x}":       {`recipe 2 ("base"): an earlier recipe has this name`},
		head + "  - {name: ../x, what: x}":       {`recipe 2 ("../x"): a name is letters`},
		head + "  - {name: x}":                   {"there is no what"},
		head + "  - {name: x, what: x, like: x}": {`like "x", which is no earlier recipe`},
		head + "  - {name: x, what: x, like: y}\n  - {name: y, what: y}":    {`like "y", which is no earlier recipe`},
		head + "  - {name: x, what: x, cores: 3}":                           {`cores "3", want all`},
		head + "  - {name: x, what: x, cores: half}":                        {`cores "half", want all`},
		head + "  - {name: x, what: x, on: {speech: --a 1}}":                {`on "speech", which is neither`},
		head + "  - {name: x, what: x, on: {words: 1 2}}":                   {`on words: "1" is no flag`},
		head + "  - {name: x, what: x, tasks: [speech]}":                    {`tasks has "speech"`},
		head + "  - {name: x, what: x, flags: --dropout 0.1 --dropout=0.2}": {"flags: --dropout is given twice"},
		head + "  - {name: x, what: x, flags: --dropout 0.1 0.2}":           {`flags: "0.2" is no flag`},
		head + "  - {name: x, what: x, flags: -d 0.1}":                      {`"-d" is no flag`},
		head + "  - {name: x, what: x, flags: --=3}":                        {`"--=3" is no flag`},
		head + "  - {name: x, what: x, flags: --config a.yaml}":             {"--config is not a recipe's to set"},
		head + "  - {name: x, what: x, flags: --train-manifest a}":          {"--train_manifest is not a recipe's to set"},
		head + "  - {name: '?', what: '', cores: some}":                     {"a name is letters", "there is no what", "want all"},
	} {
		_, err := parseSheet([]byte(text))
		testkit.MustFail(t, err, want...)
	}
	_, err := readSheet(filepath.Join(t.TempDir(), "none.yaml"))
	testkit.MustFail(t, err, "the recipes", "none.yaml")
}

// A base's preset that isn't there, or is none, is named.
func TestBadPreset(t *testing.T) {
	s, err := parseSheet([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	_, err = s.planFor(&s.Recipes[0], taskNamed("digits-theo"), dir)
	testkit.MustFail(t, err, "the base's preset", "preset.yaml")
	if err := os.WriteFile(filepath.Join(dir, "preset.yaml"), []byte("- a list"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = s.planFor(&s.Recipes[0], taskNamed("digits-theo"), dir)
	testkit.MustFail(t, err, "preset.yaml", "cannot unmarshal")
}

// What lies in the repository can be started: every recipe on every task.
func TestCommittedRecipes(t *testing.T) {
	s, err := readSheet("recipes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		if s.Base[task.preset] == "" {
			t.Errorf("%s has no base", task.name)
		}
		for i := range s.Recipes {
			p, err := s.planFor(&s.Recipes[i], task, filepath.Join("..", ".."))
			if err != nil || p.preset == "" {
				t.Errorf("%s on %s: %v, preset %q", s.Recipes[i].Name, task.name, err, p.preset)
			}
		}
	}
}

// Any text is a sheet or an error, and of a sheet's flags as arguments the same flags are read again.
func FuzzSheet(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("base: {digits: '--a=--b --c'}\nrecipes: [{name: x, what: y, flags: '--d= --e -1', on: {words: --e 2}}]"))
	f.Add([]byte("recipes: [{name: x, what: y, like: x}]"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parseSheet(text)
		if err != nil {
			return
		}
		for key, base := range s.Base { // files are another matter
			flags, err := parseFlags(base)
			if err != nil {
				t.Fatal(err)
			}
			delete(flags, "config")
			s.Base[key] = strings.Join(flags.list(), " ")
		}
		for i := range s.Recipes {
			for _, task := range tasks {
				p, err := s.planFor(&s.Recipes[i], task, "")
				if err != nil {
					t.Fatal(err)
				}
				again, err := parseFlags(strings.Join(p.flags.list(), " "))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(p.flags, again); diff != "" {
					t.Errorf("flags (-) and what is read of them (+):\n%s", diff)
				}
			}
		}
	})
}
