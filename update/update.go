package update

import (
	"errors"
	"fmt"
	"math"

	"konkanitrain/data"
	"konkanitrain/engine"
	"konkanitrain/internal/frames"
	"konkanitrain/model"
)

// Options say how updates are made.
type Options struct {
	BatchSize   int                      // the most rows of a micro-batch
	Half        bool                     // store what the backward pass needs as float16, and scale the loss
	Seed        uint64                   // of dropout
	Rate        func(update int) float64 // the learning rate of an update, by its number, from 1: see [Schedule.Rate]
	WeightDecay float64
	GradClip    float64 // the largest norm of a gradient
	EMADecay    float64 // of the averages of the weights, where the replica keeps any: see [EMADecay]
}

// Updater makes updates of one network. Updates and LossScale are its whole state beside what the replica holds; both
// may be set before the first update, to go on with an earlier run.
type Updater struct {
	Updates   int // made so far
	LossScale LossScale
	LR        float64 // of the last update
	Runner    *Runner // of the updates' passes
	// Next gives the window that comes after the one at hand, nil for none; it may be called once during an update, if the
	// replica can use it. Nil where nobody knows.
	Next func() []*data.Example

	o     Options
	scale float64 // of the last update's loss, and so of its gradient
}

// New is an updater of the network in a replica that was made for training.
func New(net model.Config, r Replica, o Options) *Updater {
	return &Updater{LossScale: NewLossScale(), Runner: NewRunner(net, r, o.BatchSize), o: o}
}

// Outcome is what became of a window.
type Outcome struct {
	Loss, CTC, CE float64 // nats, summed over utterances; 0 where they are not finite, or nothing was usable
	Utterances    int     // that could be used
	Infeasible    int     // of them, without a CTC alignment
	Audio         float64 // seconds of sound
	Norm          float64 // of the gradient, before clipping
	Skipped       Reason
	Unreadable    []string    // ids of the utterances whose file could not be read
	TooLarge      []*TooLarge // utterances that were left out for lack of memory
	NotFinite     []string    // ids of the utterances whose loss is not finite, where Skipped is NotFiniteGradient
}

// Reason says why a window gave no update.
type Reason uint8

// The reasons.
const (
	Made              Reason = iota // none: the update was made
	NothingReadable                 // none of its files can be read
	NothingFeasible                 // all its targets are too long for CTC, and there is no decoder
	NothingFits                     // there is not enough memory for any of its utterances, alone
	NotFiniteGradient               // the loss or the gradient is NaN or infinite
)

// DivergedError says that a weight is not a finite number: nothing can be learned or saved from there.
type DivergedError struct {
	engine.NotFinite
	Updates int // made until then
}

// Error names the weight, and what to do.
func (e *DivergedError) Error() string {
	return fmt.Sprintf("weight %v after update %d: nothing can be learned or saved from here; "+
		"go on from the last checkpoint with a lower learning_rate", &e.NotFinite, e.Updates)
}

// weightsEvery is the number of updates between looks at whether all weights are finite.
const weightsEvery = 3

// Update trains on one window: forward and backward passes, one sum of gradients, one step of the optimizer.
// A window whose loss or gradient is not finite changes nothing: weights, moments, learning rate and the count
// of updates stay; with Half the loss scale falls. The error is for what must stop the run; where it wraps
// *device.OutOfMemory nothing has changed, and the window may be tried again.
func (u *Updater) Update(window []*data.Example) (Outcome, error) {
	out := u.count(window)
	if out.Skipped != Made {
		return out, nil
	}
	scale := 1.0
	if u.o.Half {
		scale = u.LossScale.Scale
	}
	u.scale = scale
	if l, ok := u.Runner.Replica.(engine.Learner[Variant]); ok {
		return u.learn(l, window, scale)
	}
	losses, err := u.Runner.Run(window, u.ask(scale))
	if err != nil {
		return out, err
	}
	if out = u.count(window); out.Skipped != Made { // some were left out for lack of memory
		return out, nil
	}
	squares, err := u.Runner.Replica.Reduce()
	if err != nil {
		return out, err
	}
	out.add(losses)
	out.Norm = math.Sqrt(squares) / scale
	if notFinite(out.Norm) || notFinite(out.Loss) {
		return u.overflow(window, losses, out)
	}
	return out, u.step(ClipScale(out.Norm, u.o.GradClip) / scale)
}

