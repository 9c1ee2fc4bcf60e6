package op_test

import (
	"maps"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/onnx"
	"konkanitrain/internal/optest"
	"konkanitrain/internal/testkit"
	"konkanitrain/op"
)

// asONNX is the graph of a case with one op, or an error. Its inputs are called a, b, c ...
func asONNX(c optest.Case) (*onnx.Model, *optest.Rig, error) {
	r, err := optest.NewRig(c.Build, c.In, nil, c.NoGradient...)
	if err != nil {
		return nil, nil, err
	}
	b := onnx.NewBuilder()
	named := map[*G.Node]string{}
	for i, in := range c.In {
		var dims []onnx.Dim
		for _, n := range in.Shape {
			dims = append(dims, onnx.Dim{Size: int64(n)})
		}
		of := onnx.Float
		if in.Ints != nil {
			of = onnx.Int64
		}
		named[r.In[i]] = b.Input(inputName(i), of, dims...)
	}
	y, err := r.Graph.ONNX(b, named, r.Out)
	if err != nil {
		return nil, nil, err
	}
	g, err := b.Finish("case", onnx.Float32, onnx.Value{Name: b.Named("result", y), Type: onnx.Float, Dims: make([]onnx.Dim, len(r.Out.Shape()))})
	for i := range g.Outputs[0].Dims {
		g.Outputs[0].Dims[i].Name = "result" + inputName(i)
	}
	return &onnx.Model{Graph: g}, r, err
}

func inputName(i int) string { return string(rune('a' + i)) }

// The ops that have a form in ONNX are those of recognition.
func TestOpsWithONNX(t *testing.T) {
	with, without := map[string]bool{}, map[string]bool{}
	for _, c := range optest.Cases() {
		if c.Build == nil || c.Batch != nil {
			continue
		}
		r, err := optest.NewRig(c.Build, c.In, nil, c.NoGradient...)
		if err != nil {
			t.Fatal(c.Name, err)
		}
		name := r.Out.Op().(*op.Op).Name
		if _, _, err := asONNX(c); err == nil {
			with[name] = true
		} else {
			without[name] = true
			testkit.MustFail(t, err, "can't be written as ONNX")
		}
	}
	want := []string{"attention.relative", "channelmajor", "depthwise", "glu", "layernorm", "linear", "relu", "residual", "subsample.conv", "subsample.depthwise", "swish"}
	if got := slices.Sorted(maps.Keys(with)); !slices.Equal(got, want) {
		t.Errorf("%v can be written, want %v", got, want)
	}
	for _, name := range []string{"attention", "ctc", "crossentropy", "embed", "dropout", "total"} {
		if !without[name] {
			t.Errorf("%s is no op of recognition, and nothing refuses it", name)
		}
	}
	for _, name := range []string{"swish", "residual", "attention.relative"} {
		if !without[name] {
			t.Errorf("%s with dropout isn't refused", name)
		}
	}
}
