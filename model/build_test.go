package model

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

// Every preset builds for every kind of shape, with a gradient for every parameter, and no two nodes of a graph
// share a hash (Grad says so if they do).
func TestPresetsBuild(t *testing.T) {
	digits := Config{DModel: 96, Heads: 4, EncoderLayers: 3, ConvKernel: 15, Subsampling: 2, SubsampleChannels: 32, NumMels: 40, Vocab: 17, Dropout: 0.1}
	for _, c := range []Config{standard(256, 12, 6, 100), standard(192, 8, 4, 100), standard(128, 6, 3, 100), digits} {
		for _, shape := range []Shape{{1, 1, 1}, {1, 800, 80}, {4, 797, 33}, {2, 3000, 300}} {
			net, err := Build(c, shape, Training)
			if err != nil {
				t.Fatalf("d=%d %+v: %v", c.DModel, shape, err)
			}
			grads := net.Graph.Grad(net.Loss, net.Weights...)
			if err := net.Graph.Err(); err != nil {
				t.Fatalf("d=%d %+v: %v", c.DModel, shape, err)
			}
			for i, w := range net.Weights {
				if grads[i] == nil || !slices.Equal(grads[i].Shape(), w.Shape()) {
					t.Fatalf("d=%d %+v: the gradient of %s is %v", c.DModel, shape, w.Name(), grads[i])
				}
			}
			s := shape.Encoded(c)
			if want := []int{shape.Batch, s, c.Vocab}; !slices.Equal(net.Logits.Shape(), want) {
				t.Errorf("d=%d %+v: logits are %v, want %v", c.DModel, shape, net.Logits.Shape(), want)
			}
			if (net.CE == nil) != (c.DecoderLayers == 0) {
				t.Errorf("d=%d: %d decoder layers, cross-entropy %v", c.DModel, c.DecoderLayers, net.CE)
			}
		}
	}
}

// Inputs are exactly those that the network needs for its purpose.
func TestInputs(t *testing.T) {
	losses := []string{Scale, TargetLengths, Targets}
	for _, c := range []struct {
		decoder int
		dropout float64
		purpose Purpose
		want    []string // beside features, lengths and positions
	}{
		{1, 0.1, Training, append([]string{Seeds, DecoderPositions}, losses...)},
		{0, 0.1, Training, append([]string{Seeds}, losses...)},
		{1, 0, Training, append([]string{DecoderPositions}, losses...)},
		{1, 0.1, Scoring, append([]string{DecoderPositions}, losses...)},
		{0, 0.1, Scoring, losses},
		{1, 0.1, Transcribing, nil},
		{0, 0, Transcribing, nil},
	} {
		config := standard(16, 1, c.decoder, 9)
		config.Dropout = c.dropout
		net, err := Build(config, Shape{2, 30, 3}, c.purpose)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, n := range net.Graph.Inputs() {
			if !slices.Contains(net.Weights, n) {
				names = append(names, n.Name())
			}
		}
		want := append([]string{Features, Lengths, Positions}, c.want...)
		slices.Sort(names)
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("%+v: inputs are %v, want %v", c, names, want)
		}
		for _, n := range net.Shared {
			if n.Name() != Positions && n.Name() != DecoderPositions {
				t.Errorf("%+v: %s is shared", c, n.Name())
			}
		}
		if tables := len(net.Shared); tables != 1+min(1, strings.Count(strings.Join(want, " "), DecoderPositions)) {
			t.Errorf("%+v: %d shared tables", c, tables)
		}
	}
}

// Each place where something is dropped has a site of its own.
func TestDropoutSites(t *testing.T) {
	net, err := Build(standard(16, 2, 2, 9), Shape{1, 30, 3}, Training)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]*G.Node{}
	for _, n := range net.Graph.AllNodes() {
		o, ok := n.Op().(*op.Op)
		if !ok || !strings.Contains(o.Params, "site=") || strings.Contains(o.Params, "threshold=0") {
			continue
		}
		site := o.Params[strings.Index(o.Params, "site="):]
		if other := seen[site]; other != nil {
			t.Errorf("%v and %v drop the same draws (%s)", n.Op(), other.Op(), site)
		}
		seen[site] = n
	}
	// Subsampling and embedding, then per block of the encoder: two in each feed-forward, attention's weights and
	// result, the convolution; per block of the decoder: two for each attention, two in the feed-forward.
	if want := 2 + 2*7 + 2*6; len(seen) != want {
		t.Errorf("%d sites of dropout, want %d", len(seen), want)
	}
}

func TestValidateListsAllProblems(t *testing.T) {
	if err := standard(192, 8, 4, 100).Validate(); err != nil {
		t.Error(err)
	}
	bad := Config{DModel: 7, Heads: 2, EncoderLayers: 0, DecoderLayers: -1, ConvKernel: 4, Subsampling: 3, SubsampleChannels: 0, NumMels: 0, Vocab: 2, Dropout: 1, CTCWeight: 1.5, LabelSmoothing: -0.1}
	err := bad.Validate()
	if err == nil {
		t.Fatal("nothing is wrong with it")
	}
	for _, name := range []string{
		"d_model is 7", "heads 2 does not divide d_model 7", "encoder_layers is 0", "decoder_layers is -1", "conv_kernel is 4", "subsampling is 3",
		"subsample_channels is 0", "num_mels is 0", "vocabulary has 2", "dropout is 1", "ctc_weight is 1.5", "label_smoothing is -0.1",
	} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("the error doesn't say %q:\n%v", name, err)
		}
	}
	if lines := strings.Count(err.Error(), "\n") + 1; lines != 12 {
		t.Errorf("%d problems, want 12:\n%v", lines, err)
	}
	// Sizes whose product no integer holds are refused one by one.
	huge := Config{DModel: math.MaxInt - 1, Heads: 2, EncoderLayers: math.MaxInt, DecoderLayers: math.MaxInt, ConvKernel: math.MaxInt, Subsampling: 2, SubsampleChannels: math.MaxInt, NumMels: 1, Vocab: 3}
	if err := huge.Validate(); err == nil || strings.Count(err.Error(), "\n")+1 != 5 {
		t.Errorf("want five problems:\n%v", err)
	}
	most := Config{DModel: mostWidth, Heads: 2, EncoderLayers: mostLayers, DecoderLayers: mostLayers, ConvKernel: mostWidth - 1, Subsampling: 2, SubsampleChannels: mostWidth, NumMels: 80, Vocab: 1 << 16}
	if n := Count(most); most.Validate() != nil || n.Encoder <= 0 || n.Total <= n.Encoder || n.Total > math.MaxInt/4 {
		t.Errorf("the largest network has %+v parameters, %v", n, most.Validate())
	}
	if err := (Config{}).Validate(); err == nil {
		t.Error("no settings at all are fine")
	}
	if _, err := Build(bad, Shape{1, 10, 1}, Training); err == nil {
		t.Error("Build takes what Validate refuses")
	}
	for _, shape := range []Shape{{0, 10, 1}, {1, 0, 1}, {1, 10, 0}} {
		if _, err := Build(standard(16, 1, 1, 9), shape, Training); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%+v", shape)) {
			t.Errorf("error for shape %+v is %v", shape, err)
		}
	}
}
