package model

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

// regularized is c with everything that is for training on little data.
func regularized(c Config) Config {
	c.CTCSmoothing, c.InterCTCWeight, c.StochasticDepth = 0.1, 0.4, 0.3
	c.DropoutOf = []string{"encoder.subsample=0", "encoder.blocks.*.attn=0.3"}
	return c
}

// What is for training on little data is of training alone: for scoring and transcribing the network is, op by op, the
// one without it. In training it is another one, with the same parameters.
func TestTrainingAlone(t *testing.T) {
	for _, decoder := range []int{0, 2} {
		plain := standard(16, 3, decoder, 9)
		for purpose, same := range map[Purpose]bool{Training: false, Scoring: true, Transcribing: true} {
			got, want := mustBuild(t, regularized(plain), Shape{2, 40, 3}, purpose), mustBuild(t, plain, Shape{2, 40, 3}, purpose)
			if slices.Equal(written(got), written(want)) != same {
				t.Errorf("%d decoder layers, purpose %d: the network is the same as without: %v, want %v", decoder, purpose, !same, same)
			}
		}
		if got, want := fmt.Sprint(Parameters(regularized(plain))), fmt.Sprint(Parameters(plain)); got != want {
			t.Errorf("parameters are %s, want %s", got, want)
		}
	}
}

// written is a network op by op.
func written(net *Network) (ops []string) {
	for _, n := range net.Graph.AllNodes() {
		if o, ok := n.Op().(*op.Op); ok {
			ops = append(ops, o.Place+": "+o.String())
		}
	}
	return ops
}

// The loss behind the middle block is that of the CTC head, with its very weights, on what the block gives; the total
// has each loss with its share.
func TestIntermediateCTC(t *testing.T) {
	shape := Shape{Batch: 2, Frames: 30, Tokens: 3}
	for layers, middle := range map[int]int{2: 0, 3: 0, 4: 1, 5: 1} {
		for _, decoder := range []int{0, 1} {
			c := Config{
				DModel: 6, Heads: 2, EncoderLayers: layers, DecoderLayers: decoder, ConvKernel: 3, Subsampling: 2, SubsampleChannels: 3,
				NumMels: 5, Vocab: 7, CTCWeight: 0.3, CTCSmoothing: 0.2, InterCTCWeight: 0.4,
			}
			net, feeds := randomNetwork(t, c, shape)
			b := net.Taps[fmt.Sprintf("encoder.blocks.%d.out", middle)]
			weights := map[string]*G.Node{}
			for _, w := range net.Weights {
				weights[w.Name()] = w
			}
			lengths, targets, targetLengths := input(t, net, Lengths), input(t, net, Targets), input(t, net, TargetLengths)
			want := net.Graph.CTC(net.Graph.Linear(b, weights["ctc.weight"], weights["ctc.bias"]), lengths, targets, targetLengths, c.Subsampling, c.CTCSmoothing)
			asked := []*G.Node{net.Loss, net.CTC, net.Inter, want}
			if decoder > 0 {
				asked = append(asked, net.CE)
			}
			got, err := optest.Reference(feeds, asked...)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got[2].Data, got[3].Data) {
				t.Errorf("%d blocks: the loss behind block %d is %v, want %v", layers, middle, got[2].Data, got[3].Data)
			}
			total := 0.0
			for i := range shape.Batch {
				ctc := 0.6*got[1].Data[i] + 0.4*got[2].Data[i]
				if decoder > 0 {
					ctc = 0.3*ctc + 0.7*got[4].Data[i]
				}
				total += 0.5 * ctc // the scale
			}
			if d := math.Abs(got[0].Data[0] - total); !(d <= 1e-12*total) {
				t.Errorf("%d blocks, %d decoder layers: the total is %.15g, want %.15g", layers, decoder, got[0].Data[0], total)
			}
		}
	}
}

func input(t *testing.T, net *Network, name string) *G.Node {
	t.Helper()
	for _, n := range net.Graph.Inputs() {
		if n.Name() == name {
			return n
		}
	}
	t.Fatalf("the network has no input %s", name)
	return nil
}

// The shares are those of the purpose, and sum to 1.
func TestShares(t *testing.T) {
	for _, x := range []struct {
		decoder int
		purpose Purpose
		want    [3]float64
	}{
		{0, Training, [3]float64{0.75, 0.25, 0}}, {0, Scoring, [3]float64{1, 0, 0}},
		{2, Training, [3]float64{0.375, 0.125, 0.5}}, {2, Scoring, [3]float64{0.5, 0, 0.5}},
	} {
		ctc, inter, ce := Config{DecoderLayers: x.decoder, CTCWeight: 0.5, InterCTCWeight: 0.25}.Shares(x.purpose)
		if got := [3]float64{ctc, inter, ce}; got != x.want {
			t.Errorf("%d decoder layers, purpose %d: the shares are %v, want %v", x.decoder, x.purpose, got, x.want)
		}
	}
}

