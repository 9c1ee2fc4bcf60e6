package train

import (
	"fmt"
	"runtime"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"konkanitrain/checkpoint"
	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/frames"
	"konkanitrain/internal/philox"
	"konkanitrain/model"
)

// core is a network in memory: weights, workers and the programs that run on them. The trainer and the
// recogniser both have one.
type core struct {
	net      model.Config
	params   []model.Parameter
	layout   *engine.Layout
	dev      device.Device
	weights  device.Buffer
	crew     *engine.Crew
	programs engine.Cache[programKey]
	half     bool

	// What a pass works on. These are kept, and work is made once, so that a pass over shapes that were met
	// before allocates nothing.
	current  *pass
	examples []*data.Example
	batches  []microBatch
	running  []*engine.Program // of batches
	work     func(*engine.Worker)
}

// programKey says which program: a shape, with a backward pass or without.
type programKey struct {
	model.Shape
	train bool
}

// programsKept is the number of compiled shapes in memory, unless a single pass has more.
const programsKept = 96

// Names of the programs' outputs.
const (
	outCTC    = "ctc"    // [B] nats
	outCE     = "ce"     // [B] nats
	outLogits = "logits" // [B, S, V], without a backward pass
)

// newCore allocates weights (zeros) and starts workers; with train they have gradient buffers.
func newCore(dev device.Device, net model.Config, workers int, train, half bool) (*core, error) {
	if err := net.Validate(); err != nil {
		return nil, err
	}
	c := &core{net: net, params: model.Parameters(net), dev: dev, half: half}
	var names []string
	var shapes []tensor.Shape
	for _, p := range c.params {
		names, shapes = append(names, p.Name), append(shapes, p.Shape)
	}
	var err error
	if c.layout, err = engine.NewLayout(names, shapes); err != nil {
		return nil, err
	}
	if c.weights, err = dev.Alloc(4*c.layout.Words, "weights"); err != nil {
		return nil, err
	}
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	tables := model.NewTables(net.DModel)
	if c.crew, err = engine.NewCrew(dev, workers, c.layout, c.weights.Floats(), tables.Shared, train); err != nil {
		c.weights.Free()
		return nil, err
	}
	c.work = c.runWorker
	c.programs = engine.Cache[programKey]{Limit: programsKept, Build: c.compile, Dropped: c.crew.Forget}
	return c, nil
}

func (c *core) close() {
	c.crew.Close()
	c.weights.Free()
}

// initialise draws the start values of all weights.
func (c *core) initialise(seed uint64) {
	for _, p := range c.params {
		p.Init(c.layout.View(c.weights.Floats(), p.Name), seed)
	}
}

// tensors names the tensors of a flat buffer for a checkpoint; prefix comes before each name.
func (c *core) tensors(prefix string, flat []float32) []checkpoint.Tensor {
	var t []checkpoint.Tensor
	for _, p := range c.params {
		t = append(t, checkpoint.Tensor{Name: prefix + p.Name, Shape: p.Shape, Data: c.layout.View(flat, p.Name)})
	}
	return t
}

// compile builds the graph of a shape and makes a program of it.
func (c *core) compile(key programKey) (*engine.Program, error) {
	net, err := model.Build(c.net, key.Shape, key.train)
	if err != nil {
		return nil, fmt.Errorf("the network for %+v: %w", key.Shape, err)
	}
	spec := engine.Spec{Weights: net.Weights, Shared: net.Shared, Outputs: map[string]*gorgonia.Node{outCTC: net.CTC}}
	if net.CE != nil {
		spec.Outputs[outCE] = net.CE
	}
	if key.train {
		spec.Loss, spec.Half = net.Loss, c.half
		spec.Grads = net.Graph.Grad(net.Loss, net.Weights...)
		if err := net.Graph.Err(); err != nil {
			return nil, fmt.Errorf("the gradient for %+v: %w", key.Shape, err)
		}
	} else {
		spec.Outputs[outLogits] = net.Logits
	}
	return engine.Compile(spec)
}

