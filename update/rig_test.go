package update

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
	"konkanitrain/op"
)

// tinyNetwork is a network of which a pass takes a millisecond. Dropout is on.
func tinyNetwork(factor, decoder int) model.Config {
	return model.Config{
		DModel: 16, Heads: 2, EncoderLayers: 2, DecoderLayers: decoder, ConvKernel: 5, Subsampling: factor,
		SubsampleChannels: 4, NumMels: 20, Vocab: 11, Dropout: 0.1, CTCWeight: 0.3, LabelSmoothing: 0.1,
	}
}

// noise is an utterance of random features and the tokens given.
func noise(id, frames, bins int, tokens ...int32) *data.Example {
	return &data.Example{
		Utt:    &data.Utterance{ID: fmt.Sprint("utt", id), Key: uint64(1000 + id), Duration: float64(frames) / 100},
		Frames: frames, Planned: frames, Tokens: tokens, Features: testkit.Normal[float32](uint64(id), frames*bins),
	}
}

// unread is e as it is when its file can't be read.
func unread(e *data.Example) *data.Example {
	gone := *e
	gone.Features, gone.Frames, gone.Err = nil, 0, fmt.Errorf("%s: no such file", e.Utt.ID)
	return &gone
}

// tokensFor is a target of n tokens without neighbors that are equal.
func tokensFor(n int) []int32 {
	tokens := make([]int32, n)
	for i := range tokens {
		tokens[i] = int32(3 + (3*i+i/8)%8)
	}
	return tokens
}

// windowOfFour is four utterances with 3, 10, 37 and 150 tokens, all of different length.
func windowOfFour(net model.Config) []*data.Example {
	var e []*data.Example
	for i, n := range []int{3, 10, 37, 150} {
		e = append(e, noise(i, []int{20, 45, 120, 420}[i], net.NumMels, tokensFor(n)...))
	}
	return e
}

// newCrew is a replica for training on CPUs, with its start values.
func newCrew(t testing.TB, net model.Config, workers int) *engine.Crew[Variant] {
	t.Helper()
	return crewWith(t, net, workers, Tuning{})
}

// crewWith is one that learns as the tuning says.
func crewWith(t testing.TB, net model.Config, workers int, tuning Tuning) *engine.Crew[Variant] {
	t.Helper()
	network, err := NetworkOn(op.CPU, net, tuning)
	if err != nil {
		t.Fatal(err)
	}
	c, err := engine.NewCrew(device.NewHost(), engine.NewLibrary(network), workers, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := c.Initialize(7); err != nil {
		t.Fatal(err)
	}
	return c
}

// rig is a replica that a test looks into, by what it exports.
type rig struct {
	Replica
	t      testing.TB
	net    model.Config
	runner *Runner
}

// newRig starts a replica with drawn weights; those that begin at 0 or 1 are moved, so that each of them matters.
func newRig(t testing.TB, net model.Config, workers int) *rig {
	t.Helper()
	return rigOf(t, net, newCrew(t, net, workers))
}

// rigOf is a rig of a replica that has its start values.
func rigOf(t testing.TB, net model.Config, replica Replica) *rig {
	t.Helper()
	r := &rig{Replica: replica, t: t, net: net}
	r.runner = NewRunner(net, r.Replica, 8)
	for i, p := range model.Parameters(net) {
		r.edit(engine.Weights, p.Name, func(w []float32) {
			for j, v := range testkit.Normal[float32](uint64(i), len(w)) {
				w[j] += 0.05 * v
			}
		})
	}
	return r
}

// read is one parameter's part of a flat buffer.
func (r *rig) read(of engine.Flat, name string) []float32 {
	r.t.Helper()
	var b bytes.Buffer
	if err := r.Export(of, name, &b); err != nil {
		r.t.Fatal(err)
	}
	values := make([]float32, b.Len()/4)
	if err := binary.Read(&b, binary.LittleEndian, values); err != nil {
		r.t.Fatal(err)
	}
	return values
}

// edit changes one parameter's part of a flat buffer.
func (r *rig) edit(of engine.Flat, name string, change func(values []float32)) {
	r.t.Helper()
	values := r.read(of, name)
	change(values)
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
		r.t.Fatal(err)
	}
	if err := r.Import(of, name, &b); err != nil {
		r.t.Fatal(err)
	}
}

// all is a whole flat buffer, parameter by parameter.
func (r *rig) all(of engine.Flat) []float32 {
	r.t.Helper()
	var values []float32
	for _, p := range model.Parameters(r.net) {
		values = append(values, r.read(of, p.Name)...)
	}
	return values
}

// everything is all that an update may change.
func (r *rig) everything(u *Updater) []float32 {
	r.t.Helper()
	return append(slices.Concat(r.all(engine.Weights), r.all(engine.FirstMoments), r.all(engine.SecondMoments)),
		float32(u.LR), float32(u.Updates))
}

