package model

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/frames"
	"konkanitrain/op"
)

// Shape is a batch shape: rows are padded to Frames feature frames and Tokens target tokens.
type Shape struct {
	Batch  int // B
	Frames int // T
	Tokens int // U, 1 or more
}

// Encoded is S, the number of encoder frames.
func (s Shape) Encoded(c Config) int { return frames.Subsampled(s.Frames, c.Subsampling) }

// Names of the graph's inputs.
const (
	Features      = "features"       // [B, T, F] float32; padding may hold anything
	Lengths       = "lengths"        // [B] int32, feature frames
	Targets       = "targets"        // [B, U] int32, padded with 0
	TargetLengths = "target_lengths" // [B] int32
	Keys          = "keys"           // [B, 2] int32, random key of each utterance; only with dropout
	Scale         = "scale"          // [1] float32, factor of the loss
	Positions     = "positions"      // [2S-1, d] float32, shared: see Tables
	// DecoderPositions is [U+1, d] float32, shared: see Tables.
	DecoderPositions = "decoder.positions"
)

// Network is a graph for one batch shape.
type Network struct {
	Graph   *op.Graph
	Weights []*G.Node // in the order of Parameters
	Shared  []*G.Node // tables
	Taps    map[string]*G.Node

	Logits *G.Node // [B, S, V] of the CTC head
	CTC    *G.Node // [B] nats
	CE     *G.Node // [B] nats, summed over tokens; nil without a decoder
	Loss   *G.Node // scalar: scale * sum over utterances
}

// builder writes a network down.
type builder struct {
	*op.Graph
	c       Config
	shape   Shape
	net     *Network
	weights map[string]*G.Node
	site    uint32 // of the last dropout

	lengths, targets, targetLengths, keys *G.Node // as the constants above
}

// Build makes the forward graph for a batch shape. With train, dropout is part of it. The graph's own error,
// if there is one, is a mistake in this package or a hash collision in Gorgonia, and names it.
func Build(c Config, shape Shape, train bool) (*Network, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if shape.Batch < 1 || shape.Frames < 1 || shape.Tokens < 1 {
		return nil, fmt.Errorf("batch shape %+v: each must be 1 or more", shape)
	}
	if !train {
		c.Dropout = 0
	}
	g := op.NewGraph()
	b := &builder{Graph: g, c: c, shape: shape, weights: map[string]*G.Node{}, net: &Network{Graph: g, Taps: map[string]*G.Node{}}}
	for _, p := range Parameters(c) {
		n := g.Input(p.Name, p.Shape...)
		b.weights[p.Name] = n
		b.net.Weights = append(b.net.Weights, n)
	}
	x := g.Input(Features, shape.Batch, shape.Frames, c.NumMels)
	b.lengths = g.IntInput(Lengths, shape.Batch)
	b.targets = g.IntInput(Targets, shape.Batch, shape.Tokens)
	b.targetLengths = g.IntInput(TargetLengths, shape.Batch)
	if c.Dropout > 0 {
		b.keys = g.IntInput(Keys, shape.Batch, 2)
	}
	encoded := b.encoder(x)
	b.losses(encoded)
	return b.net, g.Err()
}

// losses are the CTC head, the decoder with its cross-entropy, and their sum.
func (b *builder) losses(encoded *G.Node) {
	c, net := b.c, b.net
	net.Logits = b.tap("ctc.logits", b.linear("ctc", encoded))
	net.CTC = b.Graph.CTC(net.Logits, b.lengths, b.targets, b.targetLengths, c.Subsampling)
	if c.DecoderLayers > 0 {
		logits := b.tap("decoder.logits", b.decoder(encoded))
		net.CE = b.CrossEntropy(logits, b.targets, b.targetLengths, c.LabelSmoothing)
	}
	net.Loss = b.Total(net.CTC, net.CE, b.Input(Scale, 1), c.CTCWeight)
}

func (b *builder) tap(name string, n *G.Node) *G.Node {
	b.net.Taps[name] = n
	return n
}

func (b *builder) weight(name string) *G.Node {
	n, ok := b.weights[name]
	if !ok {
		b.Fail(fmt.Errorf("the network asks for %s, which is not among its parameters", name))
	}
	return n
}

// drop is the next dropout site.
func (b *builder) drop() op.Drop {
	b.site++
	return op.Drop{P: b.c.Dropout, Site: b.site}
}

func (b *builder) linear(name string, x *G.Node) *G.Node {
	return b.Linear(x, b.weight(name+".weight"), b.weight(name+".bias"))
}

func (b *builder) norm(name string, x *G.Node) *G.Node {
	return b.LayerNorm(x, b.weight(name+".weight"), b.weight(name+".bias"))
}

// residual is x + alpha * Dropout(y).
func (b *builder) residual(x *G.Node, alpha float32, y *G.Node) *G.Node {
	return b.Residual(x, alpha, y, b.keys, b.drop())
}

// feedForward is Linear(Dropout(Swish(Linear(LayerNorm(x))))), without the outer dropout.
func (b *builder) feedForward(name string, x *G.Node) *G.Node {
	up := b.linear(name+".up", b.norm(name+".norm", x))
	return b.linear(name+".down", b.Swish(up, b.keys, b.drop()))
}
