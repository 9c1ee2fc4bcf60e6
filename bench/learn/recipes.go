package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// sheet is the file of recipes as it is written.
type sheet struct {
	Base    map[string]string `yaml:"base"` // by a task's preset: --config FILE and flags, on which all recipes build
	Recipes []recipe          `yaml:"recipes"`
}

// recipe is one way to train.
type recipe struct {
	Name  string            `yaml:"name"`
	What  string            `yaml:"what"`  // in words
	Like  string            `yaml:"like"`  // an earlier recipe, whose flags come before these
	Flags string            `yaml:"flags"` // on top of the task's base
	On    map[string]string `yaml:"on"`    // more flags, by preset or task
	Tasks []string          `yaml:"tasks"` // presets or tasks that it is for; none: all
	Cores string            `yaml:"cores"` // "all": a run has the whole machine; "": one core, or what the task wants
}

// own are the settings of a run that are not a recipe's to choose: the runner sets them, or leaves them alone.
var own = []string{"train_manifest", "val_manifest", "test_manifest", "checkpoint_dir", "log_dir", "resume", "seed", "cpu_workers", "config"}

// readSheet reads the file of recipes and holds it to the tasks that there are.
func readSheet(path string) (*sheet, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the recipes: %w", err)
	}
	s, err := parseSheet(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// parseSheet reads recipes. The error lists all that is wrong with them.
func parseSheet(text []byte) (*sheet, error) {
	s := &sheet{}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(s); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it is empty, want the keys base and recipes")
		}
		return nil, err
	}
	if err := decoder.Decode(&sheet{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("a second document begins behind the first one, want one")
	}
	return s, s.check()
}

var recipeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)

// check looks for everything that is wrong.
func (s *sheet) check() error {
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for _, key := range slices.Sorted(maps.Keys(s.Base)) {
		if !slices.Contains(presetNames(), key) {
			bad("base: %q is no preset of a task; there are %v", key, presetNames())
		}
		flags, err := parseFlags(s.Base[key])
		if err != nil {
			bad("base %s: %w", key, err)
		}
		for _, name := range own {
			if _, there := flags[name]; there && name != "config" {
				bad("base %s: --%s is not a recipe's to set: the runner sets it", key, name)
			}
		}
	}
	if len(s.Recipes) == 0 {
		bad("there are no recipes")
	}
	for i, r := range s.Recipes {
		about := fmt.Sprintf("recipe %d (%q)", i+1, r.Name)
		if !recipeName.MatchString(r.Name) {
			bad("%s: a name is letters, digits and . _ + -, and begins with a letter or digit: it is a folder's name too", about)
		}
		if slices.ContainsFunc(s.Recipes[:i], func(o recipe) bool { return strings.EqualFold(o.Name, r.Name) }) {
			bad("%s: an earlier recipe has this name", about)
		}
		if strings.TrimSpace(r.What) == "" {
			bad("%s: there is no what: say in words what is tried", about)
		}
		if r.Like != "" && s.named(r.Like, i) == nil {
			bad("%s: like %q, which is no earlier recipe", about, r.Like)
		}
		if r.Cores != "" && r.Cores != "all" {
			bad("%s: cores %q, want all, or no cores", about, r.Cores)
		}
		texts := map[string]string{"flags": r.Flags}
		for key, text := range r.On {
			if !isTask(key) {
				bad("%s: on %q, which is neither a task nor a preset; there are %v", about, key, knownTasks())
			}
			texts["on "+key] = text
		}
		for _, key := range r.Tasks {
			if !isTask(key) {
				bad("%s: tasks has %q, which is neither a task nor a preset; there are %v", about, key, knownTasks())
			}
		}
		for _, key := range slices.Sorted(maps.Keys(texts)) {
			flags, err := parseFlags(texts[key])
			if err != nil {
				bad("%s: %s: %w", about, key, err)
			}
			for _, name := range own {
				if _, there := flags[name]; there {
					bad("%s: %s: --%s is not a recipe's to set: the runner sets it", about, key, name)
				}
			}
		}
	}
	return errors.Join(problems...)
}

