package engine

import (
	"cmp"
	"fmt"
	"slices"

	"gorgonia.org/tensor"

	"konkanitrain/op"
)

// Parameter is a tensor that is learned, unless it is frozen.
type Parameter struct {
	Name     string
	Shape    tensor.Shape
	Decay    bool     // weight decay applies
	OwnDecay OwnDecay // then
	Frozen   bool     // it stays as it is: it has no gradient and no moments
	Scale    float64  // factor of the learning rate, and so of the decay; 0 is 1
}

// OwnDecay is a weight decay that, if it is set, takes the place of a step's.
type OwnDecay struct {
	Set   bool
	Value float64
}

// group is what the parameter has in common with others of its group.
func (p Parameter) group() Group { return Group{Scale: cmp.Or(p.Scale, 1), Decay: p.OwnDecay} }

// Placed is a parameter in a flat buffer.
type Placed struct {
	Parameter
	Offset int64 // bytes from the start of the buffer
	Group  int   // index into Layout.Groups; -1 for a frozen one
}

// Bytes is the tensor's size.
func (p Placed) Bytes() int64 { return op.Type{Shape: p.Shape}.Bytes() }

// Layout says where each parameter lies in a flat buffer: weights, gradients and both moments are four buffers
// of one Layout. What is learned comes first, group by group; the frozen rest is in the buffer of weights alone. Each
// tensor starts on a cache line; the bytes in between stay 0.
type Layout struct {
	Tensors []Placed // in the order of their offsets
	Groups  []Group  // of what is learned, one behind the other
	Learned int64    // bytes of what is learned, with the padding: of a gradient buffer
	Bytes   int64    // of the whole buffer, with the padding
	index   map[string]int
}

// Group is the parameters that have one factor of the learning rate, and one weight decay if they decay.
type Group struct {
	Scale float64 // that factor
	Decay OwnDecay
	Bytes int64 // of all, with the padding
}

// has says whether a parameter belongs to the group.
func (g Group) has(p Parameter) bool {
	of := p.group()
	return !p.Frozen && of.Scale == g.Scale && of.Decay == g.Decay
}

// NewLayout places parameters one behind the other: the groups in the order in which they are met, each in the order
// given, and then the frozen ones.
func NewLayout(parameters []Parameter) (*Layout, error) {
	l := &Layout{index: map[string]int{}}
	for _, p := range parameters {
		if !p.Frozen && !slices.ContainsFunc(l.Groups, func(g Group) bool { return g.has(p) }) {
			l.Groups = append(l.Groups, p.group())
		}
	}
	place := func(group int, belongs func(Parameter) bool) error {
		for _, p := range parameters {
			if !belongs(p) {
				continue
			}
			if _, ok := l.index[p.Name]; ok {
				return fmt.Errorf("two parameters are called %s", p.Name)
			}
			t := Placed{Parameter: p, Offset: l.Bytes, Group: group}
			l.index[p.Name] = len(l.Tensors)
			l.Tensors = append(l.Tensors, t)
			l.Bytes += aligned(t.Bytes())
		}
		return nil
	}
	for i := range l.Groups {
		g := &l.Groups[i]
		if err := place(i, g.has); err != nil {
			return nil, err
		}
		g.Bytes, l.Learned = l.Bytes-l.Learned, l.Bytes
	}
	return l, place(-1, func(p Parameter) bool { return p.Frozen })
}

// Find is the tensor called name.
func (l *Layout) Find(name string) (Placed, bool) {
	i, ok := l.index[name]
	if !ok {
		return Placed{}, false
	}
	return l.Tensors[i], true
}

// view is the tensor called name inside a flat buffer of this layout in the host's memory, or nil where there is none.
func (l *Layout) view(flat []byte, name string) []byte {
	t, ok := l.Find(name)
	if !ok || int64(len(flat)) < t.Offset+t.Bytes() {
		return nil
	}
	return flat[t.Offset:][:t.Bytes():t.Bytes()]
}
