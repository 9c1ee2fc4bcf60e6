// Package configs_test holds every preset to what it says of itself.
package configs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/engine"
	"konkanitrain/internal/optest"
	"konkanitrain/internal/settings"
	"konkanitrain/model"
	"konkanitrain/train"
	"konkanitrain/update"
)

// parameters are the sizes of the networks by hand, from the shapes of their tensors, at a vocabulary of 100.
var parameters = map[string]struct {
	total   int
	comment string // how the preset's comment writes it
}{
	"original.yaml":  {25_799_432, "25,799,432"},
	"optimized.yaml": {9_858_120, "9,858,120"},
	"minimal.yaml":   {3_409_672, "3,409,672"},
	"smoke.yaml":     {810_084, "810,084"},
	"digits.yaml":    {748_644, "748,644"},
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
			c := train.Default()
			set, err := settings.Of(&c)
			if err != nil {
				t.Fatal(err)
			}
			if err := set.YAML(file, text); err != nil {
				t.Fatal(err)
			}
			if err := c.Validate(); err != nil {
				t.Fatal(err)
			}
			network := c.Network(vocab)
			want := parameters[file]
			if n := model.Count(network).Total; n != want.total {
				t.Errorf("%d parameters, want %d", n, want.total)
			}
			if !strings.Contains(string(text), want.comment) {
				t.Errorf("the comment doesn't state %s parameters", want.comment)
			}
			if w := c.Window(); w < 16 || w > 32 {
				t.Errorf("%d utterances in an update, want 16 to 32", w)
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
	network, err := update.Network(config)
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

// The recipe that the repository can run by itself names files that are there.
func TestSmokeFiles(t *testing.T) {
	c := train.Default()
	set, err := settings.Of(&c)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("smoke.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := set.YAML("smoke.yaml", text); err != nil {
		t.Fatal(err)
	}
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