// The branches of a block are dropped with a probability that rises with its number up to that of the last: encoder and
// decoder alike, also without dropout of elements, and none outside of blocks.
func TestStochasticDepth(t *testing.T) {
	for _, dropout := range []float64{0, 0.1} {
		c := standard(16, 4, 2, 9)
		c.Dropout, c.StochasticDepth = dropout, 0.5
		got := map[string]int{}
		net := mustBuild(t, c, Shape{2, 40, 3}, Training)
		for _, n := range net.Graph.AllNodes() {
			o, ok := n.Op().(*op.Op)
			if !ok {
				continue
			}
			_, branch, ok := strings.Cut(o.Params, " branch=")
			if ok != (o.Name == "residual") {
				t.Errorf("%v has a branch: %v", o, ok)
			}
			if ok {
				got[o.Block+" "+branch]++
			}
		}
		want := map[string]int{"decoder.blocks.0 16384": 3, "decoder.blocks.1 32768": 3}
		for n := range 4 {
			want[fmt.Sprintf("encoder.blocks.%d %d", n, 8192*(n+1))] = 4
		}
		if !maps.Equal(got, want) {
			t.Errorf("branches are dropped as %v, want %v", got, want)
		}
	}
}

func TestValidateTraining(t *testing.T) {
	for says, change := range map[string]func(*Config){
		"branch_shrink is 1.5, want 0 (off) to 1":                        func(c *Config) { c.BranchShrink = 1.5 },
		"inter_ctc_weight is 1, want 0 (off) or more and below 1":        func(c *Config) { c.InterCTCWeight = 1 },
		"blank_bias is -101, want -100 to 100":                           func(c *Config) { c.BlankBias = -101 },
		"ctc_smoothing is 1, want 0 (off) or more and below 1":           func(c *Config) { c.CTCSmoothing = 1 },
		`dropout_of "encoder=0.999": the share is 0.999, want 0 to 0.99`: func(c *Config) { c.DropoutOf = []string{"encoder=0.999"} },
		`dropout_of "encoder": write PATTERN=SHARE`:                      func(c *Config) { c.DropoutOf = []string{"encoder"} },
		"blank_bias is NaN": func(c *Config) { c.BlankBias = math.NaN() },
		"stochastic_depth is 0.999, want 0 (off) to 0.99":                               func(c *Config) { c.StochasticDepth = 0.999 },
		"inter_ctc_weight is NaN":                                                       func(c *Config) { c.InterCTCWeight = math.NaN() },
		"inter_ctc_weight is 0.5, and encoder_layers 1: there is no block in the middl": func(c *Config) { c.InterCTCWeight, c.EncoderLayers = 0.5, 1 },
	} {
		c := standard(16, 2, 1, 9)
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error is %v, want %q", err, says)
		}
	}
}

// What passes as a share of what is dropped can be built.
func TestMostDropout(t *testing.T) {
	c := standard(16, 2, 1, 9)
	c.Dropout, c.StochasticDepth, c.DropoutOf = mostDropout, mostDropout, []string{"encoder.subsample=0.99"}
	if _, err := Build(c, Shape{2, 30, 3}, Training); err != nil {
		t.Error(err)
	}
}

// The blank's bias in the CTC head starts where it is told to, and all else as without.
func TestBlankBias(t *testing.T) {
	plain, biased := standard(16, 2, 1, 9), standard(16, 2, 1, 9)
	biased.BlankBias = -2.5
	parameters := Parameters(biased)
	for i, p := range Parameters(plain) {
		want, got := make([]float32, p.Size()), make([]float32, p.Size())
		p.Init(want, 5)
		parameters[i].Init(got, 5)
		if p.Name == "ctc.bias" {
			want[0] = -2.5
		}
		if parameters[i].Name != p.Name || !slices.Equal(got, want) {
			t.Errorf("%s starts as %v, want %v", p.Name, got[:min(len(got), 9)], want[:min(len(got), 9)])
		}
	}
}

