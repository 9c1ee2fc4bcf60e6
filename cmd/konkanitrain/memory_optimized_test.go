package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The script's flags give way to those that a user gives, however he writes them.
func TestMemoryOptimizedScript(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("..", "..", "run_memory_optimized.sh"))
	if err != nil {
		t.Fatal(err)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	dir := t.TempDir()
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // the script follows links to itself
		t.Fatal(err)
	}
	for name, text := range map[string]string{"run.sh": string(script), "konkanitrain": "#!/bin/sh\nprintf '%s\\n' \"$@\"\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	config := "--config=" + dir + "/configs/optimized.yaml"
	for given, want := range map[string]string{
		"--resume auto":                                           config + " --batch_size=2 --grad_accum=4 --fp16 --resume auto",
		"--batch-size 4 --fp16=false":                             config + " --grad_accum=4 --batch-size 4 --fp16=false",
		"--config x.yaml --grad_accum=8":                          "--batch_size=2 --fp16 --config x.yaml --grad_accum=8",
		"--gradient-accumulation-steps 2 --mixed_precision=false": config + " --batch_size=2 --gradient-accumulation-steps 2 --mixed_precision=false",
		"--log_dir fp16 --train_manifest":                         config + " --batch_size=2 --grad_accum=4 --fp16 --log_dir fp16 --train_manifest",
	} {
		out, err := exec.Command(shell, append([]string{filepath.Join(dir, "run.sh")}, strings.Fields(given)...)...).CombinedOutput()
		if got := strings.Join(strings.Fields(string(out)), " "); err != nil || got != want {
			t.Errorf("%s: %v\n got %s\nwant %s", given, err, got, want)
		}
	}
	gpu := filepath.Join(dir, "konkanitrain-gpu") // what it does, the other one does not
	if err := os.WriteFile(gpu, []byte("#!/bin/sh\necho on a card\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(shell, filepath.Join(dir, "run.sh")).CombinedOutput(); err != nil || string(out) != "on a card\n" {
		t.Errorf("beside konkanitrain-gpu: %v, %q", err, out)
	}
}