// reduced takes the gradient that has been added up out of the replica, parameter by parameter: an update with a
// learning rate of 0 leaves the weights alone, and the first moments are then (1 - Beta1) times the gradient.
func (r *rig) reduced() map[string][]float32 {
	r.t.Helper()
	params := model.Parameters(r.net)
	if _, err := r.Reduce(); err != nil {
		r.t.Fatal(err)
	}
	for _, p := range params {
		r.edit(engine.FirstMoments, p.Name, func(m []float32) { clear(m) })
	}
	if err := r.Update(engine.AdamW{Number: 1, GradScale: 1}); err != nil {
		r.t.Fatal(err)
	}
	grads := map[string][]float32{}
	for _, p := range params {
		g := r.read(engine.FirstMoments, p.Name)
		for i := range g {
			g[i] /= 1 - engine.Beta1
		}
		grads[p.Name] = g
	}
	return grads
}

// gradient makes one pass in the micro-batches given and returns a copy of the losses, and the summed gradient.
func (r *rig) gradient(window []*data.Example, batches []microBatch, scale float64) ([]Loss, []float32) {
	r.t.Helper()
	losses := r.pass(window, batches, Ask{Scale: scale, Seed: 3, Update: 5})
	grads := r.reduced()
	var flat []float32
	for _, p := range model.Parameters(r.net) {
		flat = append(flat, grads[p.Name]...)
	}
	return losses, flat
}

// pass makes one pass in the micro-batches given and returns a copy of the losses.
func (r *rig) pass(window []*data.Example, batches []microBatch, ask Ask) []Loss {
	r.t.Helper()
	r.runner.load(window, ask)
	r.runner.dispatch(batches)
	r.runner.scale = float32(ask.Scale) // as it is, whatever is usable
	if err := r.runner.Replica.Prepare(r.runner.pass.Batches, 0); err != nil {
		r.t.Fatal(err)
	}
	losses, err := r.runner.run()
	if err != nil {
		r.t.Fatal(err)
	}
	return slices.Clone(losses)
}

// dealt is what the dealer makes of a window for so many workers.
func dealt(window []*data.Example, net model.Config, batchSize, workers int) []microBatch {
	d := dealer{net: net, batchSize: batchSize, wishes: engine.Wishes{Workers: workers, Rows: 256}}
	var lengths []data.Length
	for _, e := range window {
		lengths = append(lengths, data.Length{Frames: e.Planned, Tokens: len(e.Tokens)})
	}
	batches, err := d.deal(lengths, Ask{})
	if err != nil {
		panic(err) // without a limit there is no price that could fail
	}
	return batches
}

// chunks makes micro-batches of the sizes given, in the order of the window, dealt to the workers in turn.
func chunks(window []*data.Example, net model.Config, workers int, sizes ...int) []microBatch {
	var batches []microBatch
	at := 0
	for k, n := range sizes {
		b := microBatch{worker: k % workers}
		longest, tokens := 0, 1
		for i := at; i < at+n; i++ {
			b.rows = append(b.rows, i)
			longest, tokens = max(longest, window[i].Planned), max(tokens, len(window[i].Tokens))
		}
		at += n
		b.shape = bucket(n, longest, tokens, net)
		batches = append(batches, b)
	}
	return batches
}

// sameLosses compares each utterance's loss; tol is relative to it, or absolute below 1 nat.
func sameLosses(t testing.TB, what string, got, want []Loss, tol float64) {
	t.Helper()
	for i := range want {
		if d := math.Abs(got[i].Total - want[i].Total); !(d <= tol*max(1, want[i].Total)) || got[i].Infeasible != want[i].Infeasible {
			t.Errorf("%s: loss of utterance %d is %+v, want %+v", what, i, got[i], want[i])
		}
	}
}

// options are those of updates that change much, without clipping.
var options = Options{BatchSize: 4, Seed: 3, Rate: noam(1e-2, 2), WeightDecay: 1e-3, GradClip: math.Inf(1)}

// noam is the schedule of most tests.
func noam(peak float64, warmup int) func(update int) float64 {
	return Schedule{Kind: Noam, Peak: peak, Warmup: warmup}.Rate
}

// mustUpdate makes an update.
func mustUpdate(t testing.TB, u *Updater, window []*data.Example) Outcome {
	t.Helper()
	out, err := u.Update(window)
	if err != nil || out.Skipped != Made {
		t.Fatalf("no update was made: %+v, %v", out, err)
	}
	return out
}

// numbers reads a file of worked examples.
func numbers(t testing.TB, name string, dst any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testkit.Shared(t), "cases", "numbers", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, dst); err != nil {
		t.Fatal(err)
	}
}
