package onnx

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/internal/testkit"
)

// everyField is the model of testdata/make.py.
func everyField() *Model {
	return &Model{
		Producer: "p", Version: "v", Doc: "d", Metadata: []Property{{"k", ""}, {"किल्ली", "मोल"}},
		Graph: Graph{
			Name: "g",
			Nodes: []Node{
				{Name: "first/Transpose", Op: "Transpose", In: []string{"x"}, Out: []string{"y"}, Attributes: []Attribute{{"perm", []int64{1, 0, -1}}}},
				{Op: "Custom", In: []string{"y", "", "w"}, Out: []string{"a", "b"},
					Attributes: []Attribute{{"factor", float32(0.5)}, {"number", int64(-5)}, {"text", "क"}}},
				{Op: "Nothing", Out: []string{"c"}},
			},
			Inputs:  []Value{{"x", Float, []Dim{{Name: "B"}, {Size: 3}, {}}}, {"n", Int64, nil}},
			Outputs: []Value{{"a", Double, []Dim{{Size: 1 << 40}, {Name: "T"}}}},
			Constants: []Tensor{
				{"w", Half, []int64{2, 1}, []byte{0, 0x3c, 0, 0xc0}}, {"s", Int8, nil, []byte{0xff}}, {"none", Float, []int64{0}, nil},
			},
		},
	}
}

// The bytes are those that the format's own library writes.
func TestEncodeAsTheLibrary(t *testing.T) {
	want, err := os.ReadFile("testdata/messages.onnx")
	if err != nil {
		t.Fatal(err)
	}
	got, err := everyField().Encode()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// What no file can hold is refused, and said.
func TestEncodeRefuses(t *testing.T) {
	half := make([]byte, 1<<30) // never touched
	for want, spoil := range map[string]func(*Model){
		`"\xff" is not UTF-8`:      func(m *Model) { m.Graph.Nodes[0].Op = "\xff" },
		`attribute "x" is a int: `: func(m *Model) { m.Graph.Nodes[0].Attributes = []Attribute{{"x", 3}} },
		"at most 2147483647: write them as float16 or int8": func(m *Model) {
			m.Graph.Constants = []Tensor{{"a", Int8, []int64{1 << 30}, half}, {"b", Int8, []int64{1 << 30}, half}}
		},
	} {
		m := everyField()
		spoil(m)
		_, err := m.Encode()
		testkit.MustFail(t, err, want)
	}
}

// FuzzEncode: what was written can be read, and is what it was.
func FuzzEncode(f *testing.F) {
	f.Add("Conv", "x", "strides", "text", int64(-1), float32(0.25), []byte{1, 2, 3}, 3)
	f.Add("", "", "", "", int64(math.MinInt64), float32(math.Inf(1)), []byte(nil), 0)
	f.Add("op", strings.Repeat("long", 100), "a", strings.Repeat("t", 20000), int64(1<<62), float32(0), bytes.Repeat([]byte{7}, 1<<15), 200)
	f.Fuzz(func(t *testing.T, op, name, key, text string, i int64, x float32, data []byte, n int) {
		n = min(max(n, 0), 300)
		var list []int64
		var names []string
		for k := range n {
			list = append(list, i+int64(k))
			names = append(names, name)
		}
		m := &Model{Producer: name, Doc: text, Metadata: []Property{{key, text}}, Graph: Graph{
			Name:   name,
			Nodes:  []Node{{name, op, names, []string{key}, []Attribute{{key, i}, {key, x}, {key, text}, {key, list}}}},
			Inputs: []Value{{name, Half, []Dim{{Size: i}, {Name: name}}}}, Outputs: []Value{{key, Bool, nil}},
			Constants: []Tensor{{key, Int64, list, data}},
		}}
		b, err := m.Encode()
		if valid := strings.ToValidUTF8(op+name+key+text, "?") == op+name+key+text; (err == nil) != valid {
			t.Fatalf("UTF-8 %v, and the error is %v", valid, err)
		}
		if err != nil {
			return
		}
		got, err := decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, got, cmp.Comparer(sameFloats), cmp.Transformer("empty", func(b []byte) string { return string(b) }), emptyIsNil); diff != "" {
			t.Errorf("written and read it is another one:\n%s", diff)
		}
	})
}

func sameFloats(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
