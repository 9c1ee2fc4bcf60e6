package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"konkanitrain/checkpoint"
	"konkanitrain/engine"
	"konkanitrain/internal/words"
	"konkanitrain/model"
)

// What becomes of the exponential moving averages of the weights (ema_decay) on disk. A checkpoint's model.safetensors
// holds the averages, which are what a run validates and what is transcribed with; the weights that training goes on
// from are in optimizer.safetensors, beside the moments. Of what is frozen there is no average: it is in the model.

// rawPrefix comes before the names of weights in optimizer.safetensors.
const rawPrefix = "w."

// emaDecay is the setting in a saved configuration; 0 in one of before there was one.
func emaDecay(saved json.RawMessage) float64 {
	var c struct {
		EMADecay float64 `json:"ema_decay"`
	}
	if json.Unmarshal(saved, &c) != nil {
		return 0 // sameRun has said so
	}
	return c.EMADecay
}

// model are the tensors of a model's file: the averages of what is learned, where there are any.
func (m memory) model() []checkpoint.Tensor {
	if !m.averages {
		return m.weights()
	}
	return m.learnedAs(func(p model.Parameter) checkpoint.Tensor { return m.tensor(engine.Averages, "", p) })
}

// learnedAs are the tensors of a model's file, of which those that are learned are others than the weights.
func (m memory) learnedAs(other func(model.Parameter) checkpoint.Tensor) []checkpoint.Tensor {
	list := m.weights()
	for i, p := range m.parameters {
		if m.learns(p) {
			list[i] = other(p)
		}
	}
	return list
}

// learns says whether a parameter is one of those that are learned.
func (m memory) learns(p model.Parameter) bool {
	return slices.ContainsFunc(m.learned, func(x model.Parameter) bool { return x.Name == p.Name })
}

// raw are the weights that are learned, as an optimizer's file has them beside averages.
func (m memory) raw() []checkpoint.Tensor { return m.tensors(engine.Weights, rawPrefix, m.learned) }

// beginAverages has the averages, where there are any, begin at the weights.
func (m memory) beginAverages() error {
	if !m.averages {
		return nil
	}
	for _, p := range m.learned {
		var w bytes.Buffer
		if err := m.replica.Export(engine.Weights, p.Name, &w); err != nil {
			return err
		}
		if err := m.replica.Import(engine.Averages, p.Name, &w); err != nil {
			return err
		}
	}
	return nil
}

// load takes weights, moments and averages from a checkpoint. then says that it has averages.
func (l *ledger) load(from *checkpoint.Checkpoint, then bool) error {
	m := l.memory
	model, optimizer := m.weights(), m.moments()
	switch {
	case then && m.averages:
		model = m.model()
	case then:
		model = m.learnedAs(passedOver)
		l.report.say("NOTE: ema_decay is 0 now: the run goes on from the weights of update %d, not from their moving averages, which are the model there", from.Step)
		l.giveUpAverages()
	case m.averages:
		l.report.say("NOTE: the moving averages of the weights (ema_decay %g) begin at the weights of update %d", l.cfg.Optimizer.EMADecay, from.Step)
	}
	if then {
		optimizer = append(optimizer, m.raw()...)
	}
	if err := from.LoadModel(model); err != nil {
		return err
	}
	if err := from.LoadOptimizer(optimizer); err != nil {
		var misfit *checkpoint.TensorsError
		if then && errors.As(err, &misfit) {
			err = fmt.Errorf("%w\nthe checkpoint is one with ema_decay: its %s has to hold, beside both moments, the weights that training goes on from, as %sNAME; "+
				"a new run can start from its moving averages with --init_from %s", err, checkpoint.OptimizerFile, rawPrefix, words.Shell(from.Path))
		}
		return err
	}
	if then {
		return nil
	}
	return m.beginAverages()
}

// giveUpAverages makes the state one of a run without averages. The models of the checkpoints until now are averages:
// they take no part in an average of the last ones.
func (l *ledger) giveUpAverages() {
	l.state.Due, l.otherModel = []int{}, true
	if n := l.cfg.Run.AverageLast; n > 1 {
		l.report.say("NOTE: the average at the end (average_last %d) is made of checkpoints from here on: those before hold moving averages", n)
	}
}

// passedOver is a parameter of a model that nobody wants.
func passedOver(p model.Parameter) checkpoint.Tensor {
	return checkpoint.Tensor{Name: p.Name, Shape: p.Shape, Load: func(r io.Reader) error {
		_, err := io.Copy(io.Discard, r)
		return err
	}}
}
