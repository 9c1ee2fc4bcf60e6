package update

import (
	"konkanitrain/data"
	"konkanitrain/engine"
	"konkanitrain/internal/frames"
	"konkanitrain/internal/philox"
	"konkanitrain/model"
)

// Runner sends windows of utterances through a replica, in micro-batches. A pass over shapes that were met before
// allocates nothing.
type Runner struct {
	Net     model.Config
	Replica Replica
	Fit     *Fit // its own, until a shared one is put in its place

	// Until, if set, ends Shapes, with its error, from the time that it returns one on. Several goroutines call it.
	Until func() error

	*work          // the window at hand
	ahead *work    // the next one, where the replica takes up inputs ahead; its window is nil where it has none
	steps *stepper // nil before Steps
}

// work is a window on its way through the replica.
type work struct {
	net    model.Config
	dealer dealer
	pass   engine.Pass[Variant]

	window  []*data.Example
	asked   Ask
	lengths []data.Length // of the window, as they were planned
	losses  []Loss        // of the window
	batches []microBatch  // of the pass
	scale   float32       // of each utterance's loss
	limit   int64         // that of Fit when the window was dealt
}

func newWork(net model.Config, r Replica, batchSize int) *work {
	w := &work{net: net, dealer: dealer{net: net, batchSize: batchSize, wishes: r.Wishes()}}
	w.pass.Fill, w.pass.Late, w.pass.Collect = w.fill, w.late, w.collect
	return w
}

// Loss is what came out for one utterance, in nats.
type Loss struct {
	CTC, CE    float64
	Inter      float64 // CTC behind the middle block, in training
	Total      float64 // of these by their shares: what is minimized
	Infeasible bool    // the target has no alignment with so few frames: CTC counts 0
}

// Ask says what is wanted of a pass.
type Ask struct {
	Purpose model.Purpose
	Half    bool    // store what the backward pass needs as float16
	Scale   float64 // factor of the loss, of training: each utterance's share is that over the number of usable ones
	Seed    uint64  // keys dropout, together with the update
	Update  int
	// Logits, if set, is called for each row that is there by the worker that computed it: [frames, V] of the CTC head,
	// valid during the call. A worker makes one call at a time. Not in training.
	Logits func(worker, row int, logits []float32)
	// Memory, if set, is called before it, of a network with a decoder: what the decoder's steps read of the row, for
	// each of its blocks, valid during the call. For scoring and listening.
	Memory func(worker, row int, memory []Memory)
	// Then, if set, is called when the pass has ended, and may make steps of the decoder (Runner.Steps). Its error is
	// Run's.
	Then func() error
}

// Memory is what a decoder block reads of the encoder: keys and values of its attention, [S, d] each.
type Memory struct{ Keys, Values []float32 }

// NewRunner runs windows in micro-batches of at most batchSize rows.
func NewRunner(net model.Config, r Replica, batchSize int) *Runner {
	return &Runner{Net: net, Replica: r, Fit: NewFit(r), work: newWork(net, r, batchSize), ahead: newWork(net, r, batchSize)}
}

// Run makes the pass and returns the losses of the rows, zeros where an example could not be read; they are valid until
// the next call. Where there is no memory for it, Fit says what is done. An utterance that is left out for lack of
// memory is as one that can't be read, its Err is a *TooLarge; without Fit.Leave that is Run's error. An error that
// wraps *device.OutOfMemory or *TooLarge comes before anything has run.
func (r *Runner) Run(window []*data.Example, ask Ask) ([]Loss, error) {
	r.load(window, ask)
	if err := r.prepare(); err != nil {
		return nil, err
	}
	return r.run()
}

// load takes up a window.
func (w *work) load(window []*data.Example, ask Ask) {
	w.window, w.asked = window, ask
	w.lengths, w.losses = w.lengths[:0], w.losses[:0]
	for _, e := range window {
		w.lengths = append(w.lengths, data.Length{Frames: e.Planned, Tokens: len(e.Tokens)})
		w.losses = append(w.losses, Loss{})
	}
}

// prepare deals the window and makes room for it. Where there is none, it does what Fit has left, and deals again.
func (r *Runner) prepare() error {
	r.dealer.fit = r.Fit
	for rung := 0; ; rung++ {
		batches, err := r.dealer.deal(r.lengths, r.asked)
		if err != nil {
			return err
		}
		if err := r.leave(r.dealer.left); err != nil {
			return err
		}
		r.dispatch(batches)
		err = r.Replica.Prepare(r.pass.Batches, 0)
		if err == nil {
			return nil
		}
		need, failed := r.need()
		if failed != nil || !r.Fit.Relieve(rung, err, need) {
			return err
		}
	}
}

// leave leaves rows out that don't fit, or refuses the first of them.
func (r *Runner) leave(rows []int) error {
	for _, i := range rows {
		e := r.window[i]
		if e.Err != nil {
			continue
		}
		w, err := r.Fit.way(r.asked, bucket(1, r.lengths[i].Frames, max(1, r.lengths[i].Tokens), r.Net))
		if err != nil {
			return err
		}
		large := &TooLarge{ID: e.Utt.ID, Seconds: e.Utt.Duration, Need: w.least, Room: r.Fit.Limit(), Err: r.Fit.lack}
		if !r.Fit.Leave {
			return large
		}
		e.Err = large
	}
	return nil
}

// need is what the largest micro-batch takes, in bytes.
func (r *Runner) need() (most int64, err error) {
	for _, b := range r.pass.Batches {
		prices, err := r.Replica.Prices([]Variant{b.Key})
		if err != nil {
			return 0, err
		}
		most = max(most, prices[0].Bytes)
	}
	return most, nil
}

