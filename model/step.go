package model

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

// Inputs of a network for stepping. It is about R prefixes of one utterance: of its Shape, Batch is R, Frames the
// utterance's, and Tokens C, the most steps of which keys and values are kept. A prefix that has made n steps goes on
// by a token; what comes out is the decoder's logits behind it, as those of the whole decoder in its row n.
const (
	StepTokens   = "step.tokens"   // [1, R] int32, the last token of each prefix; SosEos where there is none yet
	StepAt       = "step.at"       // [1, R] int32, the steps before, up to C; -1 for no prefix
	StepPrefixes = "step.prefixes" // [1] int32, R
)

// MemoryInputs are the names of the inputs with the keys and the values of decoder block n's attention to the encoder,
// [1, S, d] each: what a network for listening gives of the utterance.
func MemoryInputs(n int) (keys, values string) {
	return fmt.Sprintf("decoder.blocks.%d.cross.keys", n), fmt.Sprintf("decoder.blocks.%d.cross.values", n)
}

// KeptInputs are the names of the inputs with the keys and values of block n's self-attention that are kept from the
// steps before, [1, R, C, d] each.
func KeptInputs(n int) (keys, values string) {
	return fmt.Sprintf("decoder.blocks.%d.self.keys", n), fmt.Sprintf("decoder.blocks.%d.self.values", n)
}

// memory is what the decoder's steps read of the encoder's output [B, S, d].
func (b *builder) memory(encoded *G.Node) {
	for n := range b.c.DecoderLayers {
		name := fmt.Sprintf("decoder.blocks.%d", n)
		b.In(name)
		b.net.Keys = append(b.net.Keys, b.linear(name+".cross.key", encoded))
		b.net.Values = append(b.net.Values, b.linear(name+".cross.value", encoded))
	}
	b.In("")
}

// step is the decoder at one step: see StepTokens.
func (b *builder) step() {
	r, c, s := b.shape.Batch, b.shape.Tokens, b.shape.Encoded(b.c)
	tokens, at := b.IntInput(StepTokens, 1, r), b.IntInput(StepAt, 1, r)
	prefixes := b.IntInput(StepPrefixes, 1)
	b.lengths = b.IntInput(Lengths, 1)
	positions := b.table(DecoderPositions, c+1)
	b.At("decoder.embed")
	x := b.EmbedAt(tokens, at, b.weight("decoder.embed.weight"), positions)
	for n := range b.c.DecoderLayers {
		name := fmt.Sprintf("decoder.blocks.%d", n)
		b.begins(name, n, b.c.DecoderLayers)
		y := b.norm(name+".self.norm", x)
		q, k, v := b.linear(name+".self.query", y), b.linear(name+".self.key", y), b.linear(name+".self.value", y)
		b.net.Keys, b.net.Values = append(b.net.Keys, k), append(b.net.Values, v)
		keptKeys, keptValues := KeptInputs(n)
		b.At(name + ".self")
		y = b.StepAttention(q, k, v, b.Input(keptKeys, 1, r, c, b.c.DModel), b.Input(keptValues, 1, r, c, b.c.DModel), at, b.c.Heads)
		x = b.residual(name+".after_self", x, 1, b.linear(name+".self.out", y), name+".self.out")

		memoryKeys, memoryValues := MemoryInputs(n)
		q = b.linear(name+".cross.query", b.norm(name+".cross.norm", x))
		b.At(name + ".cross")
		y = b.Attention(q, b.Input(memoryKeys, 1, s, b.c.DModel), b.Input(memoryValues, 1, s, b.c.DModel), prefixes, b.lengths, nil, op.AttentionOptions{
			Heads: b.c.Heads, QueryFactor: 1, KeyFactor: b.c.Subsampling,
		})
		x = b.residual(name+".after_cross", x, 1, b.linear(name+".cross.out", y), name+".cross.out")
		x = b.residual(name+".out", x, 1, b.feedForward(name+".ffn", x), name+".ffn.down")
	}
	b.In("")
	b.net.Logits = b.linear("decoder.out", b.norm("decoder.norm", x))
}
