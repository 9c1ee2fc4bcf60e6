package engine

import (
	"fmt"

	"gorgonia.org/tensor"
)

// Named is a tensor in a flat buffer.
type Named struct {
	Name   string
	Shape  tensor.Shape
	Offset int // words from the start of the buffer
}

// Words is the tensor's number of elements.
func (n Named) Words() int { return Operand{Shape: n.Shape}.Words() }

// Layout says where each parameter lies in a flat buffer: weights, gradients and both moments are four buffers
// of one Layout. Each tensor starts on a cache line; the words in between stay 0.
type Layout struct {
	Tensors []Named
	Words   int // of the whole buffer, with the padding
	index   map[string]int
}

// NewLayout places tensors one behind the other in the order given.
func NewLayout(names []string, shapes []tensor.Shape) (*Layout, error) {
	l := &Layout{index: map[string]int{}}
	for i, name := range names {
		if _, ok := l.index[name]; ok {
			return nil, fmt.Errorf("two parameters are called %s", name)
		}
		t := Named{Name: name, Shape: shapes[i], Offset: l.Words}
		l.index[name] = i
		l.Tensors = append(l.Tensors, t)
		l.Words += aligned(t.Words())
	}
	return l, nil
}

// View is the tensor called name inside a flat buffer of this layout, or nil where there is none.
func (l *Layout) View(flat []float32, name string) []float32 {
	i, ok := l.index[name]
	if !ok {
		return nil
	}
	t := l.Tensors[i]
	return flat[t.Offset:][:t.Words():t.Words()]
}
