package model

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

// encoder: features [B, T, F] -> [B, S, d].
func (b *builder) encoder(x *G.Node) *G.Node {
	x = b.subsample(x)
	s := b.shape.Encoded(b.c)
	table := b.Input(Positions, 2*s-1, b.c.DModel)
	b.net.Shared = append(b.net.Shared, table)
	for n := range b.c.EncoderLayers {
		x = b.encoderBlock(fmt.Sprintf("encoder.blocks.%d", n), x, table)
	}
	return x
}

// subsample: features [B, T, F] -> [B, S, d]. Stages are channels last, [B, T_i, F_i, C].
func (b *builder) subsample(x *G.Node) *G.Node {
	const name = "encoder.subsample."
	x = b.SubsampleConv(x, b.weight(name+"conv.0.weight"), b.weight(name+"conv.0.bias"), b.lengths)
	b.tap(name+"stage.0", x)
	factor := 2
	for i := 1; i < b.c.stages(); i++ {
		depthwise := fmt.Sprintf("%sdepthwise.%d", name, i)
		x = b.SubsampleDepthwise(x, b.weight(depthwise+".weight"), b.weight(depthwise+".bias"), b.lengths, factor)
		x = b.Relu(b.linear(fmt.Sprintf("%spointwise.%d", name, i), x))
		b.tap(fmt.Sprintf("%sstage.%d", name, i), x)
		factor *= 2
	}
	x = b.linear(name+"proj", b.ChannelMajor(x))
	b.tap(name+"out", x)
	return b.Dropout(x, b.keys, b.drop())
}

// encoderBlock is one Conformer block (Gulati et al. 2020, section 2), with LayerNorm in place of BatchNorm.
func (b *builder) encoderBlock(name string, x, table *G.Node) *G.Node {
	x = b.tap(name+".after_ffn1", b.residual(x, 0.5, b.feedForward(name+".ffn1", x)))
	x = b.tap(name+".after_attn", b.residual(x, 1, b.relativeAttention(name+".attn", x, table)))
	x = b.tap(name+".after_conv", b.residual(x, 1, b.convolution(name+".conv", x)))
	x = b.tap(name+".after_ffn2", b.residual(x, 0.5, b.feedForward(name+".ffn2", x)))
	return b.tap(name+".out", b.norm(name+".norm", x))
}

// relativeAttention is self-attention with Transformer-XL positions (Dai et al. 2019, section 3.3).
func (b *builder) relativeAttention(name string, x, table *G.Node) *G.Node {
	x = b.norm(name+".norm", x)
	q, k, v := b.linear(name+".query", x), b.linear(name+".key", x), b.linear(name+".value", x)
	p := b.Linear(table, b.weight(name+".pos.weight"), nil)
	y := b.RelativeAttention(q, k, v, p, b.weight(name+".bias_u"), b.weight(name+".bias_v"), b.lengths, b.keys,
		op.RelativeOptions{Heads: b.c.Heads, Factor: b.c.Subsampling, Drop: b.drop()})
	return b.linear(name+".out", y)
}

// convolution is the Conformer's convolution module; the one mask is in GLU.
func (b *builder) convolution(name string, x *G.Node) *G.Node {
	x = b.GLU(b.linear(name+".up", b.norm(name+".norm", x)), b.lengths, b.c.Subsampling)
	x = b.Depthwise(x, b.weight(name+".depthwise.weight"), b.weight(name+".depthwise.bias"))
	x = b.Swish(b.norm(name+".mid_norm", x), nil, op.Drop{})
	return b.linear(name+".down", x)
}
