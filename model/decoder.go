package model

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

// decoder: encoder output [B, S, d] and targets [B, U] -> logits [B, U+1, V], each step seeing the tokens
// before it. Pre-norm Transformer (Vaswani et al. 2017, with the norms moved inside the residual branches).
func (b *builder) decoder(encoded *G.Node) *G.Node {
	positions := b.table(DecoderPositions, b.shape.Tokens+1)
	b.At("decoder.embed")
	x := b.tap("decoder.embedded", b.Embed(b.targets, b.weight("decoder.embed.weight"), positions))
	x = b.dropout("decoder.dropout", x, "decoder.embed")
	for n := range b.c.DecoderLayers {
		x = b.decoderBlock(n, x, encoded)
	}
	x = b.tap("decoder.norm.out", b.norm("decoder.norm", x))
	return b.linear("decoder.out", x)
}

func (b *builder) decoderBlock(n int, x, encoded *G.Node) *G.Node {
	name := fmt.Sprintf("decoder.blocks.%d", n)
	b.begins(name, n, b.c.DecoderLayers)
	defer b.In("")
	x = b.residual(name+".after_self", x, 1, b.selfAttention(name+".self", x), name+".self.out")
	x = b.residual(name+".after_cross", x, 1, b.crossAttention(name+".cross", x, encoded), name+".cross.out")
	return b.residual(name+".out", x, 1, b.feedForward(name+".ffn", x), name+".ffn.down")
}

// selfAttention is causal: step l sees the steps up to l.
func (b *builder) selfAttention(name string, x *G.Node) *G.Node {
	x = b.norm(name+".norm", x)
	return b.attention(name, x, x, b.targetLengths, op.AttentionOptions{
		Heads: b.c.Heads, Causal: true, QueryFactor: 1, QueryExtra: 1, KeyFactor: 1, KeyExtra: 1, Drop: b.drop(name + ".weights"),
	})
}

// crossAttention reads the encoder output as it is; only the queries are normalized.
func (b *builder) crossAttention(name string, x, encoded *G.Node) *G.Node {
	return b.attention(name, b.norm(name+".norm", x), encoded, b.lengths, op.AttentionOptions{
		Heads: b.c.Heads, QueryFactor: 1, QueryExtra: 1, KeyFactor: b.c.Subsampling, Drop: b.drop(name + ".weights"),
	})
}

func (b *builder) attention(name string, x, memory, memoryLengths *G.Node, o op.AttentionOptions) *G.Node {
	q, k, v := b.linear(name+".query", x), b.linear(name+".key", memory), b.linear(name+".value", memory)
	if b.purpose == Scoring && x != memory {
		b.net.Keys, b.net.Values = append(b.net.Keys, k), append(b.net.Values, v)
	}
	b.At(name)
	return b.linear(name+".out", b.Attention(q, k, v, b.targetLengths, memoryLengths, b.seeds, o))
}
