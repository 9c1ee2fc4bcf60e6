//go:build onnx

package op_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/frames"
	"konkanitrain/internal/optest"
	"konkanitrain/internal/testkit/onnxrun"
	"konkanitrain/op"
)

// onnxruntime computes every op that can be written as ONNX as its specification does, on all of its cases: within what
// kernels may differ by, and where that is nothing 1e-6, for its products are summed in another order.
func TestONNXAsSpecified(t *testing.T) {
	var jobs []onnxrun.Job
	var want [][]float64
	var tolerances []float64
	for _, c := range optest.Cases() {
		if c.Build == nil || c.Batch != nil {
			continue
		}
		m, r, err := asONNX(c)
		if err != nil {
			continue // TestOpsWithONNX says which these are
		}
		file, err := m.Encode()
		if err != nil {
			t.Fatal(c.Name, err)
		}
		inputs := map[string]onnxrun.Array{}
		for i, a := range c.In {
			if a.Ints != nil {
				var list []int64
				for _, v := range a.Ints {
					list = append(list, int64(v))
				}
				inputs[inputName(i)] = onnxrun.Ints(a.Shape, list...)
				continue
			}
			var list []float32
			for _, v := range a.Data {
				list = append(list, float32(v))
			}
			inputs[inputName(i)] = onnxrun.Floats(a.Shape, list)
		}
		out, err := r.Reference(r.Out)
		if err != nil {
			t.Fatal(c.Name, err)
		}
		jobs = append(jobs, onnxrun.Job{Name: c.Name, Model: file, Runs: []map[string]onnxrun.Array{inputs}})
		want, tolerances = append(want, onlyOwn(c, r, out[0].Data)), append(tolerances, max(c.Tol, 1e-6))
	}
	if len(jobs) < 20 {
		t.Fatalf("only %d cases", len(jobs))
	}
	for i, r := range onnxrun.Run(t, jobs) {
		if r.Error != "" {
			t.Errorf("%s: %s", jobs[i].Name, r.Error)
			continue
		}
		got := r.Runs[0]["result"].Float32s()
		largest := 1.0
		for _, w := range want[i] {
			if math.Abs(w) > largest {
				largest = math.Abs(w)
			}
		}
		bound := tolerances[i] * largest
		if len(got) != len(want[i]) {
			t.Errorf("%s: %d elements, want %d", jobs[i].Name, len(got), len(want[i]))
			continue
		}
		for k, w := range want[i] {
			if math.IsNaN(w) {
				continue
			}
			if d := math.Abs(float64(got[k]) - w); !(d <= bound) {
				t.Errorf("%s: element %d is %g, want %g (within %.2g)", jobs[i].Name, k, got[k], w, bound)
				break
			}
		}
	}
}

// onlyOwn is the result of a case with NaN in the frames behind an utterance's own, where the ops of the subsampling
// may leave anything.
func onlyOwn(c optest.Case, r *optest.Rig, result []float64) []float64 {
	o := r.Out.Op().(*op.Op)
	if !strings.HasPrefix(o.Name, "subsample.") {
		return result
	}
	factor := 1
	if o.Params != "" {
		fmt.Sscan(o.Params, &factor)
	}
	shape := r.Out.Shape()
	frame := shape[2] * shape[3]
	result = slices.Clone(result)
	for b, n := range c.In[3].Ints {
		for t := frames.Subsampled(int(n), 2*factor); t < shape[1]; t++ {
			for k := range frame {
				result[(b*shape[1]+t)*frame+k] = math.NaN()
			}
		}
	}
	return result
}
