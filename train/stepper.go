package train

import (
	"fmt"
	"math"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/philox"
	"konkanitrain/model"
)

// Stepper makes whole training steps (forward, backward, clip, AdamW) on made-up utterances of one length: what
// benchmarks time. The steps are those of a run; only the data loader is left out.
type Stepper struct {
	core      *core
	optimizer *AdamW
	examples  []*data.Example
	dealer    dealer
	batch     int
	pass      pass
}

// NewStepper makes batch utterances of the given number of feature frames and tokens with random content.
func NewStepper(net model.Config, batch, frames, tokens, workers int, half bool) (*Stepper, error) {
	c, err := newCore(device.NewHost(), net, workers, true, half)
	if err != nil {
		return nil, err
	}
	c.initialise(1)
	s := &Stepper{core: c, pass: pass{train: true, scale: 1 / float32(batch), seed: 1, losses: make([]rowLoss, batch)}}
	if s.optimizer, err = NewAdamW(c.dev, c.layout, c.params, 1e-3); err != nil {
		c.close()
		return nil, err
	}
	for i := range batch {
		r := philox.NewStream(philox.Key(1, uint64(i)), 0)
		e := &data.Example{Utt: &data.Utterance{ID: fmt.Sprint(i), Key: uint64(i)}, Frames: frames, Features: make([]float32, frames*net.NumMels)}
		for j := range e.Features {
			e.Features[j] = float32(math.Sqrt(12) * (r.Float64() - 0.5))
		}
		for range tokens {
			e.Tokens = append(e.Tokens, int32(3+r.IntN(net.Vocab-3)))
		}
		s.examples = append(s.examples, e)
	}
	s.batch = batch
	return s, nil
}

// Step makes one update and returns the mean loss in nats.
func (s *Stepper) Step() (float64, error) {
	s.pass.update = s.optimizer.Updates + 1
	batches := s.dealer.deal(s.examples, s.core.net, s.batch, len(s.core.crew.Workers))
	if err := s.core.run(s.examples, batches, &s.pass); err != nil {
		return 0, err
	}
	grads, squares, err := s.core.crew.Reduce()
	if err != nil {
		return 0, err
	}
	s.optimizer.LR = LearningRate(1e-3, 1000, s.optimizer.Updates+1)
	s.optimizer.GradScale = ClipScale(math.Sqrt(squares), 5)
	loss := 0.0
	for _, l := range s.pass.losses {
		loss += l.total / float64(len(s.pass.losses))
	}
	return loss, s.optimizer.Update(s.core.crew, s.core.weights.Floats(), grads)
}

// FLOPs is the number of floating-point operations in a step's forward and backward passes.
func (s *Stepper) FLOPs() (float64, error) {
	err := s.core.prepare(s.dealer.deal(s.examples, s.core.net, s.batch, len(s.core.crew.Workers)), true)
	sum := 0.0
	for _, p := range s.core.running {
		sum += p.FLOPs()
	}
	return sum, err
}

// Allocated is the number of bytes held: weights, gradients, moments and arenas.
func (s *Stepper) Allocated() int64 { return s.core.dev.Usage().Allocated }

// Profile measures from now on; the returned function gives the sum of all workers.
func (s *Stepper) Profile() func() *engine.Profile {
	for _, w := range s.core.crew.Workers {
		w.Profile = engine.NewProfile()
	}
	return func() *engine.Profile {
		sum := engine.NewProfile()
		for _, w := range s.core.crew.Workers {
			sum.Merge(w.Profile)
		}
		return sum
	}
}

// Close frees everything.
func (s *Stepper) Close() {
	s.optimizer.Close()
	s.core.close()
}
