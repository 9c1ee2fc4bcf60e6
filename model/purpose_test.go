package model

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/optest"
	"konkanitrain/internal/testkit"
	"konkanitrain/op"
)

// For transcribing there are no targets, no decoder and no losses, and the logits are those of scoring, to the bit.
func TestTranscribing(t *testing.T) {
	for _, decoder := range []int{0, 2} {
		c := standard(16, 2, decoder, 9)
		shape := Shape{Batch: 2, Frames: 50, Tokens: 3}
		scoring, transcribing := mustBuild(t, c, shape, Scoring), mustBuild(t, c, shape, Transcribing)
		if transcribing.CTC != nil || transcribing.CE != nil || transcribing.Loss != nil {
			t.Errorf("%d decoder layers: there is a loss", decoder)
		}
		var want []string
		for _, p := range Parameters(c) {
			if !strings.HasPrefix(p.Name, "decoder.") {
				want = append(want, p.Name)
			}
		}
		var names []string
		for _, w := range transcribing.Weights {
			names = append(names, w.Name())
		}
		if !slices.Equal(names, want) {
			t.Errorf("%d decoder layers: parameters are %v, want %v", decoder, names, want)
		}
		got, full := logits(t, transcribing, shape), logits(t, scoring, shape)
		if !slices.Equal(got.Shape, full.Shape) || !slices.Equal(got.Data, full.Data) {
			t.Errorf("%d decoder layers: transcribing gives other logits than scoring", decoder)
		}
	}
}

func mustBuild(t *testing.T, c Config, shape Shape, purpose Purpose) *Network {
	t.Helper()
	net, err := Build(c, shape, purpose)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// logits computes them from leaves whose values follow from their names, the same in every network.
func logits(t *testing.T, net *Network, shape Shape) op.Array {
	t.Helper()
	feeds := map[*G.Node]op.Array{}
	for _, n := range net.Graph.Inputs() {
		a := op.Array{Shape: n.Shape()}
		switch n.Name() {
		case Lengths:
			a.Ints = []int32{int32(shape.Frames), int32(shape.Frames - 17)}
		case Targets, TargetLengths:
			a.Ints = slices.Repeat([]int32{3}, op.Size(n.Shape()))
		default:
			a.Data = testkit.Normal[float64](uint64(len(n.Name())), op.Size(n.Shape()))
		}
		feeds[n] = a
	}
	out, err := optest.Reference(feeds, net.Logits)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// block finds the block of a place by its name.
var block = regexp.MustCompile(`^(encoder|decoder)\.blocks\.\d+`)

// Every op of the forward and the backward pass has a place, and the block that the place lies in.
func TestPlacesAndBlocks(t *testing.T) {
	c := standard(16, 2, 2, 9)
	c.Subsampling = 8
	encoder := []string{"encoder.blocks.0", "encoder.blocks.1"}
	all := append([]string{"decoder.blocks.0", "decoder.blocks.1"}, encoder...)
	for purpose, want := range map[Purpose][]string{Training: all, Scoring: all, Transcribing: encoder} {
		net := mustBuild(t, c, Shape{2, 40, 3}, purpose)
		if purpose == Training {
			net.Graph.Grad(net.Loss, net.Weights...)
			if err := net.Graph.Err(); err != nil {
				t.Fatal(err)
			}
		}
		blocks := map[string]bool{}
		for _, n := range net.Graph.AllNodes() {
			o, ok := n.Op().(*op.Op)
			if !ok {
				continue // a leaf, or Gorgonia's sum of gradients
			}
			if o.Place == "" {
				t.Errorf("purpose %d: %v has no place", purpose, o)
			}
			if b := block.FindString(o.Place); o.Block != b {
				t.Errorf("purpose %d: %v at %s is in block %q, want %q", purpose, o, o.Place, o.Block, b)
			}
			if o.Block != "" {
				blocks[o.Block] = true
			}
		}
		if len(blocks) != len(want) || slices.ContainsFunc(want, func(b string) bool { return !blocks[b] }) {
			t.Errorf("purpose %d: the blocks are %v, want %v", purpose, blocks, want)
		}
	}
}

// A parameter is used where its name says: the first part of it is the place of an op that reads it.
func TestParametersAreNamedByPlace(t *testing.T) {
	c := standard(16, 2, 2, 9)
	c.Subsampling = 8
	net := mustBuild(t, c, Shape{2, 40, 3}, Training)
	readers := map[*G.Node][]string{}
	for _, n := range net.Graph.AllNodes() {
		if o, ok := n.Op().(*op.Op); ok {
			for _, child := range op.Children(n) {
				readers[child] = append(readers[child], o.Place)
			}
		}
	}
	for _, w := range net.Weights {
		at := w.Name()[:strings.LastIndex(w.Name(), ".")]
		if !slices.Equal(readers[w], []string{at}) {
			t.Errorf("%s is read at %v, want %s", w.Name(), readers[w], at)
		}
	}
}