// The last weights of each residual branch start smaller by the share, and all else as without. At 1 a block is its
// norm: the branches add nothing.
func TestBranchShrink(t *testing.T) {
	plain, shrunk := standard(16, 2, 1, 9), standard(16, 2, 1, 9)
	shrunk.BranchShrink = 0.75
	parameters, branches := Parameters(shrunk), 0
	for i, p := range Parameters(plain) {
		want, got := make([]float32, p.Size()), make([]float32, p.Size())
		p.Init(want, 5)
		parameters[i].Init(got, 5)
		if regexp.MustCompile(`\.blocks\.\d+\.(ffn\d?\.down|conv\.down|(attn|self|cross)\.out)\.weight$`).MatchString(p.Name) {
			branches++
			for k := range want {
				want[k] /= 4 // 0.25 is exact, up to the rounding of the product that is drawn
			}
			for k := range got {
				if math.Abs(float64(got[k]-want[k])) > 1e-7*math.Abs(float64(want[k])) {
					t.Fatalf("%s[%d] starts as %v, want %v", p.Name, k, got[k], want[k])
				}
			}
		} else if parameters[i].Name != p.Name || !slices.Equal(got, want) {
			t.Errorf("%s starts as %v, want %v", p.Name, got[:min(len(got), 9)], want[:min(len(got), 9)])
		}
	}
	if want := 2*4 + 3; branches != want { // of two encoder blocks and a decoder block
		t.Errorf("%d branches are shrunk, want %d", branches, want)
	}
	shrunk.BranchShrink = 1
	for _, p := range Parameters(shrunk) {
		w := make([]float32, p.Size())
		p.Init(w, 5)
		if strings.HasSuffix(p.Name, "ffn1.down.weight") && slices.ContainsFunc(w, func(v float32) bool { return v != 0 }) {
			t.Errorf("%s starts with something: %v", p.Name, w[:4])
		}
	}
}

// Every place with dropout has a name of the parameters in front of it, or of an attention's weights, a number, which
// is that of its draws, and the share that the rules give to its name.
func TestDropoutOfParts(t *testing.T) {
	c := standard(16, 3, 1, 9)
	c.DropoutOf = []string{"encoder.subsample=0", "encoder.blocks.*.attn=0.25", "encoder.blocks.1=0.5", "*.*.*.*.weights=0.75", "decoder=0"}
	net := mustBuild(t, c, Shape{2, 40, 3}, Training)
	want := map[string]float64{"encoder.subsample.proj": 0, "decoder.embed": 0}
	for n := range 3 {
		block := fmt.Sprintf("encoder.blocks.%d.", n)
		for _, part := range []string{"ffn1.up", "ffn1.down", "attn.weights", "attn.out", "conv.down", "ffn2.up", "ffn2.down"} {
			want[block+part] = 0.1
			if n == 1 {
				want[block+part] = 0.5
			}
		}
		want[block+"attn.out"], want[block+"attn.weights"] = 0.25, 0.75
	}
	for _, part := range []string{"self.weights", "self.out", "cross.weights", "cross.out", "ffn.up", "ffn.down"} {
		want["decoder.blocks.0."+part] = 0
		if strings.HasSuffix(part, "weights") {
			want["decoder.blocks.0."+part] = 0.75
		}
	}
	got, thresholds := map[string]float64{}, map[string]string{}
	for i, s := range net.Sites {
		got[s.Name] = s.P
		thresholds[fmt.Sprintf("site=%d ", i+1)] = fmt.Sprintf("threshold=%.0f", s.P*65536)
		parameters := strings.TrimSuffix(s.Name, ".weights")
		if !slices.ContainsFunc(Parameters(c), func(p Parameter) bool { return strings.HasPrefix(p.Name, parameters+".") }) {
			t.Errorf("%s is called like no parameter", s.Name)
		}
	}
	if !maps.Equal(got, want) || len(net.Sites) != len(want) {
		t.Errorf("shares are %v, want %v", got, want)
	}
	sites, err := DropoutSites(c)
	if err != nil || !slices.Equal(sites, net.Sites) {
		t.Errorf("the places are said to be %v, %v, want %v", sites, err, net.Sites)
	}
	seen := 0
	for _, n := range net.Graph.AllNodes() {
		o, ok := n.Op().(*op.Op)
		if !ok {
			continue
		}
		for site, threshold := range thresholds {
			if strings.Contains(o.Params, site) {
				seen++
				if !strings.Contains(o.Params, threshold) {
					t.Errorf("%v at %s: want %s", o, o.Place, threshold)
				}
			}
		}
	}
	if most := len(slices.DeleteFunc(slices.Clone(net.Sites), func(s Site) bool { return s.P == 0 })); seen != most {
		t.Errorf("%d ops drop something, want %d", seen, most)
	}
}

// Where parts alone have dropout there are seeds, and where nothing has there are none.
func TestSeedsOfDropoutOfParts(t *testing.T) {
	for rule, want := range map[string]bool{"encoder.blocks.0=0.1": true, "encoder.blocks.0=0": false} {
		c := standard(16, 1, 0, 9)
		c.Dropout, c.DropoutOf = 0, []string{rule}
		net := mustBuild(t, c, Shape{2, 40, 3}, Training)
		if got := slices.ContainsFunc(net.Graph.Inputs(), func(n *G.Node) bool { return n.Name() == Seeds }); got != want {
			t.Errorf("%s: there are seeds: %v, want %v", rule, got, want)
		}
	}
}
