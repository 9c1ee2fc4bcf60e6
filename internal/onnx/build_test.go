package onnx

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"konkanitrain/internal/testkit"
)

// What is there already isn't made again; what differs in anything is.
func TestNodesOnce(t *testing.T) {
	b := NewBuilder()
	x := b.Input("x", Float, Dim{Name: "B"})
	y := b.Node("Relu", []string{x})
	b.At("elsewhere")
	if b.Node("Relu", []string{x}) != y || b.Transpose(x, 0) != b.Transpose(x, 0) || b.Int(3) != b.Int(3) || b.Doubles(nil, 1) != b.Double(1) {
		t.Error("the same is made twice")
	}
	for _, pair := range [][2]string{
		{y, b.Node("Relu", []string{y})}, {y, b.Node("Sigmoid", []string{x})}, {b.Int(3), b.Ints(3)}, {b.Int(3), b.Int(4)}, {b.Float(1), b.Double(1)},
		{b.Transpose(x, 0, 1), b.Transpose(x, 1, 0)}, {b.Cast(x, Double), b.Cast(x, Int64)}, {b.Float(0), b.Float(float32(math.Copysign(0, -1)))},
		{b.Node("A", nil, Attribute{"a", int64(1)}), b.Node("A", nil, Attribute{"a", float32(1)})}, {b.Node("A", nil), b.Node("A", nil, Attribute{"a", "1"})},
		{b.Node("Concat", []string{"x", "y"}), b.Node("Concat", []string{"x y"})},
	} {
		if pair[0] == pair[1] {
			t.Errorf("two things are one, %s", pair[0])
		}
	}
	calls := 0
	for range 2 {
		b.Once("key", func() string { calls++; return b.Node("Tanh", []string{x}) })
	}
	if calls != 1 {
		t.Errorf("made %d times", calls)
	}
}

// A graph that no runtime takes is an error that says why.
func TestFinishChecks(t *testing.T) {
	for want, spoil := range map[string]func(*Builder){
		`reads "nowhere", which nothing before it makes`: func(b *Builder) { b.Node("Relu", []string{"nowhere"}) },
		`two values are called "x"`:                      func(b *Builder) { b.Input("x", Float) },
		`two values are called "y"`:                      func(b *Builder) { b.Weight("y", nil, nil) },
		`two values are called ""`:                       func(b *Builder) { b.Input("", Float) },
		`the output "z" is made by nothing`:              func(b *Builder) {},
	} {
		b := NewBuilder()
		b.Named("y", b.Node("Relu", []string{b.Input("x", Float)}))
		spoil(b)
		out := "y"
		if want == `the output "z" is made by nothing` {
			out = "z"
		}
		_, err := b.Finish("g", Float32, Value{Name: out, Type: Float})
		testkit.MustFail(t, err, want)
	}
}

// Weights are stored if they are read, as the form says; matrices of products turned over.
func TestWeights(t *testing.T) {
	data := []float32{1, -2, 0.5, 0, 3, 1e-3}
	make := func(f Form, data []float32) (Graph, map[string]Tensor) {
		b := NewBuilder()
		m := b.Weight("m", []int64{2, 3}, data)
		k := b.Weight("k", []int64{3, 1, 2}, data)
		v := b.Weight("v", []int64{6}, data)
		b.Weight("unread", []int64{6}, data)
		y := b.Node("Sum", []string{b.Transposed(m), k, v})
		if b.Transposed(m) != "m.transposed" {
			t.Error("turned over, it has another name")
		}
		g, err := b.Finish("g", f, Value{Name: y, Type: Float})
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]Tensor{}
		for _, c := range g.Constants {
			all[c.Name] = c
		}
		return g, all
	}
	names := func(g Graph) (list []string) {
		for _, c := range g.Constants {
			list = append(list, c.Name)
		}
		return list
	}
	turned := []float32{1, 0, -2, 3, 0.5, 1e-3}

	g, all := make(Float32, data)
	if got := names(g); !slices.Equal(got, []string{"m.transposed", "k", "v"}) || len(g.Nodes) != 1 {
		t.Errorf("float32: %v, %d nodes", got, len(g.Nodes))
	}
	if m := all["m.transposed"]; !slices.Equal(m.Dims, []int64{3, 2}) || !slices.Equal(m.Data, floats(turned)) {
		t.Errorf("turned over it is %v", m)
	}

	g, all = make(Float16, data)
	if got := names(g); !slices.Equal(got, []string{"m.transposed.float16", "k.float16", "v"}) {
		t.Errorf("float16: %v", got)
	}
	if k := all["k.float16"]; k.Type != Half || binary.LittleEndian.Uint16(k.Data[2:]) != 0xc000 {
		t.Errorf("float16 is %v", k)
	}
	large := slices.Clone(data)
	large[1] = 65520 // rounds to infinity
	if g, _ = make(Float16, large); !slices.Equal(names(g), []string{"m.transposed", "k", "v"}) {
		t.Errorf("beyond float16's range: %v", names(g))
	}

	g, all = make(Int8Weights, data)
	if got := names(g); !slices.Equal(got, []string{"m.transposed.int8", "m.transposed.scale", "k", "v"}) {
		t.Errorf("int8: %v", got)
	}
	scale := all["m.transposed.scale"].Data
	for i, q := range all["m.transposed.int8"].Data {
		s := math.Float32frombits(binary.LittleEndian.Uint32(scale[4*(i%2):]))
		if got := float32(int8(q)) * s; math.Abs(float64(got-turned[i])) > float64(s)/2*(1+1e-6) {
			t.Errorf("element %d is %g for %g, with steps of %g", i, got, turned[i], s)
		}
	}
	if whole, scales := quantize([]float32{0, 4, 0, -4}, 2); !slices.Equal(scales, []float32{1, 4. / 127}) || !slices.Equal(whole, []byte{0, 127, 0, 129}) {
		t.Errorf("an output of zeros: %v, %v", whole, scales)
	}
}

// A matrix that is no weight is turned over by a node.
func TestTransposedInput(t *testing.T) {
	b := NewBuilder()
	y := b.Transposed(b.Input("x", Float, Dim{Size: 2}, Dim{Size: 3}))
	g, err := b.Finish("g", Float32, Value{Name: y, Type: Float})
	if err != nil || len(g.Nodes) != 1 || g.Nodes[0].Op != "Transpose" {
		t.Errorf("%+v, %v", g, err)
	}
}
