// Package configs_test holds every preset to what it says of itself.
package configs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/engine"
	"konkanitrain/internal/settings"
	"konkanitrain/model"
	"konkanitrain/train"
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
			if !strings.HasPrefix(c.Run.CheckpointDir, "runs/"+strings.TrimSuffix(file, ".yaml")) {
				t.Errorf("checkpoint_dir is %s: a preset has its own", c.Run.CheckpointDir)
			}
			plan(t, network, true)
			plan(t, network, false)
		})
	}
}

// plan makes a program of the network and holds its memory plan to the rule of plans.
func plan(t *testing.T, network model.Config, backward bool) {
	t.Helper()
	net, err := model.Build(network, model.Shape{Batch: 2, Frames: 300, Tokens: 20}, backward)
	if err != nil {
		t.Fatal(err)
	}
	spec := engine.Spec{Weights: net.Weights, Shared: net.Shared}
	if backward {
		spec.Loss, spec.Grads = net.Loss, net.Graph.Grad(net.Loss, net.Weights...)
	} else {
		spec.Outputs = map[string]*G.Node{"logits": net.Logits}
	}
	if err := net.Graph.Err(); err != nil {
		t.Fatal(err)
	}
	program, err := engine.Compile(spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Plan.Check(); err != nil {
		t.Error(err)
	}
	if backward && len(program.Grads) != len(net.Weights) {
		t.Errorf("%d gradients for %d weights", len(program.Grads), len(net.Weights))
	}
	if program.Plan.Size == 0 || len(program.Steps) == 0 {
		t.Errorf("a program of %d steps in %d words", len(program.Steps), program.Plan.Size)
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
	manifests := slices.DeleteFunc([]string{c.Data.TrainManifest, c.Data.ValManifest, c.Data.TestManifest}, func(s string) bool { return s == "" })
	if len(manifests) != 3 {
		t.Errorf("manifests %v, want one each to train, validate and test on", manifests)
	}
	for _, m := range manifests {
		if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(m))); err != nil {
			t.Error(err)
		}
	}
}
