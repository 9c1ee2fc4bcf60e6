package model

import (
	"math"
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// standard is a network with the usual settings and a given size.
func standard(d, encoderLayers, decoderLayers, vocab int) Config {
	return Config{
		DModel: d, Heads: 4, EncoderLayers: encoderLayers, DecoderLayers: decoderLayers, ConvKernel: 31, Subsampling: 4, SubsampleChannels: 64,
		NumMels: 80, Vocab: vocab, Dropout: 0.1, CTCWeight: 0.3, LabelSmoothing: 0.1,
	}
}

// The counts are PyTorch's.
func TestCount(t *testing.T) {
	digits := Config{DModel: 96, Heads: 4, EncoderLayers: 3, ConvKernel: 15, Subsampling: 2, SubsampleChannels: 32, NumMels: 40, Vocab: 18}
	short := standard(64, 2, 1, 30)
	short.Subsampling = 2
	eighth := standard(64, 2, 0, 30)
	for _, c := range []struct {
		c    Config
		want Counts
	}{
		{standard(256, 12, 6, 100), Counts{333376, 19067904, 25700, 6372452, 25799432}},
		{standard(192, 8, 4, 100), Counts{251392, 7174656, 19300, 2412772, 9858120}},
		{standard(128, 6, 3, 100), Counts{169408, 2407680, 12900, 819684, 3409672}},
		{standard(192, 8, 4, 81), Counts{251392, 7174656, 15633, 2405457, 9847138}},
		{standard(192, 8, 4, 200), Counts{251392, 7174656, 38600, 2451272, 9915920}},
		{standard(128, 6, 3, 81), Counts{169408, 2407680, 10449, 814801, 3402338}},
		{eighth, Counts{87424, 204672, 1950, 0, 294046}},
		{short, Counts{164544, 204672, 1950, 70750, 441916}},
	} {
		if got := Count(c.c); got != c.want {
			t.Errorf("%+v: %v, want %v", c.c, got, c.want)
		}
	}
	if n := Count(digits).Total; n != 740690 {
		t.Errorf("the network for digits has %d parameters, PyTorch's 740690", n)
	}
	if s := Count(eighth).String(); s != "294046 parameters: subsampling 87424, encoder 204672, ctc 1950, decoder 0" {
		t.Errorf("the line is %q", s)
	}
}

// Names and shapes are those of the PyTorch model, in both directions.
func TestNamesAndShapes(t *testing.T) {
	for _, name := range goldens {
		g := openGolden(t, name)
		params := Parameters(g.c)
		for _, p := range params {
			info, ok := g.Info("weight." + p.Name)
			if !ok || !slices.Equal(info.Shape, p.Shape) {
				t.Errorf("%s: %s has shape %v, PyTorch's %v", name, p.Name, p.Shape, info.Shape)
			}
		}
		if n := count(g.Tensors, "weight."); n != len(params) {
			t.Errorf("%s has %d parameters, the network %d", name, n, len(params))
		}
	}
}

func TestParametersAreDistinctAndInOrder(t *testing.T) {
	c := standard(64, 3, 2, 40)
	c.Subsampling = 8
	params := Parameters(c)
	seen := map[string]bool{}
	for i, p := range params {
		if seen[p.Name] {
			t.Errorf("two parameters are called %s", p.Name)
		}
		seen[p.Name] = true
		if again := Parameters(c)[i]; again.Name != p.Name {
			t.Errorf("parameter %d is %s now and %s then", i, p.Name, again.Name)
		}
	}
	net, err := Build(c, Shape{1, 40, 2}, Scoring)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range net.Weights {
		if w.Name() != params[i].Name || !slices.Equal(w.Shape(), params[i].Shape) {
			t.Errorf("weight %d of the graph is %s %v, want %s %v", i, w.Name(), w.Shape(), params[i].Name, params[i].Shape)
		}
	}
}

func TestDecay(t *testing.T) {
	decays := map[string]bool{
		"encoder.subsample.conv.0.weight": true, "encoder.subsample.conv.0.bias": false, "encoder.subsample.pointwise.1.weight": true,
		"encoder.subsample.proj.weight": true, "encoder.blocks.0.ffn1.up.weight": true, "encoder.blocks.0.ffn1.up.bias": false,
		"encoder.blocks.0.ffn1.norm.weight": false, "encoder.blocks.0.attn.pos.weight": true, "encoder.blocks.0.attn.bias_u": false,
		"encoder.blocks.0.attn.bias_v": false, "encoder.blocks.0.conv.depthwise.weight": true, "encoder.blocks.0.conv.depthwise.bias": false,
		"encoder.blocks.0.conv.mid_norm.weight": false, "encoder.blocks.0.norm.weight": false, "ctc.weight": true, "ctc.bias": false,
		"decoder.embed.weight": true, "decoder.norm.weight": false, "decoder.blocks.0.cross.key.weight": true, "decoder.out.bias": false,
	}
	for _, p := range Parameters(standard(64, 1, 1, 30)) {
		if want, named := decays[p.Name]; named && p.Decay != want {
			t.Errorf("%s: decay is %v", p.Name, p.Decay)
		}
		delete(decays, p.Name)
		if p.Decay && (len(p.Shape) < 2 || strings.Contains(p.Name, "norm")) {
			t.Errorf("%s %v decays", p.Name, p.Shape)
		}
	}
	if len(decays) > 0 {
		t.Errorf("no parameter is called %v", decays)
	}
}

// TestInit: bounds, mean and deviation of every start value. Bounds follow from the shapes, as PyTorch's do.
func TestInit(t *testing.T) {
	c := standard(192, 2, 1, 100)
	for _, p := range Parameters(c) {
		w := make([]float32, p.Size())
		for i := range w {
			w[i] = 9
		}
		p.Init(w, 1)
		bound, deviation := 0.0, 0.0
		switch name := p.Name; {
		case strings.HasSuffix(name, ".bias"):
		case strings.Contains(name, "norm"):
			for i, v := range w {
				if v != 1 {
					t.Fatalf("%s[%d] starts at %g", name, i, v)
				}
			}
			continue
		case name == "decoder.embed.weight":
			deviation = 1 / math.Sqrt(192)
			bound = 6 * deviation
		case strings.Contains(name, "subsample.conv") || strings.Contains(name, "subsample.depthwise"):
			bound = 1.0 / 3 // 9 inputs
		case strings.HasSuffix(name, "conv.depthwise.weight"):
			bound = 1 / math.Sqrt(31)
		default: // Xavier
			bound = math.Sqrt(6 / float64(p.Shape[0]+p.Shape[1]))
		}
		if deviation == 0 {
			deviation = bound / math.Sqrt(3)
		}
		mean, square, most := 0.0, 0.0, 0.0
		for _, v := range w {
			mean += float64(v) / float64(len(w))
			square += float64(v) * float64(v) / float64(len(w))
			most = max(most, math.Abs(float64(v)))
		}
		n := math.Sqrt(float64(len(w)))
		// Five standard errors: of the mean, and of the mean square (whose own deviation is less than 1.5 of it).
		if !(most <= bound*(1+1e-6) && math.Abs(mean) <= 5*deviation/n && math.Abs(square-deviation*deviation) <= 7.5*deviation*deviation/n) {
			t.Errorf("%s: mean %.3g, deviation %.4g, largest %.4g; want 0, %.4g, at most %.4g", p.Name, mean, math.Sqrt(square), most, deviation, bound)
		}
	}
}

// A start value depends on the seed and the parameter's own name and shape, not on what else there is.
func TestInitDependsOnSeedAndNameAlone(t *testing.T) {
	draw := func(c Config, seed uint64) map[string][]float32 {
		all := map[string][]float32{}
		for _, p := range Parameters(c) {
			all[p.Name] = make([]float32, p.Size())
			p.Init(all[p.Name], seed)
		}
		return all
	}
	small, large, other := draw(standard(32, 1, 0, 30), 1), draw(standard(32, 2, 2, 30), 1), draw(standard(32, 1, 0, 30), 2)
	for name, w := range small {
		if !slices.Equal(w, large[name]) {
			t.Errorf("%s starts in another way in a larger network", name)
		}
		if slices.Equal(w, other[name]) != (slices.Min(w) == slices.Max(w)) {
			t.Errorf("%s: the seed makes no difference, or too much", name)
		}
	}
	if slices.Equal(large["encoder.blocks.0.ffn1.up.weight"], large["encoder.blocks.1.ffn1.up.weight"]) {
		t.Error("two blocks start with the same values")
	}
	a, b := large["encoder.blocks.0.attn.query.weight"], large["encoder.blocks.0.attn.key.weight"]
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	if correlation := sum / testkit.RelErr(a, make([]float32, len(a))) / testkit.RelErr(b, make([]float32, len(b))); !(math.Abs(correlation) <= 0.16) { // 5/sqrt(1024)
		t.Errorf("query and key are correlated by %.3f", correlation)
	}
}
