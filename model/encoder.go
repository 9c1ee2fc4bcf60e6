package model

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

// encoder: features [B, T, F] -> [B, S, d].
func (b *builder) encoder(x *G.Node) *G.Node {
	x = b.subsample(x)
	positions := b.table(Positions, 2*b.shape.Encoded(b.c)-1)
	_, inter, _ := b.c.Shares(b.purpose)
	for n := range b.c.EncoderLayers {
		x = b.encoderBlock(n, x, positions)
		if inter > 0 && n+1 == b.c.EncoderLayers/2 {
			b.middleCTC(x)
		}
	}
	return x
}

// subsample: features [B, T, F] -> [B, S, d]. Stages are channels last, [B, T_i, F_i, C].
func (b *builder) subsample(x *G.Node) *G.Node {
	const name = "encoder.subsample."
	b.At(name + "conv.0")
	x = b.SubsampleConv(x, b.weight(name+"conv.0.weight"), b.weight(name+"conv.0.bias"), b.lengths)
	b.tap(name+"stage.0", x)
	factor := 2
	for i := 1; i < b.c.stages(); i++ {
		depthwise := fmt.Sprintf("%sdepthwise.%d", name, i)
		b.At(depthwise)
		x = b.SubsampleDepthwise(x, b.weight(depthwise+".weight"), b.weight(depthwise+".bias"), b.lengths, factor)
		x = b.linear(fmt.Sprintf("%spointwise.%d", name, i), x)
		stage := fmt.Sprintf("%sstage.%d", name, i)
		b.At(stage)
		x = b.tap(stage, b.Relu(x))
		factor *= 2
	}
	b.At(name + "flatten")
	x = b.tap(name+"out", b.linear(name+"proj", b.ChannelMajor(x)))
	return b.dropout(name+"dropout", x, name+"proj")
}

// encoderBlock is one Conformer block (Gulati et al. 2020, section 2), with LayerNorm in place of BatchNorm.
func (b *builder) encoderBlock(n int, x, positions *G.Node) *G.Node {
	name := fmt.Sprintf("encoder.blocks.%d", n)
	b.begins(name, n, b.c.EncoderLayers)
	defer b.In("")
	x = b.residual(name+".after_ffn1", x, 0.5, b.feedForward(name+".ffn1", x), name+".ffn1.down")
	x = b.residual(name+".after_attn", x, 1, b.relativeAttention(name+".attn", x, positions), name+".attn.out")
	x = b.residual(name+".after_conv", x, 1, b.convolution(name+".conv", x), name+".conv.down")
	x = b.residual(name+".after_ffn2", x, 0.5, b.feedForward(name+".ffn2", x), name+".ffn2.down")
	return b.tap(name+".out", b.norm(name+".norm", x))
}

// relativeAttention is self-attention with Transformer-XL positions (Dai et al. 2019, section 3.3).
func (b *builder) relativeAttention(name string, x, positions *G.Node) *G.Node {
	x = b.norm(name+".norm", x)
	q, k, v := b.linear(name+".query", x), b.linear(name+".key", x), b.linear(name+".value", x)
	b.At(name + ".pos")
	p := b.Linear(positions, b.weight(name+".pos.weight"), nil)
	b.At(name)
	y := b.RelativeAttention(q, k, v, p, b.weight(name+".bias_u"), b.weight(name+".bias_v"), b.lengths, b.seeds,
		op.RelativeOptions{Heads: b.c.Heads, Factor: b.c.Subsampling, Drop: b.drop(name + ".weights")})
	return b.linear(name+".out", y)
}

// convolution is the Conformer's convolution module; the one mask is in GLU.
func (b *builder) convolution(name string, x *G.Node) *G.Node {
	x = b.linear(name+".up", b.norm(name+".norm", x))
	b.At(name + ".glu")
	x = b.GLU(x, b.lengths, b.c.Subsampling)
	b.At(name + ".depthwise")
	x = b.Depthwise(x, b.weight(name+".depthwise.weight"), b.weight(name+".depthwise.bias"))
	x = b.norm(name+".mid_norm", x)
	b.At(name + ".swish")
	x = b.Swish(x, nil, op.Drop{})
	return b.linear(name+".down", x)
}
