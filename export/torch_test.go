//go:build torch

package export

import (
	_ "embed"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/data/feature"
	"konkanitrain/internal/optest"
	"konkanitrain/internal/testkit/onnxrun"
	"konkanitrain/model"
	"konkanitrain/op"
	"konkanitrain/recognize"
)

//go:embed testdata/torch.py
var torchScript []byte

// The Python file of an export loads it in PyTorch, which computes features, the CTC head and the decoder as they are
// specified here. It computes as float32: 1e-4 of the largest value is some ten times what its roundings come to.
func TestLoadsInPyTorch(t *testing.T) {
	for _, c := range []struct {
		subsampling int
		change      func(*recognize.Description)
	}{
		{2, func(d *recognize.Description) { d.Network.DecoderLayers = 0 }},
		{4, func(d *recognize.Description) {
			d.Features.SampleRate, d.Features.HighHz, d.Features.SampleScale = 8000, -400, 1
		}},
		{8, func(d *recognize.Description) { d.Features.Normalize = feature.None }},
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
		dir, _ := mustWrite(t, stored(t, d), Options{Format: Safetensors})
		checkTorch(t, dir, d)
	}
}

func checkTorch(t *testing.T, dir string, d *recognize.Description) {
	t.Helper()
	const batch, longest, tokens = 3, 61, 4
	own := []int32{61, 22, 1}
	r := rand.New(rand.NewPCG(9, 9))
	mels := d.Network.NumMels
	features := make([]float32, batch*longest*mels)
	for i := range features {
		if b, frame := i/(longest*mels), i/mels%longest; frame < int(own[b]) {
			features[i] = float32(r.NormFloat64())
		} else {
			features[i] = float32(math.NaN())
		}
	}
	targets := []int32{3, 4, 4, 5, 6, 3, 3, 4, 5, 5, 7, 8}
	rate := d.Features.SampleRate
	question := map[string]any{
		"folder": dir, "features": onnxrun.Floats([]int{batch, longest, mels}, features), "lengths": onnxrun.Ints([]int{batch}, widened(own)...),
		"targets": onnxrun.Ints([]int{batch, tokens}, widened(targets)...),
	}
	var waves []onnxrun.Array
	var extracted [][]float32
	for _, n := range []int{1, rate / 200, rate / 40, rate/3 + 1, rate} {
		w := make([]float32, n)
		for i := range w {
			w[i] = float32(0.1*r.NormFloat64() + 0.05)
		}
		x, err := feature.New(d.Features)
		if err != nil {
			t.Fatal(err)
		}
		f, _, err := x.Extract(nil, w, rate, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		waves, extracted = append(waves, onnxrun.Floats([]int{n}, w)), append(extracted, f)
	}
	question["waves"] = waves
	var answer struct {
		Logits, Frames, Decoder onnxrun.Array
		Extracted               []onnxrun.Array
		Texts                   []string
	}
	onnxrun.Python(t, "KONKANITRAIN_TORCH", torchScript, question, &answer)

	logits, decoder := specified(t, d, features, own, targets, batch, longest, tokens)
	v := d.Network.Vocab
	s := answer.Logits.Shape[1]
	for b, n := range answer.Frames.Int64s() {
		got := answer.Logits.Float32s()[b*s*v:][:int(n)*v]
		within(t, "logits", got, logits[b*s*v:][:len(got)])
		if text := best(d, got); text != answer.Texts[b] {
			t.Errorf("the text is %q, here it is %q", answer.Texts[b], text)
		}
	}
	if d.Network.DecoderLayers > 0 {
		within(t, "decoder", answer.Decoder.Float32s(), decoder)
	}
	for i, f := range answer.Extracted {
		got := f.Float32s()
		if len(got) != len(extracted[i]) {
			t.Fatalf("wave %d: %d features, want %d", i, len(got), len(extracted[i]))
		}
		for k := range got {
			if !(math.Abs(float64(got[k]-extracted[i][k])) <= 1e-5*max(1, math.Abs(float64(got[k])))) {
				t.Errorf("wave %d: feature %d is %g, want %g", i, k, got[k], extracted[i][k])
				break
			}
		}
	}
}

func widened(list []int32) (wide []int64) {
	for _, v := range list {
		wide = append(wide, int64(v))
	}
	return wide
}

// within compares with 1e-4 of the largest value.
func within(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	largest, worst := 1.0, 0.0
	for i, w := range want {
		largest = max(largest, math.Abs(w))
		if d := math.Abs(float64(got[i]) - w); !(d <= worst) {
			worst = d
		}
	}
	t.Logf("%s: %.2g of %.2g", what, worst, largest)
	if len(got) != len(want) || !(worst <= 1e-4*largest) {
		t.Errorf("%s: %d values, want %d; they differ by %g, where the largest is %g", what, len(got), len(want), worst, largest)
	}
}

// specified is the logits of the CTC head and of the decoder by the ops' specifications.
func specified(t *testing.T, d *recognize.Description, features []float32, lengths, targets []int32, batch, longest, tokens int) (logits, decoder []float64) {
	t.Helper()
	shape := model.Shape{Batch: batch, Frames: longest, Tokens: tokens}
	net, err := model.Build(d.Network, shape, model.Scoring)
	if err != nil {
		t.Fatal(err)
	}
	_, byName := values(d)
	tables := model.NewTables(d.Network.DModel)
	feeds := map[*G.Node]op.Array{}
	for _, n := range net.Graph.Inputs() {
		a := op.Array{Shape: n.Shape()}
		w := byName[n.Name()]
		switch n.Name() {
		case model.Features:
			w = slices.Clone(features)
			for i, x := range w {
				if x != x { // the specifications read padding
					w[i] = 0
				}
			}
		case model.Lengths:
			a.Ints = lengths
		case model.Targets:
			a.Ints = targets
		case model.TargetLengths:
			a.Ints = slices.Repeat([]int32{int32(tokens)}, batch)
		case model.Scale:
			w = []float32{1}
		case model.Positions, model.DecoderPositions:
			w = tables.Shared(n.Name(), n.Shape())
		}
		for _, x := range w {
			a.Data = append(a.Data, float64(x))
		}
		feeds[n] = a
	}
	want := []*G.Node{net.Logits}
	if d.Network.DecoderLayers > 0 {
		want = append(want, net.Taps["decoder.logits"])
	}
	out, err := optest.Reference(feeds, want...)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) > 1 {
		decoder = out[1].Data
	}
	return out[0].Data, decoder
}
