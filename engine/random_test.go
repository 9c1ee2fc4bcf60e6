package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/testkit"
	"konkanitrain/op"
)

// Sizes of random graphs.
const (
	randomBatch  = 2
	randomFrames = 5
	randomWidth  = 8
	randomVocab  = 6
)

// grower makes a random graph: ops on nodes [B, T, D], each reading any of the nodes before it, so that there
// are nodes with many readers, chains that can be computed in place, and weights that are used twice.
type grower struct {
	*op.Graph
	r             *rand.Rand
	feeds         map[*G.Node]op.Array
	weights       []*G.Node
	pool          []*G.Node // [B, T, D]
	used          map[*G.Node]bool
	lengths, keys *G.Node
	site          uint32
	blocks        *rand.Rand // where blocks begin and end; nil without blocks
}

// randomRig is a random graph with its gradients, and some of its nodes as outputs; with blocks, some of its nodes
// belong to blocks.
func randomRig(t *testing.T, seed uint64, blocks bool) (*rig, *op.Graph) {
	t.Helper()
	g := &grower{Graph: op.NewGraph(), r: testkit.Rand(seed), feeds: map[*G.Node]op.Array{}, used: map[*G.Node]bool{}}
	if blocks {
		g.blocks = testkit.Rand(1000 + seed)
	}
	x := g.floats("x", randomBatch, randomFrames, randomWidth)
	g.lengths = g.ints("lengths", []int{randomBatch}, 5, 3)
	g.keys = g.ints("keys", []int{randomBatch, 2}, 1, 2, 3, 4)
	targets := g.ints("targets", []int{randomBatch, 4}, 3, 3, 4, 0, 5, 0, 0, 0)
	targetLengths := g.ints("target lengths", []int{randomBatch}, 3, 1)
	scale := g.floats("scale", 1)
	g.pool = []*G.Node{x}
	for i := range 3 + g.r.IntN(10) {
		if g.blocks != nil && g.blocks.IntN(3) == 0 { // a block ends here, and another may begin
			g.In("")
			if g.blocks.IntN(4) > 0 {
				g.In(fmt.Sprint("blocks.", i))
			}
		}
		g.At(fmt.Sprint("node.", i))
		g.pool = append(g.pool, g.step())
	}
	g.In("")
	g.At("")
	y := g.pool[len(g.pool)-1]
	for _, n := range g.pool {
		if n != y && !g.used[n] {
			y = g.Residual(y, 0.5, n, nil, op.Drop{})
		}
	}
	logits := g.Linear(y, g.weight(randomVocab, randomWidth), g.weight(randomVocab))
	ctc := g.CTC(logits, g.lengths, targets, targetLengths, 1, 0)
	ce := g.CrossEntropy(g.Linear(y, g.weight(randomVocab, randomWidth), nil), targets, targetLengths, 0.1)
	loss := g.Total(scale, op.Share{Loss: ctc, Weight: 0.3}, op.Share{Loss: ce, Weight: 0.7})
	grads := g.Grad(loss, append(slices.Clone(g.weights), x)...)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	n := len(g.weights)
	spec := Spec{Weights: g.weights, Grads: grads[:n], Loss: loss, Outputs: map[string]*G.Node{"ctc": ctc}}
	for i, node := range g.pool {
		if g.r.IntN(4) == 0 {
			spec.Outputs[fmt.Sprint("node ", i)] = node
		}
	}
	if g.r.IntN(2) == 0 {
		spec.Outputs["loss"] = loss
	}
	if g.r.IntN(2) == 0 {
		spec.Outputs["gradient of x"] = grads[n]
	}
	return newRig(t, spec, g.feeds), g.Graph
}

func (g *grower) floats(name string, shape ...int) *G.Node {
	n := g.Input(name, shape...)
	g.feeds[n] = randomArray(g.r, 1, shape...)
	return n
}

func (g *grower) ints(name string, shape []int, values ...int32) *G.Node {
	n := g.IntInput(name, shape...)
	g.feeds[n] = intArray(shape, values...)
	return n
}

// weight is a new parameter, or now and then an old one.
func (g *grower) weight(shape ...int) *G.Node {
	for _, w := range g.weights {
		if slices.Equal(w.Shape(), shape) && g.r.IntN(8) == 0 {
			return w
		}
	}
	w := g.Input(fmt.Sprint("w", len(g.weights)), shape...)
	g.feeds[w] = randomArray(g.r, 0.5, shape...)
	g.weights = append(g.weights, w)
	return w
}

// any is a node of the pool, the last ones more often.
func (g *grower) any() *G.Node {
	n := g.pool[max(0, len(g.pool)-1-g.r.IntN(4))]
	if g.r.IntN(3) == 0 {
		n = g.pool[g.r.IntN(len(g.pool))]
	}
	g.used[n] = true
	return n
}

// drop is dropout at a site of its own, or none.
func (g *grower) drop() op.Drop {
	g.site++
	return op.Drop{P: float64(g.r.IntN(2)) * 0.25, Site: g.site}
}

func (g *grower) step() *G.Node {
	const d = randomWidth
	switch g.r.IntN(9) {
	case 0:
		return g.Linear(g.any(), g.weight(d, d), g.weight(d))
	case 1:
		return g.LayerNorm(g.any(), g.weight(d), g.weight(d))
	case 2:
		return g.Swish(g.any(), g.keys, g.drop())
	case 3:
		return g.Relu(g.any())
	case 4:
		return g.Residual(g.any(), []float32{0.5, 1}[g.r.IntN(2)], g.any(), g.keys, g.drop())
	case 5:
		return g.Depthwise(g.GLU(g.Linear(g.any(), g.weight(2*d, d), nil), g.lengths, 1), g.weight(d, 3), g.weight(d))
	case 6:
		return g.Attention(g.any(), g.any(), g.any(), g.lengths, g.lengths, g.keys, op.AttentionOptions{Heads: 2, Causal: g.r.IntN(2) == 0, Drop: g.drop()})
	case 7:
		p := g.weight(2*randomFrames-1, d)
		return g.RelativeAttention(g.any(), g.any(), g.any(), p, g.weight(2, d/2), g.weight(2, d/2), g.lengths, g.keys, op.RelativeOptions{Heads: 2, Drop: g.drop()})
	default:
		return g.Dropout(g.Linear(g.any(), g.weight(d, d), nil), g.keys, g.drop())
	}
}

// TestRandomGraphs holds random graphs in planned memory to the specifications and to Gorgonia's tape. A result
// that takes the memory of something read later, or a view at the wrong place, would show here.
func TestRandomGraphs(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r, g := randomRig(t, seed, false)
			p := r.compile()
			m := r.bind(p)
			r.run(m, false)
			once := r.results(m)
			// Up to 13 ops in a row in float32; gradients of small size are differences of larger terms.
			r.compare("once", once, r.reference(), 2e-5)
			r.compare("beside the tape", once, r.tape(g), 2e-5)
			r.run(m, true)
			twice := r.results(m)
			want := map[string][]float64{}
			for name := range once {
				want[name] = doubles(once[name])
				if _, output := r.spec.Outputs[name]; !output {
					for i := range want[name] {
						want[name][i] *= 2
					}
				}
			}
			r.compare("twice", twice, want, 1e-5)
			r.run(m, false)
			for name, again := range r.results(m) {
				if !slices.Equal(again, once[name]) {
					t.Errorf("%s: a run that replaces gives other values than the first run", name)
				}
			}
		})
	}
}
