package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// A few kills of a short run: the trial's own test, and in every test run a small one of the promise.
func TestKill(t *testing.T) {
	program := filepath.Join(t.TempDir(), "konkanitrain")
	if text, err := exec.Command("go", "build", "-o", program, "../../cmd/konkanitrain").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	o := options{kills: 6, updates: 20, seed: 7, data: filepath.Join("..", "..", "examples", "konkani_words"), program: program, further: strings.Fields("--ema_decay 0.9 --schedule cosine --num_epochs 5")} // five epochs of four updates
	var said strings.Builder
	if err := run(o, &said); err != nil {
		t.Fatal(err)
	}
	testkit.MustContain(t, said.String(), "6 kills in ", "byte for byte")
}

// A run that ends with other bytes, other metrics, or leaves something behind, is told from the straight one.
func TestCompareTells(t *testing.T) {
	dir := t.TempDir()
	tr := &trial{options: options{updates: 2}, straight: filepath.Join(dir, "straight")}
	other := filepath.Join(dir, "other")
	step, mean := "step-00000002", "averaged/step-00000002/model.safetensors"
	files := map[string]string{
		step + "/model.safetensors": "weights", mean: "their mean", step + "/optimizer.safetensors": "moments",
		"metrics.jsonl": `{"event":"start"}` + "\n" + `{"event":"update","time":"a","update":1,"loss":2.5}` + "\n",
	}
	for _, folder := range []string{tr.straight, other} {
		for name, text := range files {
			write(t, filepath.Join(folder, name), text)
		}
	}
	same := strings.ReplaceAll(files["metrics.jsonl"], `"a"`, `"b"`)
	write(t, filepath.Join(other, "metrics.jsonl"), same) // the time is another one
	if err := tr.compare(other); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		step + "/model.safetensors":     {"weight5", "model.safetensors is not that"},
		step + "/optimizer.safetensors": {"", "optimizer.safetensors is not that"},
		mean:                            {"a mean", mean + " is not that"},
		"metrics.jsonl":                 {same + `{"event":"update","update":1}` + "\n", "the metrics are"},
		".tmp-step-00000003-abc":        {"", "left over are"},
		"metrics.jsonl.partial":         {"", "left over are"},
	} {
		before, there := files[name]
		write(t, filepath.Join(other, name), c.text)
		testkit.MustFail(t, tr.compare(other), c.want)
		if there {
			write(t, filepath.Join(other, name), before)
		} else if err := os.Remove(filepath.Join(other, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