// named is the recipe of this name among the first n; nil where there is none.
func (s *sheet) named(name string, n int) *recipe {
	for i := range s.Recipes[:n] {
		if s.Recipes[i].Name == name {
			return &s.Recipes[i]
		}
	}
	return nil
}

// flagSet is flags by name; a switch without a value is "true". Names are written with _, as settings are.
type flagSet map[string]string

// parseFlags reads "--name value", "--name=value" and "--name". A value has no spaces.
func parseFlags(text string) (flagSet, error) {
	flags := flagSet{}
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		name, ok := strings.CutPrefix(words[i], "--")
		if !ok || name == "" || strings.HasPrefix(name, "-") {
			return nil, fmt.Errorf("%q is no flag, want --name value, --name=value or --name", words[i])
		}
		name, value, given := strings.Cut(name, "=")
		name = strings.ReplaceAll(name, "-", "_")
		switch {
		case given:
		case i+1 < len(words) && !strings.HasPrefix(words[i+1], "--"):
			i++
			value = words[i]
		default:
			value = "true"
		}
		if name == "" {
			return nil, fmt.Errorf("%q is no flag: it has no name", words[i])
		}
		if _, twice := flags[name]; twice {
			return nil, fmt.Errorf("--%s is given twice", name)
		}
		flags[name] = value
	}
	return flags, nil
}

// list is the flags as arguments, in the order of their names.
func (f flagSet) list() []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		list = append(list, "--"+name+"="+f[name])
	}
	return list
}

// plan is what a recipe is on a task.
type plan struct {
	preset string  // the YAML text that the program is given, in one form whatever comments and order the file has
	flags  flagSet // over it: those of the base and of the recipe
	all    bool    // it wants all cores
}

// over is the recipe that this one is compared with: the one that it is like, or else the first.
func (r *recipe) over(s *sheet) string {
	switch {
	case r.Like != "":
		return r.Like
	case r.Name != s.Recipes[0].Name:
		return s.Recipes[0].Name
	}
	return ""
}

// isFor says whether a recipe is for a task.
func (r *recipe) isFor(t *task) bool {
	return len(r.Tasks) == 0 || slices.Contains(r.Tasks, t.name) || slices.Contains(r.Tasks, t.preset)
}

// planFor puts a recipe's flags over those of the task's base. Files are looked for from root.
func (s *sheet) planFor(r *recipe, t *task, root string) (*plan, error) {
	base, err := parseFlags(s.Base[t.preset])
	if err != nil {
		return nil, err
	}
	p := &plan{flags: flagSet{}, all: t.all || r.Cores == "all"}
	if file := base["config"]; file != "" {
		if p.preset, err = readPreset(filepath.Join(root, filepath.FromSlash(file))); err != nil {
			return nil, err
		}
	}
	delete(base, "config")
	maps.Copy(p.flags, base)
	chain := []*recipe{r}
	for r.Like != "" {
		r = s.named(r.Like, len(s.Recipes)) // earlier ones alone: check has seen to it, so that this ends
		chain = append(chain, r)
	}
	for _, r := range slices.Backward(chain) {
		for _, text := range []string{r.Flags, r.On[t.preset], r.On[t.name]} {
			flags, err := parseFlags(text)
			if err != nil {
				return nil, err
			}
			maps.Copy(p.flags, flags)
		}
	}
	return p, nil
}

// readPreset reads a YAML file of settings and writes it without those that are the runner's.
func readPreset(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("the base's preset: %w", err)
	}
	keys := map[string]any{}
	if err := yaml.Unmarshal(text, &keys); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	for _, name := range own {
		delete(keys, name)
	}
	plain, err := yaml.Marshal(keys) // sorts the keys
	return string(plain), err
}