// rowLoss is what came out for one utterance, in nats.
type rowLoss struct {
	ctc, ce, total float64
	infeasible     bool // no CTC alignment exists
}

// pass is one forward (and backward) pass over a window.
type pass struct {
	train  bool
	scale  float32 // of the loss
	seed   uint64
	update int // keys dropout
	losses []rowLoss
	// logits, if set, is called for each row by the worker that computed it: [frames, V], valid during the call.
	logits func(row int, logits []float32)
}

// prepare finds the programs of the batches and makes the arenas large enough. It is the part of a pass that can
// fail and allocates.
func (c *core) prepare(batches []microBatch, train bool) error {
	c.batches, c.running = batches, c.running[:0]
	c.programs.Limit = max(programsKept, len(batches)) // none of this pass may be dropped before it has run
	need := 0
	for _, b := range batches {
		p, err := c.programs.Get(programKey{b.shape, train})
		if err != nil {
			return err
		}
		c.running = append(c.running, p)
		need = max(need, p.ArenaBytes())
	}
	if err := c.crew.Reserve(need); err != nil {
		return err
	}
	for i, b := range batches {
		if _, err := c.crew.Workers[b.worker].Machine(c.running[i]); err != nil {
			return err
		}
	}
	return nil
}

// run makes the pass: each worker runs its batches one after the other.
func (c *core) run(examples []*data.Example, batches []microBatch, p *pass) error {
	if err := c.prepare(batches, p.train); err != nil {
		return err
	}
	c.examples, c.current = examples, p
	return c.crew.Do(c.work)
}

// runWorker is one worker's part of a pass.
func (c *core) runWorker(w *engine.Worker) {
	for i, b := range c.batches {
		if b.worker != w.Index {
			continue
		}
		m, err := w.Machine(c.running[i])
		if err != nil {
			panic(err) // prepare bound this machine; the crew makes an error of it
		}
		c.fill(m, b, c.examples, c.current)
		w.Run(m)
		c.collect(m, b, c.examples, c.current)
	}
}

// fill writes a micro-batch into a machine's inputs. Padding of the features is left as it is: nothing reads it.
func (c *core) fill(m *engine.Machine, b microBatch, examples []*data.Example, p *pass) {
	features, lengths := m.Input(model.Features).Data, m.Input(model.Lengths).Ints
	targets, targetLengths := m.Input(model.Targets).Ints, m.Input(model.TargetLengths).Ints
	keys := m.Input(model.Keys).Ints
	row := b.shape.Frames * c.net.NumMels
	for r, i := range b.rows {
		e := examples[i]
		copy(features[r*row:][:row], e.Features)
		lengths[r] = int32(e.Frames)
		t := targets[r*b.shape.Tokens:][:b.shape.Tokens]
		clear(t[copy(t, e.Tokens):])
		targetLengths[r] = int32(len(e.Tokens))
		if keys != nil {
			key := philox.Key(p.seed, uint64(p.update), e.Utt.Key)
			keys[2*r], keys[2*r+1] = int32(uint32(key)), int32(uint32(key>>32))
		}
	}
	if s := m.Input(model.Scale).Data; s != nil {
		s[0] = p.scale
	}
}

// collect reads what came out of a micro-batch into the rows of the pass.
func (c *core) collect(m *engine.Machine, b microBatch, examples []*data.Example, p *pass) {
	ctc, ce, logits := m.Output(outCTC).Data, m.Output(outCE).Data, m.Output(outLogits).Data
	row := b.shape.Encoded(c.net) * c.net.Vocab
	for r, i := range b.rows {
		e := examples[i]
		l := rowLoss{ctc: float64(ctc[r]), infeasible: !frames.Feasible(e.Frames, c.net.Subsampling, e.Tokens)}
		l.total = l.ctc
		if ce != nil {
			l.ce = float64(ce[r])
			l.total = c.net.CTCWeight*l.ctc + (1-c.net.CTCWeight)*l.ce
		}
		p.losses[i] = l
		if p.logits != nil {
			p.logits(i, logits[r*row:][:frames.Subsampled(e.Frames, c.net.Subsampling)*c.net.Vocab])
		}
	}
}
