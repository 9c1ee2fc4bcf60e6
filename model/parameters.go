package model

import (
	"fmt"
	"math"
	"strings"

	"gorgonia.org/tensor"

	"konkanitrain/internal/philox"
	"konkanitrain/op"
)

// Parameter is a tensor that is learned.
type Parameter struct {
	Name  string
	Shape tensor.Shape // linears are [out, in]
	Decay bool         // weight decay applies: not to biases, norms, u and v
	Vocab bool         // there is a row for each entry of the vocabulary
	start start
	blank float32 // where the blank's row starts, if not like the others
	scale float64 // of the start values, 0 to 1
}

// start is how a parameter begins.
type start uint8

const (
	zeros  start = iota
	ones         // weights of norms
	xavier       // uniform within sqrt(6/(in+out)): linears, u and v (Glorot and Bengio 2010)
	fanIn        // uniform within 1/sqrt(fan in): convolution kernels
	normal       // deviation 1/sqrt(d): the embedding
)

// Size is the number of elements.
func (p Parameter) Size() int { return op.Size(p.Shape) }

// Parameters lists what a network of this architecture learns, in a fixed order. The names and shapes are those
// of the PyTorch model that checkpoints are exchanged with.
func Parameters(c Config) []Parameter {
	l := &list{branch: 1 - c.BranchShrink}
	d := c.DModel
	l.encoder(c)
	l.vocab(func() { l.linear("ctc", c.Vocab, d) })
	l.params[len(l.params)-1].blank = float32(c.BlankBias)
	if c.DecoderLayers > 0 {
		l.vocab(func() { l.add("decoder.embed.weight", normal, c.Vocab, d) })
		for n := range c.DecoderLayers {
			block := fmt.Sprintf("decoder.blocks.%d.", n)
			l.attention(block+"self", d)
			l.attention(block+"cross", d)
			l.feedForward(block+"ffn", d)
		}
		l.norm("decoder.norm", d)
		l.vocab(func() { l.linear("decoder.out", c.Vocab, d) })
	}
	return l.params
}

// list collects parameters.
type list struct {
	params []Parameter
	branch float64 // factor of the start values of the last weights of residual branches
}

func (l *list) add(name string, s start, shape ...int) {
	decay := !strings.HasSuffix(name, ".bias") && !strings.HasSuffix(name, ".bias_u") && !strings.HasSuffix(name, ".bias_v") && s != ones
	l.params = append(l.params, Parameter{Name: name, Shape: shape, Decay: decay, start: s, scale: 1})
}

// vocab marks the parameters that add adds as those with a row for each entry of the vocabulary.
func (l *list) vocab(add func()) {
	first := len(l.params)
	add()
	for i := range l.params[first:] {
		l.params[first+i].Vocab = true
	}
}

func (l *list) linear(name string, out, in int) {
	l.add(name+".weight", xavier, out, in)
	l.add(name+".bias", zeros, out)
}

// last is the linear layer that ends a residual branch.
func (l *list) last(name string, out, in int) {
	l.linear(name, out, in)
	l.params[len(l.params)-2].scale = l.branch
}

func (l *list) kernel(name string, shape ...int) {
	l.add(name+".weight", fanIn, shape...)
	l.add(name+".bias", zeros, shape[0])
}

func (l *list) norm(name string, d int) {
	l.add(name+".weight", ones, d)
	l.add(name+".bias", zeros, d)
}

func (l *list) encoder(c Config) {
	d, ch := c.DModel, c.SubsampleChannels
	l.kernel("encoder.subsample.conv.0", ch, 1, 3, 3)
	for i := 1; i < c.stages(); i++ {
		l.kernel(fmt.Sprintf("encoder.subsample.depthwise.%d", i), ch, 1, 3, 3)
		l.linear(fmt.Sprintf("encoder.subsample.pointwise.%d", i), ch, ch)
	}
	l.linear("encoder.subsample.proj", d, ch*c.bins())
	for n := range c.EncoderLayers {
		block := fmt.Sprintf("encoder.blocks.%d.", n)
		l.feedForward(block+"ffn1", d)
		l.attention(block+"attn", d)
		l.add(block+"attn.pos.weight", xavier, d, d)
		l.add(block+"attn.bias_u", xavier, c.Heads, d/c.Heads)
		l.add(block+"attn.bias_v", xavier, c.Heads, d/c.Heads)
		l.norm(block+"conv.norm", d)
		l.linear(block+"conv.up", 2*d, d)
		l.kernel(block+"conv.depthwise", d, c.ConvKernel)
		l.norm(block+"conv.mid_norm", d)
		l.last(block+"conv.down", d, d)
		l.feedForward(block+"ffn2", d)
		l.norm(block+"norm", d)
	}
}

func (l *list) feedForward(name string, d int) {
	l.norm(name+".norm", d)
	l.linear(name+".up", 4*d, d)
	l.last(name+".down", d, 4*d)
}

func (l *list) attention(name string, d int) {
	l.norm(name+".norm", d)
	for _, part := range []string{"query", "key", "value"} {
		l.linear(name+"."+part, d, d)
	}
	l.last(name+".out", d, d)
}

// Init sets w to the parameter's start value, drawn from seed and the parameter's name: the same
// values whatever else the network has.
func (p Parameter) Init(w []float32, seed uint64) {
	r := philox.NewStream(philox.Key(seed, philox.ID(p.Name)), 0)
	uniform := func(bound float64) {
		for i := range w {
			w[i] = float32((2*r.Float64() - 1) * bound)
		}
	}
	switch p.start {
	case zeros:
		clear(w)
	case ones:
		for i := range w {
			w[i] = 1
		}
	case xavier:
		uniform(p.scale * math.Sqrt(6/float64(p.Shape[0]+p.Shape[1])))
	case fanIn:
		uniform(1 / math.Sqrt(float64(p.Size()/p.Shape[0])))
	case normal:
		deviation := 1 / math.Sqrt(float64(p.Shape[1]))
		for i := range w { // Box and Muller 1958; 1-u is never 0
			w[i] = float32(deviation * math.Sqrt(-2*math.Log(1-r.Float64())) * math.Cos(2*math.Pi*r.Float64()))
		}
	}
	if p.blank != 0 {
		w[op.Blank] = p.blank
	}
}

// Counts is the number of parameters by part of the network.
type Counts struct {
	Subsampling, Encoder, CTC, Decoder, Total int
}

// Count adds up the parameters of an architecture.
func Count(c Config) Counts {
	var n Counts
	for _, p := range Parameters(c) {
		switch size := p.Size(); {
		case strings.HasPrefix(p.Name, "encoder.subsample."):
			n.Subsampling += size
		case strings.HasPrefix(p.Name, "encoder."):
			n.Encoder += size
		case strings.HasPrefix(p.Name, "ctc."):
			n.CTC += size
		default:
			n.Decoder += size
		}
	}
	n.Total = n.Subsampling + n.Encoder + n.CTC + n.Decoder
	return n
}

// String is one line: the total and its parts.
func (n Counts) String() string {
	return fmt.Sprintf("%d parameters: subsampling %d, encoder %d, ctc %d, decoder %d", n.Total, n.Subsampling, n.Encoder, n.CTC, n.Decoder)
}
