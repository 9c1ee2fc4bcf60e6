package train

import (
	"fmt"
	"math"

	"konkanitrain/data"
	"konkanitrain/data/audio"
)

// madeUp is a set of utterances that all have so many seconds at speed 1: one window for each speed, as a window all
// of whose utterances have one length has the largest micro-batches of that length.
func (p *planner) madeUp(seconds float64) (*data.Set, error) {
	path, rate := fmt.Sprintf("utterances of %g s", seconds), p.cfg.Data.SampleRate
	var us []*data.Utterance
	for _, f := range p.speeds {
		n, err := p.length(seconds, f)
		if err != nil {
			return nil, err
		}
		u := data.Utterance{
			ID: fmt.Sprintf("an utterance at speed %g", f), File: path, Duration: float64(n.Frames) / 100,
			Samples: n.Frames * (rate / 100), Recording: &data.Recording{Info: audio.Info{Rate: rate}}, Frames: n.Frames, Tokens: make([]int32, n.Tokens),
		}
		for range p.cfg.Window() {
			each := u
			us = append(us, &each)
		}
	}
	return data.NewSet(path, rate, us...), nil
}

// length is that of an utterance of so many seconds, played at a speed.
func (p *planner) length(seconds, speed float64) (data.Length, error) {
	ratio, err := audio.Speed(speed)
	if err != nil {
		return data.Length{}, err
	}
	rate := p.cfg.Data.SampleRate
	n, err := p.cfg.Features(nil).Frames(int(math.Round(seconds*float64(rate))), rate, ratio)
	return data.Length{Frames: n, Tokens: max(1, int(math.Round(seconds*p.o.TokensPerSecond)))}, err
}

// madeUpLoader gives the windows of such a set, one after the other.
func (p *planner) madeUpLoader(set *data.Set) (*data.Loader, error) {
	return data.NewLoader(set, data.LoaderOptions{
		Evaluate: true, Window: p.cfg.Window(), Feature: p.cfg.Features(nil), Workers: p.cfg.Data.NumWorkers,
		CacheWaves: cacheWaves,
	})
}

// longestMadeUp is the most seconds, in tenths, with which a run on utterances of one length fits; 0 where there is no
// such length.
func (p *planner) longestMadeUp() float64 {
	tenths := int(10 * p.o.Seconds)
	fits := func(n int) bool {
		set, err := p.madeUp(float64(n) / 10)
		if err != nil {
			return false
		}
		loader, err := p.madeUpLoader(set)
		return err == nil && p.loadFits(loader)
	}
	low, high := 0, tenths+1 // low fits, high doesn't
	for high-low > 1 {
		if middle := (low + high) / 2; fits(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return float64(low) / 10
}
