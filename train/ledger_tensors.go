package train

import (
	"io"

	"konkanitrain/checkpoint"
	"konkanitrain/engine"
	"konkanitrain/model"
	"konkanitrain/update"
)

// memory is where weights, moments and averages are, as streams by name.
type memory struct {
	replica    update.Replica
	parameters []model.Parameter
	learned    []model.Parameter // those that have moments
	averages   bool              // they also have moving averages
}

func newMemory(replica update.Replica, net model.Config, t update.Tuning) memory {
	all := model.Parameters(net)
	return memory{replica, all, t.Learned(all), t.Averages}
}

// tensor is a parameter's part of a flat buffer for a checkpoint; prefix comes before its name.
func (m memory) tensor(of engine.Flat, prefix string, p model.Parameter) checkpoint.Tensor {
	return checkpoint.Tensor{
		Name: prefix + p.Name, Shape: p.Shape,
		Save: func(w io.Writer) error { return m.replica.Export(of, p.Name, w) },
		Load: func(r io.Reader) error { return m.replica.Import(of, p.Name, r) },
	}
}

func (m memory) tensors(of engine.Flat, prefix string, parameters []model.Parameter) (list []checkpoint.Tensor) {
	for _, p := range parameters {
		list = append(list, m.tensor(of, prefix, p))
	}
	return list
}

func (m memory) weights() []checkpoint.Tensor { return m.tensors(engine.Weights, "", m.parameters) }

// moments are both, as a checkpoint calls them.
func (m memory) moments() []checkpoint.Tensor {
	return append(m.tensors(engine.FirstMoments, "m.", m.learned), m.tensors(engine.SecondMoments, "v.", m.learned)...)
}

// optimizer are the tensors of an optimizer's file: the moments, and beside averages the weights.
func (m memory) optimizer() []checkpoint.Tensor {
	if m.averages {
		return append(m.moments(), m.raw()...)
	}
	return m.moments()
}
