package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Builder makes a graph node by node. A value is known by its name. Where a node is asked for that there is already,
// the same operator on the same values with the same settings, its result is given in place of a second one. The first
// mistake is kept, and [Builder.Finish] tells it.
type Builder struct {
	place     string // of the nodes that follow
	inputs    []Value
	nodes     []Node
	constants []Tensor
	weights   []*weight
	once      map[string][]string // results of nodes, and constants, by what they are
	names     map[string]bool
	err       error
}

// NewBuilder is an empty graph.
func NewBuilder() *Builder { return &Builder{once: map[string][]string{}, names: map[string]bool{}} }

// At says where in the network the nodes that follow stand. Their names begin with it.
func (b *Builder) At(place string) { b.place = place }

// Fail records err as the mistake, if it is the first one.
func (b *Builder) Fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// Input adds an input of the graph and gives its name.
func (b *Builder) Input(name string, of DType, dims ...Dim) string {
	b.claim(name)
	b.inputs = append(b.inputs, Value{name, of, dims})
	return name
}

// claim takes a name that nothing else may have.
func (b *Builder) claim(name string) {
	if name == "" || b.names[name] {
		b.Fail(fmt.Errorf("two values are called %q, or one has no name", name))
	}
	b.names[name] = true
}

// free is a name that nothing has, taken.
func (b *Builder) free(name string) string {
	if b.place != "" {
		name = b.place + "/" + name
	}
	for n, first := 2, name; b.names[name]; n++ {
		name = fmt.Sprintf("%s_%d", first, n)
	}
	b.names[name] = true
	return name
}

// Node adds a node with one result, which it gives.
func (b *Builder) Node(op string, in []string, attributes ...Attribute) string {
	return b.Nodes(op, 1, in, attributes...)[0]
}

// Nodes adds a node with so many results.
func (b *Builder) Nodes(op string, results int, in []string, attributes ...Attribute) []string {
	key := fmt.Sprintf("%s %d %q", op, results, in)
	for _, a := range attributes {
		key += fmt.Sprintf(" %s %T %v", a.Name, a.Value, a.Value)
	}
	if out, ok := b.once[key]; ok {
		return out
	}
	n := Node{Op: op, In: slices.Clone(in), Attributes: attributes}
	for range results {
		n.Out = append(n.Out, b.free(op))
	}
	n.Name = n.Out[0]
	b.nodes = append(b.nodes, n)
	b.once[key] = n.Out
	return n.Out
}

// Transpose adds x with its dimensions in another order: the numbers are those that x has.
func (b *Builder) Transpose(x string, order ...int64) string {
	return b.Node("Transpose", []string{x}, Attribute{"perm", order})
}

// Named gives a value a name of its own, for an output of the graph.
func (b *Builder) Named(name, value string) string {
	b.claim(name)
	b.nodes = append(b.nodes, Node{Name: name, Op: "Identity", In: []string{value}, Out: []string{name}})
	return name
}

// Once is what make gives the first time that it is asked for by this key. What would be computed anew by each reader,
// although it is the same for all, is named so.
func (b *Builder) Once(key string, make func() string) string {
	key = "once " + key
	if out, ok := b.once[key]; ok {
		return out[0]
	}
	place := b.place
	b.place = ""
	out := make()
	b.place = place
	b.once[key] = []string{out}
	return out
}

// constant is a tensor that is part of the graph. Equal ones are one.
func (b *Builder) constant(of DType, dims []int64, data []byte) string {
	key := fmt.Sprintf("constant %d %v %s", of, dims, data)
	if out, ok := b.once[key]; ok {
		return out[0]
	}
	place := b.place
	b.place = ""
	name := b.free("constant")
	b.place = place
	b.constants = append(b.constants, Tensor{name, of, dims, data})
	b.once[key] = []string{name}
	return name
}

// Int is a constant without dimensions.
func (b *Builder) Int(v int64) string {
	return b.constant(Int64, nil, binary.LittleEndian.AppendUint64(nil, uint64(v)))
}

// Ints is a constant [n].
func (b *Builder) Ints(list ...int64) string {
	var data []byte
	for _, v := range list {
		data = binary.LittleEndian.AppendUint64(data, uint64(v))
	}
	return b.constant(Int64, []int64{int64(len(list))}, data)
}

// Float is a constant of float32 without dimensions.
func (b *Builder) Float(v float32) string {
	return b.constant(Float, nil, binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
}

// Double is a constant of float64 without dimensions.
func (b *Builder) Double(v float64) string { return b.Doubles(nil, v) }

// Doubles is a constant of float64.
func (b *Builder) Doubles(dims []int64, list ...float64) string {
	data := make([]byte, 0, 8*len(list))
	for _, v := range list {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	return b.constant(Double, dims, data)
}

// Finish is the graph with these outputs; weights are stored in a form. The error is the first mistake.
func (b *Builder) Finish(name string, f Form, outputs ...Value) (Graph, error) {
	g := Graph{Name: name, Inputs: b.inputs, Outputs: outputs}
	read := map[string]bool{}
	for _, n := range b.nodes {
		for _, in := range n.In {
			read[in] = true
		}
	}
	for _, w := range b.weights {
		constants, nodes := w.store(f, read)
		g.Constants = append(g.Constants, constants...)
		g.Nodes = append(g.Nodes, nodes...)
	}
	g.Constants = append(g.Constants, b.constants...)
	g.Nodes = append(g.Nodes, b.nodes...)
	return g, errors.Join(b.err, g.check())
}

// check looks for values that are read before they are there, which no runtime would take.
func (g *Graph) check() error {
	there := map[string]bool{"": true}
	for _, v := range g.Inputs {
		there[v.Name] = true
	}
	for _, t := range g.Constants {
		there[t.Name] = true
	}
	for _, n := range g.Nodes {
		for _, in := range n.In {
			if !there[in] {
				return fmt.Errorf("%s reads %q, which nothing before it makes", n.Name, in)
			}
		}
		for _, out := range n.Out {
			if there[out] {
				return fmt.Errorf("two values are called %q", out)
			}
			there[out] = true
		}
	}
	for _, v := range g.Outputs {
		if !there[v.Name] {
			return fmt.Errorf("the output %q is made by nothing", v.Name)
		}
	}
	return nil
}