// step applies the gradient, multiplied by gradScale.
func (u *Updater) step(gradScale float64) error {
	s := u.adamW()
	s.GradScale = gradScale
	if err := u.Runner.Replica.Update(s); err != nil {
		return err
	}
	return u.made(s.Number, s.LR)
}

// adamW is the next step of the optimizer, without its factor of the gradient.
func (u *Updater) adamW() engine.AdamW {
	number := u.Updates + 1
	return engine.AdamW{
		Number: number, LR: u.o.Rate(number), Decay: u.o.WeightDecay, Share: 1 - EMADecay(u.o.EMADecay, number),
	}
}

// made counts an update.
func (u *Updater) made(number int, rate float64) error {
	u.Updates, u.LR = number, rate
	if u.o.Half {
		u.LossScale.Succeeded()
	}
	// A weight that no utterance uses can be NaN without any trace in the loss. Looking costs a pass over all weights.
	if number%weightsEvery == 0 {
		return u.Finite()
	}
	return nil
}

// ask is what a pass for an update is asked for.
func (u *Updater) ask(scale float64) Ask {
	return Ask{Purpose: model.Training, Half: u.o.Half, Scale: scale, Seed: u.o.Seed, Update: u.Updates + 1}
}

// count counts a window's usable utterances and says whether there is anything to learn from.
func (u *Updater) count(window []*data.Example) (out Outcome) {
	net := u.Runner.Net
	for _, e := range window {
		if e.Err != nil {
			out.leave(e)
			continue
		}
		out.Utterances++
		out.Audio += e.Utt.Duration
		if !frames.Feasible(e.Frames, net.Subsampling, e.Tokens) {
			out.Infeasible++
		}
	}
	switch {
	case out.Utterances == 0 && len(out.TooLarge) > 0:
		out.Skipped = NothingFits
	case out.Utterances == 0:
		out.Skipped = NothingReadable
	case out.Infeasible == out.Utterances && net.DecoderLayers == 0:
		out.Skipped = NothingFeasible
	}
	return out
}

// add adds losses up.
func (out *Outcome) add(losses []Loss) {
	for _, l := range losses {
		out.Loss += l.Total
		out.CTC += l.CTC
		out.CE += l.CE
	}
}

// leave counts an utterance that takes no part.
func (out *Outcome) leave(e *data.Example) {
	var large *TooLarge
	if errors.As(e.Err, &large) {
		out.TooLarge = append(out.TooLarge, large)
		return
	}
	out.Unreadable = append(out.Unreadable, e.Utt.ID)
}

// overflow handles a loss or gradient that is not finite.
func (u *Updater) overflow(window []*data.Example, losses []Loss, out Outcome) (Outcome, error) {
	out.Skipped = NotFiniteGradient
	for i, l := range losses {
		if notFinite(l.Total) {
			out.NotFinite = append(out.NotFinite, window[i].Utt.ID)
		}
	}
	out.Loss, out.CTC, out.CE = 0, 0, 0
	if err := u.Finite(); err != nil {
		return out, err
	}
	if u.o.Half {
		return out, u.LossScale.Overflowed()
	}
	return out, nil
}

// Finite is a *DivergedError if a weight is not a finite number.
func (u *Updater) Finite() error {
	odd, err := u.Runner.Replica.Finite()
	if err != nil || odd == nil {
		return err
	}
	return &DivergedError{*odd, u.Updates}
}

// Shapes lists the batch shapes that updates over a stretch of windows meet: see [Runner.Shapes].
func (u *Updater) Shapes(w Windows, s Span) ([]Met, []Left, error) {
	return u.Runner.Shapes(w, s, u.ask(1))
}

// FLOPs is the number of floating-point operations of the passes of an update with this window.
func (u *Updater) FLOPs(window []*data.Example) (float64, error) {
	return u.Runner.FLOPs(window, u.ask(1))
}

// ClipScale is the factor that brings a gradient of the given norm down to limit: min(1, limit/(norm + 1e-6)).
func ClipScale(norm, limit float64) float64 { return min(1, limit/(norm+1e-6)) }

func notFinite(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }
