package train

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/model"
	"konkanitrain/recognize"
	"konkanitrain/update"
)

// values is one parameter's part of a flat buffer of a run.
func values(t testing.TB, r *run, of engine.Flat, name string) []float32 {
	t.Helper()
	var b bytes.Buffer
	if err := r.replica.Export(of, name, &b); err != nil {
		t.Fatal(err)
	}
	v := make([]float32, b.Len()/4)
	if err := binary.Read(&b, binary.LittleEndian, v); err != nil {
		t.Fatal(err)
	}
	return v
}

// edit changes one parameter's weights.
func edit(t testing.TB, r *run, name string, change func(w []float32)) {
	t.Helper()
	w := values(t, r, engine.Weights, name)
	change(w)
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, w); err != nil {
		t.Fatal(err)
	}
	if err := r.replica.Import(engine.Weights, name, &b); err != nil {
		t.Fatal(err)
	}
}

// editAll changes all weights, parameter by parameter.
func editAll(t testing.TB, r *run, change func(w []float32)) {
	t.Helper()
	for _, p := range model.Parameters(r.net) {
		edit(t, r, p.Name, change)
	}
}

// flat is a whole flat buffer of a run.
func flat(t testing.TB, r *run, of engine.Flat) (all []float32) {
	t.Helper()
	for _, p := range model.Parameters(r.net) {
		all = append(all, values(t, r, of, p.Name)...)
	}
	return all
}

// everything is every number that an update may change.
func everything(t testing.TB, r *run) []float32 {
	t.Helper()
	return append(slices.Concat(flat(t, r, engine.Weights), flat(t, r, engine.FirstMoments), flat(t, r, engine.SecondMoments)),
		float32(r.updater.LR), float32(r.updater.Updates))
}

// named is a tensor of a checkpoint in memory.
type named struct {
	name  string
	shape []int
	data  []float32
}

func (n *named) tensor() checkpoint.Tensor {
	return checkpoint.Tensor{
		Name: n.name, Shape: n.shape,
		Save: func(w io.Writer) error { return binary.Write(w, binary.LittleEndian, n.data) },
		Load: func(r io.Reader) error { return binary.Read(r, binary.LittleEndian, n.data) },
	}
}

func tensors(list []*named) (out []checkpoint.Tensor) {
	for _, n := range list {
		out = append(out, n.tensor())
	}
	return out
}

// blank is memory for a network's parameters, each name behind a prefix.
func blank(net model.Config, prefix string) (list []*named) {
	for _, p := range model.Parameters(net) {
		list = append(list, &named{prefix + p.Name, p.Shape, make([]float32, p.Shape.TotalSize())})
	}
	return list
}

// weightsOf reads the weights of a checkpoint, or of a model's file.
func weightsOf(t testing.TB, path string) (all []float32) {
	t.Helper()
	for _, n := range parametersOf(t, path) {
		all = append(all, n.data...)
	}
	return all
}

// parametersOf is the same by name.
func parametersOf(t testing.TB, path string) []*named {
	t.Helper()
	d, err := recognize.Describe(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := checkpoint.OpenModel(path)
	if err != nil {
		t.Fatal(err)
	}
	list := blank(d.Network, "")
	if err := m.LoadWeights(tensors(list)); err != nil {
		t.Fatal(err)
	}
	return list
}

// contents is what a checkpoint holds.
type contents struct {
	state            state
	model, optimizer []*named
	description      map[string]string
}

// rewrite loads the newest checkpoint of a folder, changes it and saves it again.
func rewrite(t testing.TB, dir string, change func(c *contents)) {
	t.Helper()
	from, _, err := checkpoint.Latest(dir)
	if err != nil {
		t.Fatal(err)
	}
	d, err := recognize.Describe(from.Path)
	if err != nil {
		t.Fatal(err)
	}
	description, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	c := &contents{
		model: blank(d.Network, ""), optimizer: append(blank(d.Network, "m."), blank(d.Network, "v.")...), description: description,
	}
	if d.EMADecay > 0 {
		c.optimizer = append(c.optimizer, blank(d.Network, rawPrefix)...)
	}
	if err := errors.Join(from.State(&c.state), from.LoadModel(tensors(c.model)), from.LoadOptimizer(tensors(c.optimizer))); err != nil {
		t.Fatal(err)
	}
	change(c)
	_, err = checkpoint.Save(dir, from.Step, checkpoint.Content{
		Model: tensors(c.model), Description: c.description, Optimizer: tensors(c.optimizer), State: &c.state,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// damage changes a byte of a checkpoint's file, whose size stays. Twice is not at all.
func damage(t testing.TB, dir string, step int, file string) {
	t.Helper()
	path := filepath.Join(dir, checkpoint.Name(step), file)
	b := []byte(readFile(t, path))
	b[len(b)-1] ^= 1
	write(t, path, string(b))
}

// frail is a replica whose methods can be made to fail: those with an error here.
type frail struct {
	update.Replica
	run, prepare, reduce, update, finite, initialize, export, load, mean, exchange error

	overflow bool // the gradient is infinite
	spared   int  // calls of Export before the first that fails
}

// intercept puts a frail replica between a run and its own one.
func intercept(r *run) *frail {
	f := &frail{Replica: r.replica}
	r.replica, r.updater.Runner.Replica, r.ledger.memory.replica = f, f, f
	r.judge = recognize.New(r.net, f, r.cfg.Optimizer.BatchSize, r.ledger.state.Vocabulary, r.cfg.Policy())
	return f
}

func (f *frail) Prepare(batches []engine.Batch[update.Variant], bytes int64) error {
	if f.prepare != nil {
		return f.prepare
	}
	return f.Replica.Prepare(batches, bytes)
}

func (f *frail) Run(p *engine.Pass[update.Variant]) error {
	if f.run != nil {
		return f.run
	}
	return f.Replica.Run(p)
}

func (f *frail) Reduce() (float64, error) {
	if f.reduce != nil {
		return 0, f.reduce
	}
	squares, err := f.Replica.Reduce()
	if f.overflow {
		squares = math.Inf(1)
	}
	return squares, err
}

func (f *frail) Update(s engine.AdamW) error {
	if f.update != nil {
		return f.update
	}
	return f.Replica.Update(s)
}

func (f *frail) Finite() (*engine.NotFinite, error) {
	if f.finite != nil {
		return nil, f.finite
	}
	return f.Replica.Finite()
}

func (f *frail) Initialize(seed uint64) error {
	if f.initialize != nil {
		return f.initialize
	}
	return f.Replica.Initialize(seed)
}

func (f *frail) Export(of engine.Flat, name string, w io.Writer) error {
	if f.export != nil && f.spared == 0 {
		return f.export
	}
	f.spared = max(f.spared-1, 0)
	return f.Replica.Export(of, name, w)
}

func (f *frail) Import(of engine.Flat, name string, r io.Reader) error {
	if f.load != nil {
		return f.load
	}
	return f.Replica.Import(of, name, r)
}

func (f *frail) ExchangeAverages() error {
	if f.exchange != nil {
		return f.exchange
	}
	return f.Replica.ExchangeAverages()
}

func (f *frail) Mean(n int, load func(i int) error) ([]int, error) {
	if f.mean != nil {
		return nil, f.mean
	}
	return f.Replica.Mean(n, load)
}

// limited is the host's memory, as if there were only so much of it.
type limited struct {
	*device.Host
	bytes int64
}

// Alloc refuses what is above the limit.
func (l *limited) Alloc(size int64, what string) (device.Buffer, error) {
	if held := l.Usage().Allocated; held+size > l.bytes {
		return nil, &device.OutOfMemory{What: what, Size: size, Allocated: held, Limit: l.bytes}
	}
	return l.Host.Alloc(size, what)
}

// nan is no number.
var nan = float32(math.NaN())

// allNaN is an example whose loss is no number.
func allNaN(e *data.Example) *data.Example {
	bad := *e
	bad.Features = slices.Clone(e.Features)
	bad.Features[5] = nan
	return &bad
}
