package optest

import (
	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

// Build adds an op to a graph, on its inputs.
type Build = func(g *op.Graph, in []*G.Node) *G.Node

// The ops on operands in the order of their methods' parameters. What a method takes as nil is left out.

// BuildLinear is [op.Graph.Linear] of x, w and, if there is one, b.
func BuildLinear(g *op.Graph, in []*G.Node) *G.Node { return g.Linear(in[0], in[1], at(in, 2)) }

// BuildRelu is [op.Graph.Relu] of x.
func BuildRelu(g *op.Graph, in []*G.Node) *G.Node { return g.Relu(in[0]) }

// BuildChannelMajor is [op.Graph.ChannelMajor] of x.
func BuildChannelMajor(g *op.Graph, in []*G.Node) *G.Node { return g.ChannelMajor(in[0]) }

// BuildSwish is [op.Graph.Swish] of x and, with dropout, seeds.
func BuildSwish(d op.Drop) Build {
	return func(g *op.Graph, in []*G.Node) *G.Node { return g.Swish(in[0], at(in, 1), d) }
}

// BuildGLU is [op.Graph.GLU] of x and lengths.
func BuildGLU(factor int) Build {
	return func(g *op.Graph, in []*G.Node) *G.Node { return g.GLU(in[0], in[1], factor) }
}

// BuildDropout is [op.Graph.Dropout] of x and seeds.
func BuildDropout(d op.Drop) Build {
	return func(g *op.Graph, in []*G.Node) *G.Node { return g.Dropout(in[0], in[1], d) }
}

// BuildResidual is [op.Graph.Residual] of x, y and, with dropout, seeds.
func BuildResidual(alpha float32, d op.Drop) Build {
	return func(g *op.Graph, in []*G.Node) *G.Node { return g.Residual(in[0], alpha, in[1], at(in, 2), d) }
}

// BuildLayerNorm is [op.Graph.LayerNorm] of x, gamma and beta.
func BuildLayerNorm(g *op.Graph, in []*G.Node) *G.Node { return g.LayerNorm(in[0], in[1], in[2]) }

// BuildDepthwise is [op.Graph.Depthwise] of x, w and b.
func BuildDepthwise(g *op.Graph, in []*G.Node) *G.Node { return g.Depthwise(in[0], in[1], in[2]) }

// BuildSubsampleConv is [op.Graph.SubsampleConv] of x, w, b and lengths.
func BuildSubsampleConv(g *op.Graph, in []*G.Node) *G.Node {
	return g.SubsampleConv(in[0], in[1], in[2], in[3])
}

// BuildSubsampleDepthwise is [op.Graph.SubsampleDepthwise] of x, w, b and lengths.
func BuildSubsampleDepthwise(factor int) Build {
	return func(g *op.Graph, in []*G.Node) *G.Node {
		return g.SubsampleDepthwise(in[0], in[1], in[2], in[3], factor)
	}
}

// BuildAttention is [op.Graph.Attention] of q, k, v, the lengths of both and, with dropout, seeds.
func BuildAttention(o op.AttentionOptions) Build {
	return func(g *op.Graph, in []*G.Node) *G.Node {
		return g.Attention(in[0], in[1], in[2], in[3], in[4], at(in, 5), o)
	}
}

// BuildRelative is [op.Graph.RelativeAttention] of q, k, v, p, u, w, lengths and, with dropout, seeds.
func BuildRelative(o op.RelativeOptions) Build {
	return func(g *op.Graph, in []*G.Node) *G.Node {
		return g.RelativeAttention(in[0], in[1], in[2], in[3], in[4], in[5], in[6], at(in, 7), o)
	}
}

// BuildEmbed is [op.Graph.Embed] of targets, w and positions.
func BuildEmbed(g *op.Graph, in []*G.Node) *G.Node { return g.Embed(in[0], in[1], in[2]) }

// BuildCTC is [op.Graph.CTC] of logits, lengths, targets and their lengths.
func BuildCTC(factor int, smoothing float64) Build {
	return func(g *op.Graph, in []*G.Node) *G.Node { return g.CTC(in[0], in[1], in[2], in[3], factor, smoothing) }
}

// BuildCrossEntropy is [op.Graph.CrossEntropy] of logits, targets and their lengths.
func BuildCrossEntropy(smoothing float64) Build {
	return func(g *op.Graph, in []*G.Node) *G.Node { return g.CrossEntropy(in[0], in[1], in[2], smoothing) }
}

// BuildTotal is [op.Graph.Total] of losses with a weight each, and behind them the scale.
func BuildTotal(weights ...float64) Build {
	return func(g *op.Graph, in []*G.Node) *G.Node {
		var losses []op.Share
		for i, w := range weights {
			losses = append(losses, op.Share{Loss: in[i], Weight: w})
		}
		return g.Total(in[len(weights)], losses...)
	}
}

// at is operand i, or nil where it is left out.
func at(in []*G.Node, i int) *G.Node {
	if i < len(in) {
		return in[i]
	}
	return nil
}
