package main

import (
	"fmt"
	"math"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/philox"
	"konkanitrain/model"
	"konkanitrain/update"
)

// steps makes the updates of a run, all with the same window; only the data loader is left out.
type steps struct {
	replica update.Replica
	updater *update.Updater
	window  []*data.Example
}

func newSteps(net model.Config, o update.Options, ways []engine.Recompute, workers int, window []*data.Example) (*steps, error) {
	network, err := update.Network(net)
	if err != nil {
		return nil, err
	}
	crew, err := engine.NewCrew(device.NewHost(), engine.NewLibrary(network), workers, true)
	if err != nil {
		return nil, err
	}
	if err := crew.Initialize(1); err != nil {
		crew.Close()
		return nil, err
	}
	updater := update.New(net, crew, o)
	updater.Runner.Fit.Recompute = ways
	return &steps{crew, updater, window}, nil
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
