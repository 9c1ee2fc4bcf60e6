package engine

import (
	"fmt"

	"gorgonia.org/tensor"

	"konkanitrain/op"
)

// Parameter is a tensor that is learned.
type Parameter struct {
	Name  string
	Shape tensor.Shape
	Decay bool // weight decay applies
}

// Placed is a parameter in a flat buffer.
type Placed struct {
	Parameter
	Offset int64 // bytes from the start of the buffer
}

// Bytes is the tensor's size.
func (p Placed) Bytes() int64 { return op.Type{Shape: p.Shape}.Bytes() }

// Layout says where each parameter lies in a flat buffer: weights, gradients and both moments are four buffers
// of one Layout. Each tensor starts on a cache line; the bytes in between stay 0.
type Layout struct {
	Tensors []Placed
	Bytes   int64 // of the whole buffer, with the padding
	index   map[string]int
}

// NewLayout places parameters one behind the other in the order given.
func NewLayout(parameters []Parameter) (*Layout, error) {
	l := &Layout{index: map[string]int{}}
	for i, p := range parameters {
		if _, ok := l.index[p.Name]; ok {
			return nil, fmt.Errorf("two parameters are called %s", p.Name)
		}
		t := Placed{Parameter: p, Offset: l.Bytes}
		l.index[p.Name] = i
		l.Tensors = append(l.Tensors, t)
		l.Bytes += aligned(t.Bytes())
	}
	return l, nil
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
