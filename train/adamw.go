package train

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"

	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/simd"
	"konkanitrain/model"
	"konkanitrain/op"
)

// AdamW is Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2) on flat buffers. With
// t = 1, 2, ..., g the scaled gradient:
//
//	p = p*(1 - lr*decay)    m = b1*m + (1-b1)*g    v = b2*v + (1-b2)*g²
//	p = p - lr * (m/(1-b1^t)) / (sqrt(v/(1-b2^t)) + eps)
//
// It implements gorgonia.Solver.
type AdamW struct {
	Beta1, Beta2, Eps, Decay float64
	// LR and GradScale belong to the next step: the learning rate, and the factor of the gradient (clipping
	// and the inverse of the loss scale).
	LR, GradScale float64
	// Updates is the number of steps made.
	Updates int

	layout  *engine.Layout
	params  []model.Parameter
	moments [2]device.Buffer // of layout: mean, and mean of squares
	pieces  []span
	sums    []float64 // of squares, by piece

	// What the crew works on; the tasks are made once, so that a step allocates nothing.
	workers              int
	weights, grads       []float32
	normTask, updateTask func(*engine.Worker)
}

// span is a piece of one tensor in the flat buffers.
type span struct {
	param  int
	lo, hi int // words of the flat buffer
}

// pieceWords is the size of the pieces that workers share. It is fixed, so that the norm's order of summation
// doesn't depend on the number of workers.
const pieceWords = 1 << 15

var _ G.Solver = (*AdamW)(nil)

// NewAdamW allocates both moments, all zeros. Parameters without Decay are never decayed.
func NewAdamW(dev device.Device, layout *engine.Layout, params []model.Parameter, decay float64) (*AdamW, error) {
	a := &AdamW{Beta1: 0.9, Beta2: 0.98, Eps: 1e-9, Decay: decay, GradScale: 1, layout: layout, params: params}
	for i, what := range []string{"first moments", "second moments"} {
		b, err := dev.Alloc(4*layout.Words, what)
		if err != nil {
			a.Close()
			return nil, err
		}
		a.moments[i] = b
	}
	for i, t := range layout.Tensors {
		for lo := 0; lo < t.Words(); lo += pieceWords {
			a.pieces = append(a.pieces, span{i, t.Offset + lo, t.Offset + min(lo+pieceWords, t.Words())})
		}
	}
	a.sums = make([]float64, len(a.pieces))
	a.normTask, a.updateTask = a.normWorker, a.updateWorker
	return a, nil
}

// Close frees the moments.
func (a *AdamW) Close() {
	for _, b := range a.moments {
		if b != nil {
			b.Free()
		}
	}
}

// Norm is the Euclidean norm of the flat gradient, computed by the crew's workers.
func (a *AdamW) Norm(crew *engine.Crew, grads []float32) (float64, error) {
	a.workers, a.grads = len(crew.Workers), grads
	err := crew.Do(a.normTask)
	sum := 0.0
	for _, s := range a.sums {
		sum += s
	}
	return math.Sqrt(sum), err
}

func (a *AdamW) normWorker(w *engine.Worker) {
	for i := w.Index; i < len(a.pieces); i += a.workers {
		a.sums[i] = simd.SumSquares(a.grads[a.pieces[i].lo:a.pieces[i].hi])
	}
}

// Update applies one step to the flat weights, the pieces shared by the crew's workers.
func (a *AdamW) Update(crew *engine.Crew, weights, grads []float32) error {
	a.Updates++
	a.workers, a.weights, a.grads = len(crew.Workers), weights, grads
	return crew.Do(a.updateTask)
}

func (a *AdamW) updateWorker(w *engine.Worker) {
	m, v := a.moments[0].Floats(), a.moments[1].Floats()
	for i := w.Index; i < len(a.pieces); i += a.workers {
		p := a.pieces[i]
		simd.AdamW(a.weights[p.lo:p.hi], m[p.lo:p.hi], v[p.lo:p.hi], a.grads[p.lo:p.hi], a.step(p.param))
	}
}

// step is the arithmetic's constants for one parameter at update Updates.
func (a *AdamW) step(param int) simd.AdamStep {
	t := float64(a.Updates)
	s := simd.AdamStep{
		LR: float32(a.LR), Beta1: float32(a.Beta1), Beta2: float32(a.Beta2), Eps: float32(a.Eps), GradScale: float32(a.GradScale),
		Correct1: float32(1 / (1 - math.Pow(a.Beta1, t))), Correct2: float32(1 / (1 - math.Pow(a.Beta2, t))),
	}
	if a.params[param].Decay {
		s.Decay = float32(a.Decay)
	}
	return s
}

// Step applies one step to Gorgonia values, which must be the parameters in their order: gorgonia.Solver.
func (a *AdamW) Step(values []G.ValueGrad) error {
	if len(values) != len(a.params) {
		return fmt.Errorf("AdamW: %d values for %d parameters", len(values), len(a.params))
	}
	weights, grads := make([]op.Tensor, len(values)), make([]op.Tensor, len(values))
	for i, v := range values {
		g, err := v.Grad()
		if err != nil {
			return fmt.Errorf("AdamW: gradient of %s: %w", a.params[i].Name, err)
		}
		if weights[i], err = op.FromValue(v.Value()); err != nil {
			return fmt.Errorf("AdamW: %s: %w", a.params[i].Name, err)
		}
		if grads[i], err = op.FromValue(g); err != nil {
			return fmt.Errorf("AdamW: gradient of %s: %w", a.params[i].Name, err)
		}
		if n := a.params[i].Size(); len(weights[i].Data) != n || len(grads[i].Data) != n {
			return fmt.Errorf("AdamW: %s has %d values and %d gradients, want %d", a.params[i].Name, len(weights[i].Data), len(grads[i].Data), n)
		}
	}
	a.Updates++
	for i, p := range a.params {
		m, v := a.layout.View(a.moments[0].Floats(), p.Name), a.layout.View(a.moments[1].Floats(), p.Name)
		simd.AdamW(weights[i].Data, m, v, grads[i].Data, a.step(i))
	}
	return nil
}

// ClipScale is the factor that brings a gradient of the given norm down to limit: min(1, limit/(norm + 1e-6)).
func ClipScale(norm, limit float64) float64 { return min(1, limit/(norm+1e-6)) }
