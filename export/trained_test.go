//go:build onnx

package export

import (
	_ "embed"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/audio"
	"konkanitrain/internal/onnx"
	"konkanitrain/internal/testkit/onnxrun"
	"konkanitrain/recognize"
)

//go:embed testdata/sherpa.py
var sherpaScript []byte

// trained opens the model that an environment variable names, and hears the bundled example's test set by it.
func trained(t *testing.T, variable string) (*recognize.Stored, []heard) {
	t.Helper()
	path := onnxrun.Need(t, variable, "a checkpoint_dir of the bundled example")
	m, err := recognize.Open(path, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	const set = "../examples/konkani_words"
	files, err := filepath.Glob(set + "/wav/v1[12]/*.wav") // the voices of test.jsonl
	if err != nil || len(files) != 80 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var all []heard
	for _, path := range files {
		var r audio.Reader
		_, wave, err := r.Read(audio.File(path), nil, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, heard{path: path, wave: slices.Clone(wave)})
	}
	listen(t, m, all)
	return m, all
}

// A trained model gives the same in onnxruntime on the whole test set of the bundled example: logits within 1e-4 as
// float32, and the same texts. Stored in fewer bits it gives nearly the same: the bounds are some ten times what was
// measured, so that they hold for another training too.
func TestTrainedModelInONNX(t *testing.T) {
	m, all := trained(t, "KONKANITRAIN_MODEL")
	for _, c := range []struct {
		weights Form
		place   Place
		logits  float64
		texts   int
	}{{onnx.Float32, Out, 1e-4, 0}, {onnx.Float32, In, 1e-4, 0}, {onnx.Float16, Out, 0.1, 2}, {onnx.Int8Weights, Out, 2, 8}, {onnx.Int8Weights, In, 2, 8}} {
		o := Options{Format: ONNX, Features: c.place, Weights: c.weights}
		dir, r := mustWrite(t, m, o)
		got := run(t, m.Description, o, mustRead(t, dir, "model.onnx"), all)
		t.Logf("%s, features %s, %.2f MB: %v", c.weights, c.place, float64(r.Bytes)/1e6, got)
		if !(got.logits <= c.logits) || got.texts > c.texts {
			t.Errorf("more than %g, or than %d texts", c.logits, c.texts)
		}
	}
}

// sherpa-onnx transcribes the whole test set as konkanitrain does, by both kinds of models that it takes.
func TestTrainedModelInSherpa(t *testing.T) {
	for variable, slot := range map[string]Slot{"KONKANITRAIN_MODEL": wenet, "KONKANITRAIN_MODEL_SCALE_1": zipformer} {
		m, all := trained(t, variable)
		for _, weights := range []Form{onnx.Float32, onnx.Float16, onnx.Int8Weights} {
			dir, r := mustWrite(t, m, Options{Format: ONNX, Features: Out, Weights: weights})
			if *r.Slot != slot || slices.ContainsFunc(r.Warnings, func(w string) bool { return !strings.HasPrefix(w, "times of words") }) {
				t.Fatalf("%s: %s, %v", variable, r.Slot.Name, r.Warnings)
			}
			question := map[string]any{
				"folder": dir, "method": slot.Method, "sample_rate": m.Description.Features.SampleRate, "num_mels": m.Description.Network.NumMels,
			}
			var files []string
			for _, u := range all {
				path, err := filepath.Abs(u.path)
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, path)
			}
			question["files"] = files
			var answers []struct {
				Text  string
				Times []float64
			}
			onnxrun.Python(t, onnxrun.Variable, sherpaScript, question, &answers)
			others := 0
			for i, a := range answers {
				if want := best(m.Description, all[i].logits); strings.TrimSpace(a.Text) != want {
					others++
					t.Logf("%s: %q, and here %q", all[i].path, a.Text, want)
				}
				last := float64(len(all[i].wave)) / float64(m.Description.Features.SampleRate)
				if slot == wenet && !slices.IsSorted(a.Times) || slot == wenet && len(a.Times) > 0 && a.Times[len(a.Times)-1] > last {
					t.Errorf("%s of %.2f s: times %v", all[i].path, last, a.Times)
				}
			}
			t.Logf("%s, %s: %d of %d texts are others", slot.Name, weights, others, len(answers))
			if len(answers) != 80 || weights == onnx.Float32 && others > 0 || others > 8 {
				t.Errorf("%d answers, %d others", len(answers), others)
			}
		}
	}
}
