package engine

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

// Solver makes steps of AdamW on values of Gorgonia, with the kernel that a replica uses: gorgonia.Solver, for graphs
// that run on Gorgonia's own machines. The moments are its own and start at 0.
type Solver struct {
	// Next are the settings of the next step. Step counts its Number.
	Next AdamW

	parameters []Parameter
	kernels    []op.Kernel
	moments    [2][]op.Tensor
}

var _ G.Solver = (*Solver)(nil)

// NewSolver is a solver for parameters, which are no scalars. It steps all of them: leave frozen ones out.
func NewSolver(parameters []Parameter, next AdamW) (*Solver, error) {
	s := &Solver{Next: next, parameters: parameters}
	for _, p := range parameters {
		if p.Shape.Dims() == 0 {
			return nil, fmt.Errorf("AdamW: %s is a scalar, which Gorgonia hands out by value: give it the shape [1]", p.Name)
		}
		n := op.Size(p.Shape)
		kernel, err := op.NewAdamW(n).Kernel(op.CPU)
		if err != nil {
			return nil, err
		}
		s.kernels = append(s.kernels, kernel)
		for i := range s.moments {
			s.moments[i] = append(s.moments[i], op.Tensor{Data: make([]float32, n)})
		}
	}
	return s, nil
}

// Step makes one step on the values of all parameters, in their order. After an error nothing has changed.
func (s *Solver) Step(values []G.ValueGrad) error {
	if len(values) != len(s.parameters) {
		return fmt.Errorf("AdamW: %d values for %d parameters", len(values), len(s.parameters))
	}
	weights, grads := make([]op.Tensor, len(values)), make([]op.Tensor, len(values))
	for i, v := range values {
		p := s.parameters[i]
		g, err := v.Grad()
		if err == nil {
			grads[i], err = op.FromValue(g)
		}
		if err != nil {
			return fmt.Errorf("AdamW: gradient of %s: %w", p.Name, err)
		}
		if weights[i], err = op.FromValue(v.Value()); err != nil {
			return fmt.Errorf("AdamW: %s: %w", p.Name, err)
		}
		if n := op.Size(p.Shape); len(weights[i].Data) != n || len(grads[i].Data) != n {
			return fmt.Errorf("AdamW: %s has %d values and %d gradients, want %d", p.Name, len(weights[i].Data), len(grads[i].Data), n)
		}
	}
	s.Next.Number++
	for i, p := range s.parameters {
		constants := s.Next.constants(p.group())
		in := []op.Tensor{weights[i], s.moments[0][i], s.moments[1][i], grads[i], {Data: constants.of(p.Decay)}}
		s.kernels[i].Run(&op.Env{}, weights[i], in)
	}
	return nil
}