// dispatch writes the micro-batches of the window down as those of the pass.
func (w *work) dispatch(batches []microBatch) {
	w.batches, w.pass.Batches = batches, w.pass.Batches[:0]
	for _, b := range batches {
		w.pass.Batches = append(w.pass.Batches, engine.Batch[Variant]{Key: w.asked.variant(b.shape, b.recompute), Worker: b.worker})
	}
	w.share()
}

// share is what each utterance's loss counts.
func (w *work) share() {
	usable := 0
	for _, e := range w.window {
		if e.Err == nil {
			usable++
		}
	}
	w.scale = float32(w.asked.Scale / float64(max(usable, 1)))
}

// run makes the pass over what was prepared.
func (r *Runner) run() ([]Loss, error) {
	if err := r.Replica.Run(&r.pass); err != nil {
		return nil, err
	}
	if r.asked.Then != nil {
		if err := r.asked.Then(); err != nil {
			return nil, err
		}
	}
	return r.losses, nil
}

// variant is the program that a shape needs. What is not asked for tells no two programs apart.
func (a Ask) variant(s model.Shape, r engine.Recompute) Variant {
	v := Variant{Shape: s, Purpose: a.Purpose}
	switch a.Purpose {
	case model.Training:
		v.Half, v.Recompute = a.Half, r
	case model.Transcribing, model.Listening:
		v.Tokens = 1 // there are no targets
	case model.Scoring:
		v.Memory = a.Memory != nil
	}
	return v
}

// FLOPs is the number of floating-point operations that a pass over a window takes.
func (r *Runner) FLOPs(window []*data.Example, ask Ask) (float64, error) {
	r.load(window, ask)
	r.dealer.fit = r.Fit
	batches, err := r.dealer.deal(r.lengths, ask)
	if err != nil {
		return 0, err
	}
	var keys []Variant
	for _, b := range batches {
		keys = append(keys, ask.variant(b.shape, b.recompute))
	}
	prices, err := r.Replica.Prices(keys)
	sum := 0.0
	for _, p := range prices {
		sum += p.FLOPs
	}
	return sum, err
}

// absent is the target length of a row whose file could not be read: not even the end token is there. Its length in
// frames is 0.
const absent = -1

// fill writes micro-batch i into the inputs of its program, but the late ones. Padding of the features is left as it
// is: nothing reads it.
func (w *work) fill(i int, in engine.Inputs) error {
	b := w.batches[i]
	features, lengths := in.Input(model.Features).Data, in.Input(model.Lengths).Ints
	targets, targetLengths := in.Input(model.Targets).Ints, in.Input(model.TargetLengths).Ints
	size := b.shape.Frames * w.net.NumMels
	for row, k := range b.rows {
		e := w.window[k]
		copy(features[row*size:][:size], e.Features)
		lengths[row] = int32(e.Frames)
		if targets != nil {
			t := targets[row*b.shape.Tokens:][:b.shape.Tokens]
			clear(t[copy(t, e.Tokens):])
			targetLengths[row] = int32(len(e.Tokens))
			if e.Err != nil {
				targetLengths[row] = absent
			}
		}
	}
	return nil
}

// late writes what depends on the updates before: the seeds of dropout, by the number of the update, and the scale.
func (w *work) late(i int, in engine.Inputs) error {
	if seeds := in.Input(model.Seeds).Ints; seeds != nil {
		for row, k := range w.batches[i].rows {
			key := philox.Key(w.asked.Seed, uint64(w.asked.Update), w.window[k].Utt.Key)
			seeds[2*row], seeds[2*row+1] = int32(uint32(key)), int32(uint32(key>>32))
		}
	}
	if s := in.Input(model.Scale).Data; s != nil {
		s[0] = w.scale
	}
	return nil
}

// collect reads what came out of micro-batch i into the losses of its rows.
func (w *work) collect(i int, out engine.Outputs) error {
	b := w.batches[i]
	ctc, inter, ce, logits := out.Output(outCTC).Data, out.Output(outInter).Data, out.Output(outCE).Data, out.Output(outLogits).Data
	ctcShare, interShare, ceShare := w.net.Shares(w.asked.Purpose)
	size := b.shape.Encoded(w.net) * w.net.Vocab
	for row, k := range b.rows {
		e := w.window[k]
		if e.Err != nil {
			continue
		}
		if ctc != nil {
			l := Loss{CTC: float64(ctc[row]), Infeasible: !frames.Feasible(e.Frames, w.net.Subsampling, e.Tokens)}
			if inter != nil {
				l.Inter = float64(inter[row])
			}
			if ce != nil {
				l.CE = float64(ce[row])
			}
			l.Total = ctcShare*l.CTC + interShare*l.Inter + ceShare*l.CE
			w.losses[k] = l
		}
		if w.asked.Memory != nil {
			s, d := b.shape.Encoded(w.net), w.net.DModel
			memory := make([]Memory, w.net.DecoderLayers)
			for n := range memory {
				part := func(name string) []float32 {
					return out.Output(name).Data[row*s*d:][:frames.Subsampled(e.Frames, w.net.Subsampling)*d]
				}
				memory[n] = Memory{part(outKeys(n)), part(outValues(n))}
			}
			w.asked.Memory(b.worker, k, memory)
		}
		if w.asked.Logits != nil {
			w.asked.Logits(b.worker, k, logits[row*size:][:frames.Subsampled(e.Frames, w.net.Subsampling)*w.net.Vocab])
		}
	}
	return nil
}
