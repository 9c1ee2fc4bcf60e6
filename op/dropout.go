package op

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/philox"
)

// Drop is dropout at one place of the network. P is the probability of a zero, in [0, 1); it is used in
// steps of 1/65536. Site is the place's own id: two sites with one id would draw the same numbers.
//
// What is kept depends on the utterance's seed, the site and the position in the utterance's own block
// (frame t, element j of D: t*D + j), so neither on padding nor on the batch.
//
// Branch is the probability, in [0, 1) and in the same steps, with which all of an utterance's block is zero at once:
// stochastic depth, of [Graph.Residual] alone. That is drawn once for an utterance, beside the draws of its elements.
type Drop struct {
	P      float64
	Branch float64
	Site   uint32
}

// on says whether anything is dropped. An op without dropout has no seeds among its inputs.
func (d Drop) on(seeds *G.Node) bool { return seeds != nil && (d.P != 0 || d.Branch != 0) }

// check refuses what is no probability, and a branch, which most ops are not.
func (d Drop) check() error {
	if d.Branch != 0 {
		return fmt.Errorf("dropout at site %d: only where a residual branch joins in can it be dropped as a whole", d.Site)
	}
	return d.checkBranch()
}

// checkBranch refuses what is no probability. One so near to 1 that the threshold says "all" would scale by 1/0.
func (d Drop) checkBranch() error {
	for _, p := range []float64{d.P, d.Branch} {
		if !(p >= 0 && p < 1) || threshold(p) >= 1<<16 {
			return fmt.Errorf("dropout at site %d: probability is %v, want 0 or more and less than 1", d.Site, p)
		}
	}
	return nil
}

// threshold is the number of the 65536 possible draws that mean zero, by a probability of zero.
func threshold(p float64) uint32 { return uint32(math.RoundToEven(p * 65536)) }

// keptScale is the factor of what is kept by a probability of zero: the mean stays.
func keptScale(p float64) float64 { return 65536 / float64(65536-threshold(p)) }

func (d Drop) threshold() uint32 { return threshold(d.P) }

func (d Drop) scale() float64 { return keptScale(d.P) }

// dropsBranch says whether all of utterance b of the seeds [B, 2] is dropped: by the first draw of the site's row 1,
// where the draws of elements are in row 0.
func (d Drop) dropsBranch(seeds []int32, b int) bool {
	return d.Branch != 0 && philox.Draw16(seedOf(seeds, b), d.Site, 1, 0) < threshold(d.Branch)
}

// String is d among an op's Params: the draws depend on the threshold, not on the P that it was rounded from.
func (d Drop) String() string {
	s := fmt.Sprintf("site=%d threshold=%d", d.Site, d.threshold())
	if d.Branch != 0 {
		s += fmt.Sprintf(" branch=%d", threshold(d.Branch))
	}
	return s
}

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
