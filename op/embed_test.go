package op_test

import (
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

func TestEmbedRefusesShapes(t *testing.T) {
	for name, build := range map[string]func(g *op.Graph, u *G.Node){
		"one class":                func(g *op.Graph, u *G.Node) { g.Embed(u, g.Input("w", 1, 4), g.Input("p", 4, 4)) },
		"a vector of weights":      func(g *op.Graph, u *G.Node) { g.Embed(u, g.Input("w", 5), g.Input("p", 4, 4)) },
		"positions of other width": func(g *op.Graph, u *G.Node) { g.Embed(u, g.Input("w", 5, 4), g.Input("p", 4, 6)) },
		"too few positions":        func(g *op.Graph, u *G.Node) { g.Embed(u, g.Input("w", 5, 4), g.Input("p", 3, 4)) },
		"float targets":            func(g *op.Graph, u *G.Node) { g.Embed(g.Input("f", 2, 3), g.Input("w", 5, 4), g.Input("p", 4, 4)) },
	} {
		refuses(t, name, func(g *op.Graph) { build(g, g.IntInput("targets", 2, 3)) })
	}
}
