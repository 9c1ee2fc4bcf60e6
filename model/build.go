package model

import (
	"fmt"
	"slices"
	"strings"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/frames"
	"konkanitrain/internal/patterns"
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

// Purpose is what a network is built for.
type Purpose uint8

// The purposes.
const (
	Training     Purpose = iota // encoder, CTC head, decoder and losses, with dropout
	Scoring                     // the same without dropout
	Transcribing                // encoder and CTC head alone: no targets, no decoder, no loss
	Listening                   // the same, with what the decoder's steps read of the encoder
	Stepping                    // one step of the decoder for some prefixes of an utterance: see StepTokens
)

// Names of the graph's inputs.
const (
	Features      = "features"       // [B, T, F] float32; padding may hold anything
	Lengths       = "lengths"        // [B] int32, feature frames
	Targets       = "targets"        // [B, U] int32, padded with 0
	TargetLengths = "target_lengths" // [B] int32
	Seeds         = "seeds"          // [B, 2] int32, random seed of each utterance, low half first; only with dropout
	Scale         = "scale"          // [1] float32, factor of the loss
	Positions     = "positions"      // [2S-1, d] float32, shared: see Tables
	// DecoderPositions is [U+1, d] float32, shared: see Tables.
	DecoderPositions = "decoder.positions"
)

// Network is a graph for one batch shape. What its purpose doesn't need is nil.
type Network struct {
	Graph   *op.Graph
	Weights []*G.Node          // in the order of Parameters
	Shared  []*G.Node          // tables
	Taps    map[string]*G.Node // activations by name, for tests against PyTorch

	Logits *G.Node // [B, S, V] of the CTC head
	CTC    *G.Node // [B] nats
	Inter  *G.Node // [B] nats, of the CTC head behind the middle block; nil without InterCTCWeight
	CE     *G.Node // [B] nats, summed over tokens; nil without a decoder
	Loss   *G.Node // scalar: scale * sum over utterances

	// Keys and values [B, S, d] of each decoder block's attention to the encoder, in scoring and listening; in stepping
	// those of the step's self-attention, [1, R, d].
	Keys, Values []*G.Node

	Sites []Site // where elements are dropped, in the order of their numbers
}

// Site is a place with dropout. It is called like the parameters of what stands before it: encoder.blocks.0.ffn1.up for
// what comes out of that linear and its activation; an attention's weights are called encoder.blocks.0.attn.weights.
type Site struct {
	Name string
	P    float64 // share of the elements that are dropped
}

// DropoutSites are the places with dropout of a network in training.
func DropoutSites(c Config) ([]Site, error) {
	net, err := Build(c, Shape{1, 1, 1}, Training)
	if err != nil {
		return nil, err
	}
	return net.Sites, nil
}

// builder writes a network down.
type builder struct {
	*op.Graph
	c       Config
	shape   Shape
	purpose Purpose
	net     *Network
	weights map[string]*G.Node
	rules   patterns.Rules // of dropout
	branch  float64        // probability with which a residual branch of the block is dropped

	lengths, targets, targetLengths *G.Node // as the constants above
	seeds                           *G.Node // nil where nothing is dropped: there is no dropout then, whatever an op is asked for
}

// Build makes the forward graph for a batch shape. The graph's own error, if there is one, is a mistake in this package
// or a hash collision in Gorgonia, and names it.
func Build(c Config, shape Shape, purpose Purpose) (*Network, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if shape.Batch < 1 || shape.Frames < 1 || shape.Tokens < 1 {
		return nil, fmt.Errorf("batch shape %+v: each must be 1 or more", shape)
	}
	b := begin(c, shape, purpose)
	b.parameters()
	if purpose == Stepping {
		b.step()
		return b.net, b.Err()
	}
	x := b.Input(Features, shape.Batch, shape.Frames, c.NumMels)
	b.lengths = b.IntInput(Lengths, shape.Batch)
	if b.hasTargets() {
		b.targets = b.IntInput(Targets, shape.Batch, shape.Tokens)
		b.targetLengths = b.IntInput(TargetLengths, shape.Batch)
	}
	if purpose == Training && b.drops() {
		b.seeds = b.IntInput(Seeds, shape.Batch, 2)
	}
	encoded := b.encoder(x)
	b.net.Logits = b.tap("ctc.logits", b.linear("ctc", encoded))
	if b.hasTargets() {
		b.losses(encoded)
	}
	if purpose == Listening {
		b.memory(encoded)
	}
	return b.net, b.Err()
}

func begin(c Config, shape Shape, purpose Purpose) *builder {
	g := op.NewGraph()
	rules, _ := c.dropouts() // Validate has looked at them
	return &builder{
		Graph: g, c: c, shape: shape, purpose: purpose, rules: rules, weights: map[string]*G.Node{}, net: &Network{Graph: g, Taps: map[string]*G.Node{}},
	}
}

// hasTargets says whether the network is asked about texts.
func (b *builder) hasTargets() bool { return b.purpose == Training || b.purpose == Scoring }

// needs says whether a purpose has a use for a parameter.
func (b *builder) needs(name string) bool {
	decoder, memory := strings.HasPrefix(name, "decoder."), strings.Contains(name, ".cross.key.") || strings.Contains(name, ".cross.value.")
	switch b.purpose {
	case Transcribing:
		return !decoder
	case Listening:
		return !decoder || memory
	case Stepping:
		return decoder && !memory
	}
	return true
}

// parameters adds those that the purpose needs to the graph.
func (b *builder) parameters() {
	for _, p := range Parameters(b.c) {
		if !b.needs(p.Name) {
			continue
		}
		n := b.Input(p.Name, p.Shape...)
		b.weights[p.Name] = n
		b.net.Weights = append(b.net.Weights, n)
	}
}

// losses are CTC, the decoder with its cross-entropy, and their sum.
func (b *builder) losses(encoded *G.Node) {
	c, net := b.c, b.net
	net.CTC = b.ctcLoss("ctc.loss", net.Logits)
	if c.DecoderLayers > 0 {
		logits := b.tap("decoder.logits", b.decoder(encoded))
		b.At("decoder.loss")
		net.CE = b.CrossEntropy(logits, b.targets, b.targetLengths, c.LabelSmoothing)
	}
	ctc, inter, ce := c.Shares(b.purpose)
	var losses []op.Share
	for _, l := range []op.Share{{Loss: net.CTC, Weight: ctc}, {Loss: net.Inter, Weight: inter}, {Loss: net.CE, Weight: ce}} {
		if l.Loss != nil {
			losses = append(losses, l)
		}
	}
	b.At("loss")
	net.Loss = b.Total(b.Input(Scale, 1), losses...)
}

// ctcLoss is the loss [B] of logits [B, S, V], called name; smoothed in training alone.
func (b *builder) ctcLoss(name string, logits *G.Node) *G.Node {
	b.At(name)
	smoothing := 0.0
	if b.purpose == Training {
		smoothing = b.c.CTCSmoothing
	}
	return b.CTC(logits, b.lengths, b.targets, b.targetLengths, b.c.Subsampling, smoothing)
}

// middleCTC is intermediate CTC (Lee and Watanabe 2021, "Intermediate loss regularization for CTC-based speech
// recognition", section 2.3): the loss of the CTC head, with the very weights of the final one, on the output of the
// encoder's middle block, x [B, S, d].
func (b *builder) middleCTC(x *G.Node) {
	b.In("")
	b.At("ctc.middle")
	logits := b.tap("ctc.middle.logits", b.Linear(x, b.weight("ctc.weight"), b.weight("ctc.bias")))
	b.net.Inter = b.ctcLoss("ctc.middle.loss", logits)
}

// table adds a constant table that graphs of all shapes share.
func (b *builder) table(name string, rows int) *G.Node {
	n := b.Input(name, rows, b.c.DModel)
	b.net.Shared = append(b.net.Shared, n)
	return n
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

// drops says whether anything may be dropped.
func (b *builder) drops() bool {
	return b.c.Dropout > 0 || b.c.StochasticDepth > 0 || slices.ContainsFunc(b.rules, func(r patterns.Rule) bool { return r.Value > 0 })
}

// drop is the next dropout site, called name.
func (b *builder) drop(name string) op.Drop {
	p, ok := b.rules.Of(name)
	if !ok {
		p = b.c.Dropout
	}
	b.net.Sites = append(b.net.Sites, Site{name, p})
	return op.Drop{P: p, Site: uint32(len(b.net.Sites))}
}

func (b *builder) linear(name string, x *G.Node) *G.Node {
	b.At(name)
	return b.Linear(x, b.weight(name+".weight"), b.weight(name+".bias"))
}

func (b *builder) norm(name string, x *G.Node) *G.Node {
	b.At(name)
	return b.LayerNorm(x, b.weight(name+".weight"), b.weight(name+".bias"))
}

// begins starts block n, called name, of so many. The deeper it stands the more often its residual branches are dropped
// (Huang et al. 2016, "Deep networks with stochastic depth", equation 4), each for itself.
func (b *builder) begins(name string, n, blocks int) {
	b.In(name)
	b.branch = b.c.StochasticDepth * float64(n+1) / float64(blocks)
}

// residual is x + alpha * Dropout(y), called name, where all of y may be dropped. y comes from the linear called last.
func (b *builder) residual(name string, x *G.Node, alpha float32, y *G.Node, last string) *G.Node {
	b.At(name)
	d := b.drop(last)
	d.Branch = b.branch
	return b.tap(name, b.Residual(x, alpha, y, b.seeds, d))
}

// dropout is a dropout of its own, called name, on what the part called last gives.
func (b *builder) dropout(name string, x *G.Node, last string) *G.Node {
	b.At(name)
	return b.Dropout(x, b.seeds, b.drop(last))
}

// feedForward is Linear(Dropout(Swish(Linear(LayerNorm(x))))), without the outer dropout.
func (b *builder) feedForward(name string, x *G.Node) *G.Node {
	up := b.linear(name+".up", b.norm(name+".norm", x))
	b.At(name + ".swish")
	return b.linear(name+".down", b.Swish(up, b.seeds, b.drop(name+".up")))
}
