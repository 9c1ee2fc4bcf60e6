//go:build gpu

// Package gpu_test tries bench/gpu.sh.
package gpu_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/device/cuda/simulated"
)

// The script packs what it needs, and its parts find on a simulated card what they look for.
func TestSimulatedScript(t *testing.T) {
	for _, tool := range []string{"bash", "tar", "timeout", "awk"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no ", tool)
		}
	}
	l := simulated.Build(t, simulated.Options{})
	dir := t.TempDir()
	archive := filepath.Join(dir, "check.tar.gz")
	out, err := exec.Command("bash", filepath.Join("..", "gpu.sh"), "pack", archive).CombinedOutput()
	if err != nil {
		t.Fatalf("packing: %v\n%s", err, out)
	}
	if out, err := exec.Command("tar", "-C", dir, "-xzf", archive).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	logs := filepath.Join(dir, "out")
	cmd := exec.Command("bash", filepath.Join(dir, "konkanitrain-gpu-check", "gpu.sh"), "run", "--short", "--driver", l.Driver, "--blas", l.BLAS, "--python", "no-python")
	cmd.Env = append(os.Environ(), "OUT="+logs)
	out, err = cmd.CombinedOutput()
	t.Logf("on a simulated card:\n%s", out)
	if err != nil {
		t.Errorf("%v", err)
	}
	table, err := os.ReadFile(filepath.Join(logs, "table.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"ops ", "updates ", "learning, float32 ", "learning, half ", "in a T4's memory ", "tiny, float32 ", "tiny again, half ", "limits of ", "all of it ",
	} {
		if !strings.Contains(string(table), "\n"+want) && !strings.HasPrefix(string(table), want) {
			t.Errorf("no row %q", want)
		}
	}
	for _, wrong := range []string{"WRONG", "NOT FINISHED", "not measured"} {
		if strings.Contains(string(table), wrong) {
			t.Errorf("it says %s", wrong)
		}
	}
	// Something that isn't right shows in the exit code.
	cmd = exec.Command("bash", filepath.Join(dir, "konkanitrain-gpu-check", "gpu.sh"), "run", "--short", "--driver", "/nowhere/libcuda.so.1", "--blas", l.BLAS, "--python", "no-python")
	cmd.Env = append(os.Environ(), "OUT="+filepath.Join(dir, "wrong"))
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "WRONG") {
		t.Errorf("without a driver: %v\n%s", err, out)
	}
}
