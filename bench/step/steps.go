package main

import (
	"fmt"
	"math"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/device/cuda"
	"konkanitrain/engine"
	"konkanitrain/internal/philox"
	"konkanitrain/model"
	"konkanitrain/op"
	"konkanitrain/update"
)

// steps makes the updates of a run, all with the same window; only the data loader is left out.
type steps struct {
	replica update.Replica
	updater *update.Updater
	window  []*data.Example
	pool    *device.Pool
	card    cuda.Card // nil on the CPU
}

func newSteps(s settings, window []*data.Example) (*steps, error) {
	x := &steps{window: window}
	if err := x.open(s); err != nil {
		x.close()
		return nil, err
	}
	if err := x.replica.Initialize(1); err != nil {
		x.close()
		return nil, err
	}
	x.updater = update.New(s.net, x.replica, s.options())
	x.updater.Runner.Fit.Recompute = s.ways()
	if x.card != nil {
		x.updater.Next = func() []*data.Example { return x.window } // as a run's loader has it
	}
	return x, nil
}

// open makes the replica where the settings want it.
func (x *steps) open(s settings) (err error) {
	target := op.CPU
	if s.device == "cuda" {
		target = op.CUDA
	}
	network, err := update.NetworkOn(target, s.net, update.Tuning{})
	if err != nil {
		return err
	}
	library := engine.NewLibrary(network)
	if target == op.CPU {
		x.pool = device.NewPool(device.NewHost(), 0)
		crew, err := engine.NewCrew(x.pool, library, s.workers, true)
		if err == nil {
			x.replica = crew
		}
		return err
	}
	if x.card, err = cuda.Open(s.card); err != nil {
		return err
	}
	if err := x.card.Load(op.Modules()); err != nil {
		return err
	}
	x.pool = device.NewPool(x.card, 0)
	card, err := engine.NewCard(x.card, x.pool, library, s.half, true)
	if err == nil {
		x.replica = card
	}
	return err
}

// close gives everything back.
func (x *steps) close() {
	if x.replica != nil {
		x.replica.Close()
	}
	if x.card != nil {
		_ = x.card.Close() // the figures are made
	}
}

// launches is what the card was told to do until now.
func (x *steps) launches() float64 {
	if x.card == nil {
		return 0
	}
	n := x.card.Counters()
	return float64(n.Launches + n.Products + n.Clears)
}

// step makes one update and returns the mean loss in nats.
func (s *steps) step() (float64, error) {
	out, err := s.updater.Update(s.window)
	if err == nil && out.Skipped != update.Made {
		err = fmt.Errorf("update %d was skipped (%+v): the loss or its gradient is not finite, or no text fits its utterance; "+
			"try fewer tokens_per_second", s.updater.Updates+1, out)
	}
	return out.Loss / float64(len(s.window)), err
}

// madeUp is a window of utterances of one length with random features and texts.
func madeUp(utterances, frames, tokens int, net model.Config) []*data.Example {
	var window []*data.Example
	for i := range utterances {
		r := philox.NewStream(philox.Key(1, uint64(i)), 0)
		e := &data.Example{
			Utt: &data.Utterance{ID: fmt.Sprint(i), Key: uint64(i)}, Features: make([]float32, frames*net.NumMels), Frames: frames, Planned: frames,
		}
		for j := range e.Features {
			e.Features[j] = float32(math.Sqrt(12) * (r.Float64() - 0.5))
		}
		for range tokens {
			e.Tokens = append(e.Tokens, int32(3+r.IntN(net.Vocab-3)))
		}
		window = append(window, e)
	}
	return window
}
