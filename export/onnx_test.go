//go:build onnx

package export

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/data"
	"konkanitrain/data/feature"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/onnx"
	"konkanitrain/internal/testkit/onnxrun"
	"konkanitrain/model"
	"konkanitrain/op"
	"konkanitrain/recognize"
	"konkanitrain/update"
)

// heard is an utterance: sound, what an Extractor makes of it, and what the network of a model makes of that.
type heard struct {
	path             string // of its file; "" for sound that is made up
	wave             []float32
	logmel, features []float32 // [T, bins]: not normalized, and as the network hears them
	frames           int
	logits           []float32 // [S, V], by the engine
}

// listen fills in what becomes of the sound of utterances.
func listen(t *testing.T, m *recognize.Stored, all []heard) {
	t.Helper()
	d := m.Description
	raw := d.Features
	raw.Normalize, raw.Stats = feature.None, nil
	extract := func(o feature.Options, wave []float32) ([]float32, int) {
		x, err := feature.New(o)
		if err != nil {
			t.Fatal(err)
		}
		f, n, err := x.Extract(nil, wave, o.SampleRate, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		return f, n
	}
	var window []*data.Example
	for i := range all {
		u := &all[i]
		u.logmel, _ = extract(raw, u.wave)
		u.features, u.frames = extract(d.Features, u.wave)
		window = append(window, &data.Example{Features: u.features, Frames: u.frames, Planned: u.frames})
	}
	network, err := update.NetworkOn(op.CPU, d.Network, update.Tuning{})
	if err != nil {
		t.Fatal(err)
	}
	replica, err := engine.NewCrew(device.NewHost(), engine.NewLibrary(network), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	defer replica.Close()
	var tensors []checkpoint.Tensor
	for _, p := range model.Parameters(d.Network) {
		tensors = append(tensors, checkpoint.Tensor{Name: p.Name, Shape: p.Shape, Load: func(r io.Reader) error {
			return replica.Import(engine.Weights, p.Name, r)
		}})
	}
	if err := m.Read(tensors); err != nil {
		t.Fatal(err)
	}
	ask := update.Ask{Purpose: model.Transcribing, Logits: func(_, row int, logits []float32) { all[row].logits = slices.Clone(logits) }}
	if _, err := update.NewRunner(d.Network, replica, 16).Run(window, ask); err != nil {
		t.Fatal(err)
	}
}

// batch is the input of a graph for some utterances, padded by so much with what would spoil everything if it were
// heard.
func batch(d *recognize.Description, place Place, all []heard, padding int) map[string]onnxrun.Array {
	size := func(u heard) (n, width int) {
		if place == In {
			return len(u.wave), 1
		}
		return u.frames, d.Network.NumMels
	}
	longest, width := 0, 0
	for _, u := range all {
		n, w := size(u)
		longest, width = max(longest, n+padding), w
	}
	var values []float32
	var lengths []int64
	for _, u := range all {
		own := u.logmel
		if place == In {
			own = u.wave
		}
		values = append(values, own...)
		values = append(values, slices.Repeat([]float32{float32(math.NaN())}, longest*width-len(own))...)
		n, _ := size(u)
		lengths = append(lengths, int64(n))
	}
	inputs := map[string]onnxrun.Array{Lengths: onnxrun.Ints([]int{len(all)}, lengths...)}
	if place == In {
		inputs[Samples] = onnxrun.Floats([]int{len(all), longest}, values)
	} else {
		inputs[LogMel] = onnxrun.Floats([]int{len(all), longest, width}, values)
	}
	return inputs
}

// compared is how far a graph's results are from the engine's.
type compared struct {
	logits, logProbs float64 // the largest differences
	texts            int     // utterances of which the best path is another one
}

func (c compared) String() string {
	return fmt.Sprintf("logits differ by %.2g at most, log probabilities by %.2g, %d texts are others", c.logits, c.logProbs, c.texts)
}

// run gives utterances to a graph one by one and in padded batches of seven, and compares.
func run(t *testing.T, d *recognize.Description, o Options, graph []byte, all []heard) (c compared) {
	t.Helper()
	job := onnxrun.Job{Name: fmt.Sprint(o.Features, o.Weights), Model: graph, Inside: []string{Logits}}
	var groups [][]heard
	for i := range all {
		groups = append(groups, all[i:i+1])
	}
	groups = append(groups, slices.Collect(slices.Chunk(all, 7))...)
	for i, g := range groups {
		job.Runs = append(job.Runs, batch(d, o.Features, g, (i%3)*len(g[0].logmel)/d.Network.NumMels/2))
	}
	result := onnxrun.Run(t, []onnxrun.Job{job})[0]
	if result.Error != "" {
		t.Fatal(result.Error)
	}
	if want := fmt.Sprintf("map[%s:[B S %d] %s:[B]]", LogProbs, d.Network.Vocab, Encoded); fmt.Sprint(result.Shapes) != want {
		t.Errorf("shapes are %v, want %s", result.Shapes, want)
	}
	for i, g := range groups {
		out := result.Runs[i]
		s := out[Logits].Shape[1]
		logits, logProbs, lengths := out[Logits].Float32s(), out[LogProbs].Float32s(), out[Encoded].Int64s()
		for b, u := range g {
			n := len(u.logits)
			if int(lengths[b])*d.Network.Vocab != n {
				t.Fatalf("%d frames, want %d", lengths[b], n/d.Network.Vocab)
			}
			at := b * s * d.Network.Vocab
			c.logits = max(c.logits, farthest(logits[at:][:n], u.logits))
			c.logProbs = max(c.logProbs, farthest(logProbs[at:][:n], logSoftmax(u.logits, d.Network.Vocab)))
			if best(d, logits[at:][:n]) != best(d, u.logits) {
				c.texts++
			}
		}
	}
	return c
}

func farthest(a, b []float32) (d float64) {
	for i := range a {
		if x := math.Abs(float64(a[i]) - float64(b[i])); !(x <= d) { // also NaN
			d = x
		}
	}
	return d
}

func logSoftmax(x []float32, v int) (y []float32) {
	for row := range slices.Chunk(x, v) {
		sum := 0.0
		for _, l := range row {
			sum += math.Exp(float64(l))
		}
		for _, l := range row {
			y = append(y, float32(float64(l)-math.Log(sum)))
		}
	}
	return y
}

// noises are made-up sounds of these lengths, in samples.
func noises(lengths ...int) (all []heard) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, n := range lengths {
		w := make([]float32, n)
		for i := range w {
			w[i] = float32(0.1*r.NormFloat64() + 0.3*math.Sin(float64(i)*0.05) + 0.02)
		}
		all = append(all, heard{wave: w})
	}
	return all
}

// Networks of every subsampling, features of every kind, sounds down to one frame: onnxruntime computes what the engine
// does. 1e-4 is what is promised; float32's roundings of two orders of sums come to a tenth of it.
func TestRandomNetworksInONNX(t *testing.T) {
	for _, c := range []struct {
		subsampling int
		change      func(*recognize.Description)
	}{
		{2, func(*recognize.Description) {}},
		{4, func(d *recognize.Description) {
			d.Features.SampleRate, d.Features.HighHz, d.Features.SampleScale = 8000, -400, 1
		}},
		{8, func(d *recognize.Description) { d.Features.Normalize, d.Features.SampleRate = feature.None, 22050 }},
		{4, func(d *recognize.Description) {
			d.Features.Normalize, d.Features.Stats = feature.Global, &feature.Stats{Frames: 10}
			for i := range d.Network.NumMels {
				d.Features.Stats.Mean = append(d.Features.Stats.Mean, 5+float64(i)/7)
				d.Features.Stats.Deviation = append(d.Features.Stats.Deviation, 2+float64(i)/9)
			}
		}},
	} {
		d := described(t, c.subsampling)
		c.change(d)
		m := stored(t, d)
		rate := d.Features.SampleRate
		all := noises(rate/200, rate/100, rate/40, rate/10+1, rate/3, rate/2+7, rate, 20*rate+13)
		listen(t, m, all)
		for _, place := range []Place{Out, In} {
			o := graphs
			o.Features = place
			dir, _ := mustWrite(t, m, o)
			got := run(t, d, o, mustRead(t, dir, "model.onnx"), all)
			t.Logf("subsampling %d, normalize %s, features %s: %v", c.subsampling, d.Features.Normalize, place, got)
			if !(got.logits <= 1e-4 && got.logProbs <= 1e-4) {
				t.Error("that is more than 1e-4")
			}
		}
	}
}

// The graph doesn't depend on what the weights are stored as but for their types.
func TestFormsInONNX(t *testing.T) {
	m := stored(t, described(t, 4))
	all := noises(4000, 9000)
	listen(t, m, all)
	for form, most := range map[Form]float64{onnx.Float32: 1e-4, onnx.Float16: 0.02, onnx.Int8Weights: 0.3} {
		o := graphs
		o.Weights = form
		dir, _ := mustWrite(t, m, o)
		if got := run(t, m.Description, o, mustRead(t, dir, "model.onnx"), all); !(got.logits <= most) || form != onnx.Float32 && got.logits < 1e-5 {
			t.Errorf("%s: %v", form, got)
		}
	}
}

// Sound of less than a frame or of no sample at all, alone or in a batch, has no frames, and spoils nothing.
func TestNoFramesInONNX(t *testing.T) {
	d := described(t, 4)
	m := stored(t, d)
	all := noises(79, 1, 4000)
	o := graphs
	o.Features = In
	dir, _ := mustWrite(t, m, o)
	job := onnxrun.Job{Name: "no frames", Model: mustRead(t, dir, "model.onnx"), Inside: []string{Logits}}
	for _, g := range [][]heard{all[:1], all[1:2], all[2:], all} {
		job.Runs = append(job.Runs, batch(d, In, g, 0))
	}
	job.Runs = append(job.Runs, map[string]onnxrun.Array{Samples: onnxrun.Floats([]int{2, 0}, nil), Lengths: onnxrun.Ints([]int{2}, 0, 0)})
	o.Features = Out
	dir, _ = mustWrite(t, m, o)
	bare := onnxrun.Job{Name: "no frames", Model: mustRead(t, dir, "model.onnx"), Runs: []map[string]onnxrun.Array{
		{LogMel: onnxrun.Floats([]int{2, 0, d.Network.NumMels}, nil), Lengths: onnxrun.Ints([]int{2}, 0, 0)},
	}}
	results := onnxrun.Run(t, []onnxrun.Job{job, bare})
	for _, r := range results {
		if r.Error != "" {
			t.Fatal(r.Error)
		}
	}
	if got := results[1].Runs[0][Encoded].Int64s(); !slices.Equal(got, []int64{0, 0}) {
		t.Errorf("without any features %v frames", got)
	}
	result := results[0]
	for i, want := range [][]int64{{0}, {0}, {7}, {0, 0, 7}, {0, 0}} {
		if got := result.Runs[i][Encoded].Int64s(); !slices.Equal(got, want) {
			t.Errorf("%v frames, want %v", got, want)
		}
	}
	alone, together := result.Runs[2][Logits].Float32s(), result.Runs[3][Logits].Float32s()
	if d := farthest(together[2*len(alone):], alone); !(d <= 1e-5) {
		t.Errorf("beside them the third differs by %g", d)
	}
}
