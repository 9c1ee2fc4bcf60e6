package op

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"
)

// Drop is dropout at one place of the network. P is the probability of a zero, in [0, 1); it is used in
// steps of 1/65536. Site is the place's own id: two sites with one id would draw the same numbers.
//
// What is kept depends on the utterance's seed, the site and the position in the utterance's own block
// (frame t, element j of D: t*D + j), so neither on padding nor on the batch.
type Drop struct {
	P    float64
	Site uint32
}

// on says whether anything is dropped. An op without dropout has no seeds among its inputs.
func (d Drop) on(seeds *G.Node) bool { return seeds != nil && d.P != 0 }

// check refuses what is no probability. P so near to 1 that the threshold says "all" would scale by 1/0.
func (d Drop) check() error {
	if !(d.P >= 0 && d.P < 1) || d.threshold() >= 1<<16 {
		return fmt.Errorf("dropout at site %d: probability is %v, want 0 or more and less than 1", d.Site, d.P)
	}
	return nil
}

// threshold is the number of the 65536 possible draws that mean zero.
func (d Drop) threshold() uint32 { return uint32(math.RoundToEven(d.P * 65536)) }

// scale is the factor of what is kept: the mean stays.
func (d Drop) scale() float64 { return 65536 / float64(65536-d.threshold()) }

// String is d among an op's Params: the draws depend on the threshold, not on the P that it was rounded from.
func (d Drop) String() string { return fmt.Sprintf("site=%d threshold=%d", d.Site, d.threshold()) }

// Dropout is y = x*scale where the draw keeps the element, else 0. Where d.P is 0 or seeds is nil
// (evaluation), it is x itself.
//
//	x [B, ...], seeds [B, 2] int -> y like x
//	dx = the same elements of dy, scaled and dropped alike
func (g *Graph) Dropout(x, seeds *G.Node, d Drop) *G.Node {
	if !d.on(seeds) {
		return x
	}
	return g.add(newDropout(d), x, seeds)
}

// dropout drops in a batch of utterances.
type dropout struct {
	batch, elements int // elements of an utterance
	d               Drop
}

func newDropout(d Drop) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		if in[0].Of != Float32 || !isSeeds(in[1], in[0]) {
			return nil, want("dropout", "[B, ...], [B, 2] int", in)
		}
		if err := d.check(); err != nil {
			return nil, err
		}
		return &Op{
			Name: "dropout", Params: d.String(), Out: Type{Shape: in[0].Shape.Clone()},
			FLOPs: float64(in[0].Elements()), family: dropout{in[0].Shape[0], in[0].Elements() / in[0].Shape[0], d},
			wrt: []bool{true, false},
			grad: func(g *Graph, in G.Nodes, _, dy *G.Node) G.Nodes {
				return G.Nodes{g.add(newDropout(d), dy, in[1]), nil}
			},
		}, nil
	}
}
