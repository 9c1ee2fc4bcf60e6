package optest

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/frames"
	"konkanitrain/internal/testkit"
	"konkanitrain/op"
)

// networkCases are whole networks of one block each, as small as they can be: what an op leaves on padding and in
// absent rows is what the next one finds there.
func networkCases() []Case {
	return []Case{networkCase("network/utterances, to the loss of CTC", false), networkCase("network/utterances, to the decoder's loss", true)}
}

const (
	networkWidth  = 8 // d
	networkMels   = 8
	networkVocab  = 11
	networkFactor = 4
)

// The operands before the weights.
const (
	features = iota
	featureLengths
	targets
	targetLengths
	seeds
	distances // table of relative positions
	steps     // table of the decoder's positions
	firstWeight
)

func networkCase(name string, decoder bool) Case {
	r := Rand(91)
	lengths, tokens := []int{9, 40, 77}, []int{1, 3, 6}
	var each []op.Array
	for u, n := range tokens {
		each = append(each, Tokens(uint64(u), n, networkVocab))
	}
	const longest = 50
	in := []Operand{
		features:       Sequences(r, lengths, networkMels),
		featureLengths: LengthsEach(lengths, 0),
		targets:        Growing(each...),
		targetLengths:  LengthsEach(tokens, -1),
		seeds:          SeedsEach(len(lengths)),
		distances: Window(Floats(r, 2*longest-1, networkWidth), func(n int) (int, int) {
			s := frames.Subsampled(n, networkFactor)
			return longest - s, 2*s - 1
		}),
		steps: Window(positions(20, networkWidth), func(n int) (int, int) { return 0, n + 1 }),
	}
	in[steps].By = targets

	// Written down once on a graph that is thrown away, the network says which weights it has.
	w := network{Graph: op.NewGraph()}
	arrays, _ := arrange(in, []int{0}, 0)
	for i, a := range arrays {
		if a.Ints != nil {
			w.in = append(w.in, w.IntInput(fmt.Sprint("in.", i), a.Shape...))
		} else {
			w.in = append(w.in, w.Input(fmt.Sprint("in.", i), a.Shape...))
		}
	}
	w.weight = func(shape ...int) *G.Node {
		a := Floats(r, shape...)
		for i, v := range a.Data {
			a.Data[i] = float64(float32(v * 0.3)) // activations stay near 1
		}
		in = append(in, All(a))
		return w.Input(fmt.Sprint("weight.", len(in)), shape...)
	}
	w.write(decoder)

	return Case{
		Name: name, NoGradient: []int{distances, steps},
		Build: func(g *op.Graph, nodes []*G.Node) *G.Node {
			next := firstWeight
			w := network{Graph: g, in: nodes, weight: func(...int) *G.Node { next++; return nodes[next-1] }}
			return w.write(decoder)
		},
		Batch: &Batch{
			In: in, Extra: 11, Blind: true,
			SumTol: 5e-6, // sums whose terms cancel: gradients of a norm inside the block are small beside what they are made of
			Tol:    testkit.Products(1e-4), Why: "the order of sums: our own kernels have one wherever a row lies, OpenBLAS's differ by rounding, layer after layer",
		},
	}
}

// network writes down a Conformer block with its subsampling, and a decoder's block.
type network struct {
	*op.Graph
	in     []*G.Node
	weight func(shape ...int) *G.Node
	site   uint32
}

// write is the whole network: the loss of CTC [B], or that of a decoder.
func (w *network) write(decoder bool) *G.Node {
	const d, heads = networkWidth, 2
	lengths, s := w.in[featureLengths], w.in[seeds]
	x := w.SubsampleConv(w.in[features], w.weight(4, 1, 3, 3), w.weight(4), lengths)
	x = w.SubsampleDepthwise(x, w.weight(4, 1, 3, 3), w.weight(4), lengths, 2)
	x = w.linear(w.ChannelMajor(w.Relu(w.linear(x, 4))), d)
	x = w.Residual(x, 0.5, w.feedForward(x), s, w.drop())

	y := w.norm(x)
	p := w.Linear(w.in[distances], w.weight(d, d), nil)
	y = w.RelativeAttention(w.linear(y, d), w.Linear(y, w.weight(d, d), nil), w.linear(y, d), p, w.weight(heads, d/heads), w.weight(heads, d/heads),
		lengths, s, op.RelativeOptions{Heads: heads, Factor: networkFactor, Drop: w.drop()})
	x = w.Residual(x, 1, w.linear(y, d), s, w.drop())

	y = w.GLU(w.linear(w.norm(x), 2*d), lengths, networkFactor)
	y = w.Swish(w.norm(w.Depthwise(y, w.weight(d, 5), w.weight(d))), nil, op.Drop{})
	x = w.norm(w.Residual(x, 1, w.linear(y, d), s, w.drop()))
	if !decoder {
		return w.CTC(w.linear(x, networkVocab), lengths, w.in[targets], w.in[targetLengths], networkFactor, 0)
	}

	encoded, tokens := x, w.in[targetLengths]
	x = w.Dropout(w.Embed(w.in[targets], w.weight(networkVocab, d), w.in[steps]), s, w.drop())
	y = w.norm(x)
	y = w.Attention(w.linear(y, d), w.Linear(y, w.weight(d, d), nil), w.linear(y, d), tokens, tokens, s,
		op.AttentionOptions{Heads: heads, Causal: true, QueryExtra: 1, KeyExtra: 1, Drop: w.drop()})
	x = w.Residual(x, 1, w.linear(y, d), s, w.drop())
	y = w.Attention(w.linear(w.norm(x), d), w.Linear(encoded, w.weight(d, d), nil), w.linear(encoded, d), tokens, lengths, s,
		op.AttentionOptions{Heads: heads, QueryExtra: 1, KeyFactor: networkFactor, Drop: w.drop()})
	x = w.Residual(x, 1, w.linear(y, d), s, w.drop())
	x = w.Residual(x, 1, w.feedForward(x), s, w.drop())
	return w.CrossEntropy(w.linear(w.norm(x), networkVocab), w.in[targets], tokens, 0.1)
}

func (w *network) drop() op.Drop {
	w.site++
	return op.Drop{P: 0.1, Site: w.site}
}

func (w *network) linear(x *G.Node, out int) *G.Node {
	return w.Linear(x, w.weight(out, width(x)), w.weight(out))
}

func (w *network) norm(x *G.Node) *G.Node {
	return w.LayerNorm(x, w.weight(width(x)), w.weight(width(x)))
}

func (w *network) feedForward(x *G.Node) *G.Node {
	return w.linear(w.Swish(w.linear(w.norm(x), 2*networkWidth), w.in[seeds], w.drop()), networkWidth)
}

// width is the last dimension; a graph with a mistake in it hands out nil, and its error tells.
func width(x *G.Node) int {
	if x == nil {
		return 1
	}
	return x.Shape()[x.Shape().Dims()-1]
}
