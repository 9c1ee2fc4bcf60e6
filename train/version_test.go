package train

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/op"
)

// version1 is a checkpoint that an early version has written, and what it came to after some more updates: see the
// README beside it. Its paths begin at the root of the repository.
const version1 = "checkpoint/testdata/version1"

// past is a kind of kernels, and what training went on to with it.
type past struct {
	Kernels string
	GoDebug string `json:"GODEBUG"` // what chooses them
	Resumed []struct {
		Workers          int
		Weights, Moments string // SHA-256 of the data sections
	}
}

// A checkpoint of the first layout, and of the first state, goes on as it did then, bit for bit, with each kind of
// kernels that this processor has.
func TestOldCheckpointResumes(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("what is recorded was computed on amd64: plain Go may round otherwise on another architecture")
	}
	t.Chdir("..")
	var recorded struct {
		ResumeTo int `json:"resume_to"`
		AMD64    []past
	}
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(version1, "expected.json"))), &recorded); err != nil {
		t.Fatal(err)
	}
	if len(recorded.AMD64) != 3 {
		t.Fatalf("%d kinds of kernels are recorded", len(recorded.AMD64))
	}
	found := false
	for _, p := range recorded.AMD64 {
		if p.Kernels == op.Kernels() {
			found = true
			p.resume(t, recorded.ResumeTo)
		}
	}
	switch {
	case strings.Contains(op.Kernels(), "OpenBLAS"):
		t.Skip("OpenBLAS sums in another order than what is recorded")
	case !found:
		t.Errorf("nothing is recorded for the kernels %s", op.Kernels())
	}
	if os.Getenv(childKernels) != "" {
		return
	}
	for _, p := range recorded.AMD64 {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOldCheckpointResumes$")
		child.Dir = "train"
		child.Env = append(os.Environ(), "GODEBUG="+p.GoDebug, childKernels+"="+p.Kernels)
		if p.Kernels == op.Kernels() || p.GoDebug == "" { // done, or not to be had
			continue
		}
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", p.Kernels, err, out)
		}
	}
}

// childKernels names, in a child process of the test, the kernels that it is about.
const childKernels = "KONKANITRAIN_TEST_KERNELS"

// resume makes the updates until step, with one worker and with two.
func (p *past) resume(t *testing.T, step int) {
	t.Helper()
	if len(p.Resumed) != 2 {
		t.Fatalf("%+v", p)
	}
	for _, want := range p.Resumed {
		o, err := FindOrigin(RunConfig{Resume: version1 + "/step-00000302"})
		if err != nil {
			t.Fatal(err)
		}
		settings, err := o.Config()
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := fromSettings(settings)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Run.Resume, cfg.Run.CPUWorkers, cfg.Optimizer.MaxUpdates = o.Checkpoint.Path, want.Workers, step
		cfg = elsewhere(t, cfg)
		if _, err := Run(t.Context(), cfg, Options{Origin: o}); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(step))
		got := []string{dataSum(t, filepath.Join(dir, checkpoint.ModelFile)), dataSum(t, filepath.Join(dir, checkpoint.OptimizerFile))}
		if got[0] != want.Weights || got[1] != want.Moments {
			t.Errorf("%s, %d workers: weights %s and moments %s, want %s and %s", p.Kernels, want.Workers, got[0], got[1], want.Weights, want.Moments)
		}
	}
	if os.Getenv(childKernels) != "" {
		fmt.Println("resumed with", p.Kernels)
	}
}

// dataSum is the SHA-256 of all bytes behind the header of a safetensors file.
func dataSum(t *testing.T, path string) string {
	t.Helper()
	b := []byte(readFile(t, path))
	sum := sha256.Sum256(b[8+binary.LittleEndian.Uint64(b):])
	return hex.EncodeToString(sum[:])
}
