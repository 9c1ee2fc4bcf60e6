package model

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"konkanitrain/internal/onnx"
)

// asONNX is a network's graph as ONNX, by way of a shape.
func asONNX(t *testing.T, c Config, s Shape) (onnx.Graph, []byte) {
	t.Helper()
	b := onnx.NewBuilder()
	for _, p := range Parameters(c) {
		var dims []int64
		for _, n := range p.Shape {
			dims = append(dims, int64(n))
		}
		w := make([]float32, p.Size())
		p.Init(w, 3)
		b.Weight(p.Name, dims, w)
	}
	lengths := b.Input("l", onnx.Int64, onnx.Dim{Name: "B"})
	features := b.Input("f", onnx.Float, onnx.Dim{Name: "B"}, onnx.Dim{Name: "T"}, onnx.Dim{Size: int64(c.NumMels)})
	logits, err := onnxOf(c, s, b, features, lengths)
	if err != nil {
		t.Fatal(err)
	}
	g, err := b.Finish("g", onnx.Float32, onnx.Value{Name: logits, Type: onnx.Float})
	if err != nil {
		t.Fatal(err)
	}
	file, err := (&onnx.Model{Graph: g}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	return g, file
}

// Every op of recognition has its form in ONNX, and nothing of the shape for which the graph was built is in it.
func TestONNXOfAnyShape(t *testing.T) {
	for _, subsampling := range []int{2, 4, 8} {
		c := standard(16, 2, 1, 9)
		c.Subsampling = subsampling
		g, file := asONNX(t, c, Shape{1, 1, 1})
		for _, s := range []Shape{{3, 77, 5}, {1, 1000, 1}} {
			if _, other := asONNX(t, c, s); !bytes.Equal(file, other) {
				t.Errorf("subsampling %d: the graph for %+v is another one", subsampling, s)
			}
		}
		// The weights that are read are those of recognition, each once.
		stored := map[string]int{}
		for _, k := range g.Constants {
			stored[strings.TrimSuffix(k.Name, ".transposed")]++
		}
		for _, p := range Parameters(c) {
			want := 1
			if strings.HasPrefix(p.Name, "decoder.") {
				want = 0
			}
			if stored[p.Name] != want {
				t.Errorf("subsampling %d: %s is stored %d times, want %d", subsampling, p.Name, stored[p.Name], want)
			}
		}
	}
}

// A block more is the same nodes again: what all blocks have in common is there once.
func TestONNXGrowsByBlocks(t *testing.T) {
	var nodes []int
	for layers := range 3 {
		g, _ := asONNX(t, standard(16, layers+1, 0, 9), Shape{1, 1, 1})
		nodes = append(nodes, len(g.Nodes))
	}
	if first, second := nodes[1]-nodes[0], nodes[2]-nodes[1]; first != second || second >= nodes[0] {
		t.Errorf("%v nodes of 1, 2 and 3 blocks", nodes)
	}
}

func TestONNXOfNoNetwork(t *testing.T) {
	if _, err := ONNX(Config{}, onnx.NewBuilder(), "f", "l"); err == nil || !strings.Contains(fmt.Sprint(err), "d_model is 0") {
		t.Errorf("the error is %v", err)
	}
}
