//go:build forms

// Package forms compares one corpus in every form with its WAV files. make.py writes the forms:
//
//	python3 bench/forms/make.py FOLDER && FORMS=FOLDER go test -tags forms ./bench/forms
package forms

import (
	"crypto/sha256"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"konkanitrain/data"
	"konkanitrain/data/feature"
)

type form struct {
	Name, Manifest, Reference string
	Lost                      string // "nothing", or the codec that loses something
}

// farthest is how far features may be from those of the WAV files, as the root mean square of the differences of
// normalized log-mel energies (their deviation is 1), over a corpus of 16 kHz: 64 kbit/s for MP3 and Opus, quality 6
// for Vorbis. Measured are 0.35, 0.35 and 0.16; encoders of other versions differ a little.
var farthest = map[string]float64{"mp3": 0.4, "vorbis": 0.4, "opus": 0.25}

func forms(t *testing.T) []form {
	dir := os.Getenv("FORMS")
	if dir == "" {
		t.Fatal("FORMS must name the folder that make.py has written")
	}
	b, err := os.ReadFile(filepath.Join(dir, "forms.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []form
	if err := json.Unmarshal(b, &all); err != nil || len(all) == 0 {
		t.Fatal(len(all), err)
	}
	return all
}

// corpus is what a set gives, by the utterances' ids.
type corpus struct {
	order    []string
	text     map[string]string
	seconds  map[string]float64 // samples at 16 kHz
	features map[string][]float32
}

func load(t *testing.T, manifest, index string) *corpus {
	t.Helper()
	const rate = 16000
	set, err := data.Load(t.Context(), manifest, data.Options{SampleRate: rate, Index: index})
	if err != nil {
		t.Fatal(err)
	}
	c := &corpus{text: map[string]string{}, seconds: map[string]float64{}, features: map[string][]float32{}}
	options := feature.Default()
	options.SampleRate = rate
	loader, err := data.NewLoader(set, data.LoaderOptions{Evaluate: true, Window: set.Len(), Feature: options})
	if err != nil {
		t.Fatal(err)
	}
	stream, err := loader.Start(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	window, err := stream.Next()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range window.Examples {
		if e.Err != nil {
			t.Fatal(e.Err)
		}
		u := e.Utt
		c.order = append(c.order, u.ID)
		c.text[u.ID] = u.Text
		c.seconds[u.ID] = float64(u.Samples) * rate / float64(u.Rate())
		c.features[u.ID] = slices.Clone(e.Features)
	}
	return c
}

// TestForms holds each form to the WAV files, with an index that is made and one that is kept: the same ids, texts and
// lengths, and features that are the same to the bit, or near where the codec loses something.
func TestForms(t *testing.T) {
	for _, f := range forms(t) {
		t.Run(f.Name, func(t *testing.T) {
			index := t.TempDir()
			want, got := load(t, f.Reference, ""), load(t, f.Manifest, index)
			again := load(t, f.Manifest, index)
			// Folders that are walked have the order of their names, lists that of their lines: the corpus has both.
			if !slices.Equal(want.order, got.order) || !slices.Equal(want.order, again.order) {
				t.Fatalf("ids are %q ..., want %q ...", got.order[:3], want.order[:3])
			}
			sum, n := 0.0, 0
			for id, features := range want.features {
				switch {
				case got.text[id] != want.text[id]:
					t.Errorf("%s: text %q, want %q", id, got.text[id], want.text[id])
				case got.seconds[id] != want.seconds[id]:
					t.Errorf("%s: %v samples of 16 kHz, want %v", id, got.seconds[id], want.seconds[id])
				case len(got.features[id]) != len(features):
					t.Errorf("%s: %d features, want %d", id, len(got.features[id]), len(features))
				case f.Lost == "nothing" && !slices.Equal(got.features[id], features):
					t.Errorf("%s: other features", id)
				case !slices.Equal(got.features[id], again.features[id]):
					t.Errorf("%s: other features the second time", id)
				default:
					for i, v := range features {
						d := float64(got.features[id][i] - v)
						sum, n = sum+d*d, n+1
					}
				}
			}
			if distance := math.Sqrt(sum / float64(max(n, 1))); f.Lost != "nothing" {
				t.Logf("distance %.3f", distance)
				if distance > farthest[f.Lost] || distance == 0 {
					t.Errorf("features are %.3f away, %.3f are allowed", distance, farthest[f.Lost])
				}
			}
		})
	}
}

// TestWeights trains a small network for 20 updates on each form: where nothing is lost the weights are the same to the
// last bit.
func TestWeights(t *testing.T) {
	program := filepath.Join(t.TempDir(), "konkanitrain")
	if out, err := exec.Command("go", "build", "-o", program, "konkanitrain/cmd/konkanitrain").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	trained := map[[32]byte][32]byte{} // weights by what a reference says
	weights := func(t *testing.T, manifest string) [32]byte {
		dir := t.TempDir()
		out, err := exec.Command(program, "--config", "../../configs/smoke.yaml", "--train_manifest", manifest, "--val_manifest", "",
			"--test_manifest", "", "--max_updates", "20", "--warmup_updates", "5", "--cpu_workers", "1", "--batch_size", "8", "--checkpoint_dir", dir).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		b, err := os.ReadFile(filepath.Join(dir, "step-00000020", "model.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		return sha256.Sum256(b)
	}
	for _, f := range forms(t) {
		if f.Lost != "nothing" {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			b, err := os.ReadFile(f.Reference)
			if err != nil {
				t.Fatal(err)
			}
			key := sha256.Sum256(b)
			if _, ok := trained[key]; !ok {
				trained[key] = weights(t, f.Reference)
			}
			if weights(t, f.Manifest) != trained[key] {
				t.Error("other weights than from the WAV files")
			}
		})
	}
}
