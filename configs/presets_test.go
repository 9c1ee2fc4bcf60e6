// Package configs_test holds every preset to what it says of itself.
package configs_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"konkanitrain/engine"
	"konkanitrain/internal/optest"
	"konkanitrain/internal/settings"
	"konkanitrain/model"
	"konkanitrain/op"
	"konkanitrain/train"
	"konkanitrain/update"
)

// parameters are the sizes of the networks by hand, from the shapes of their tensors, at a vocabulary of 100.
var parameters = map[string]int{
	"original.yaml":    25_799_432,
	"optimized.yaml":   9_858_120,
	"minimal.yaml":     3_409_672,
	"fifty_hours.yaml": 7_294_148,
	"five_hours.yaml":  2_492_036,
	"one_hour.yaml":    750_020,
	"ten_minutes.yaml": 810_084,
	"smoke.yaml":       810_084,
	"digits.yaml":      748_644,
}

const vocab = 100

func TestPresets(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) != len(parameters) {
		t.Fatalf("%d presets here (%v), %d in the test: %v", len(files), err, len(parameters), files)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(file, ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := read(t, file)
			if err := c.Validate(); err != nil {
				t.Fatal(err)
			}
			network := c.Network(vocab)
			if n := model.Count(network).Total; n != parameters[file] {
				t.Errorf("%d parameters, want %d", n, parameters[file])
			}
			stated := regexp.MustCompile(`([\d,]+)\s+parameters`).FindAllStringSubmatch(strings.ReplaceAll(string(text), "\n#", ""), -1)
			if want := thousands(parameters[file]); len(stated) != 1 || stated[0][1] != want {
				t.Errorf("the comment states %q, want %s parameters once", stated, want)
			}
			// Less speech needs smaller windows, for more updates in an epoch.
			least := map[string]int{"ten_minutes.yaml": 2, "one_hour.yaml": 8, "five_hours.yaml": 8}[file]
			if w := c.Window(); w < cmp.Or(least, 16) || w > 32 {
				t.Errorf("%d utterances in an update, want %d to 32", w, cmp.Or(least, 16))
			}
			// The rate rises for a share of a run on any set, or for no more than a third of one on the recordings that
			// there are: 320 in the example, 2,700 in the digits' training set.
			recordings := map[string]int{"smoke.yaml": 320, "digits.yaml": 2700}[file]
			if o := c.Optimizer; recordings == 0 && !(o.WarmupShare > 0 && o.WarmupShare <= 0.2) ||
				recordings > 0 && (o.WarmupShare > 0 || 3*o.WarmupUpdates > o.NumEpochs*recordings/c.Window()) {
				t.Errorf("the rate rises for %d updates, or a share of %g: too long, or not for every set", o.WarmupUpdates, o.WarmupShare)
			}
			if !strings.HasPrefix(c.Run.CheckpointDir, "runs/"+strings.TrimSuffix(file, ".yaml")) {
				t.Errorf("checkpoint_dir is %s: a preset has its own", c.Run.CheckpointDir)
			}
			programs(t, network)
		})
	}
}

// programs compiles all that a run can ask of the network, holds the memory plans to the rule of plans, and the ops to
// having a case among the ops' tests.
func programs(t *testing.T, config model.Config) {
	t.Helper()
	network, err := update.NetworkOn(op.CPU, config, update.Tuning{})
	if err != nil {
		t.Fatal(err)
	}
	covered := optest.Covered()
	shape := model.Shape{Batch: 2, Frames: 300, Tokens: 20}
	var largest int64
	for _, v := range []update.Variant{
		{Shape: shape, Purpose: model.Training},
		{Shape: shape, Purpose: model.Training, Half: true},
		{Shape: shape, Purpose: model.Training, Recompute: engine.RecomputeBlocks},
		{Shape: shape, Purpose: model.Training, Half: true, Recompute: engine.RecomputeBlocks},
		{Shape: shape, Purpose: model.Scoring},
		{Shape: shape, Purpose: model.Transcribing},
	} {
		spec, err := network.Spec(v)
		if err != nil {
			t.Fatal(err)
		}
		program, err := engine.Compile(spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := program.Plan.Check(); err != nil {
			t.Errorf("%+v: %v", v, err)
		}
		if n := len(program.Grads); v.Purpose == model.Training && n != len(spec.Weights) || len(program.Steps) == 0 {
			t.Errorf("%+v: %d gradients for %d weights in %d steps", v, n, len(spec.Weights), len(program.Steps))
		}
		if largest == 0 {
			largest = program.ArenaBytes()
		} else if program.ArenaBytes() >= largest {
			t.Errorf("%+v takes %d bytes, training in full precision %d", v, program.ArenaBytes(), largest)
		}
		for _, s := range program.Steps {
			if !covered[s.Op.Name] {
				t.Errorf("%+v uses %s, which has no case among the ops' tests (internal/optest)", v, s.Op.Name)
			}
		}
	}
}

// read is the configuration of a preset.
func read(t *testing.T, file string) train.Config {
	t.Helper()
	c := train.Default()
	set, err := settings.Of(&c)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := set.YAML(file, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// thousands is a number with a comma behind each thousand.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// README's table has each preset, with its network and the number of its parameters.
func TestTableOfPresets(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `configs/(.+)` \\| (.+?) \\| (.+?) \\|").FindAllStringSubmatch(string(text), -1)
	var listed []string
	for _, row := range rows {
		file := row[1]
		listed = append(listed, file)
		if parameters[file] == 0 {
			t.Errorf("the table has %s, and there is no such preset", file)
			continue
		}
		m := read(t, file).Model
		network := fmt.Sprintf("d %d, %d + %d layers", m.DModel, m.EncoderLayers, m.DecoderLayers)
		if m.DecoderLayers == 0 {
			network = fmt.Sprintf("d %d, %d blocks, CTC only", m.DModel, m.EncoderLayers)
		}
		if want := thousands(parameters[file]); row[2] != network || row[3] != want {
			t.Errorf("the table has %s as %q with %s parameters, want %q with %s", file, row[2], row[3], network, want)
		}
	}
	slices.Sort(listed)
	if all := slices.Sorted(maps.Keys(parameters)); !slices.Equal(listed, all) {
		t.Errorf("the table has %q, and there are %q", listed, all)
	}
}

// Every preset that a page, a script or another preset names is there.
func TestNamedPresets(t *testing.T) {
	named := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "runs"): // what runs have made is no part of the program
			return filepath.SkipDir
		case !slices.Contains([]string{".md", ".sh", ".yaml"}, filepath.Ext(path)) && d.Name() != "Makefile" || !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range regexp.MustCompile(`\bconfigs/([\w-]+\.yaml)`).FindAllStringSubmatch(string(text), -1) {
			if named++; parameters[m[1]] == 0 {
				t.Errorf("%s names %s, and there is no such preset", path, m[0])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if named < len(parameters) {
		t.Errorf("only %d presets are named anywhere", named)
	}
}

// The recipe that the repository can run by itself names files that are there.
func TestSmokeFiles(t *testing.T) {
	c := read(t, "smoke.yaml")
	manifests := slices.Concat(c.Data.TrainManifest, c.Data.ValManifest, c.Data.TestManifest)
	if len(manifests) != 3 {
		t.Errorf("manifests %v, want one each to train, validate and test on", manifests)
	}
	for _, m := range manifests {
		if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(m))); err != nil {
			t.Error(err)
		}
	}
}
