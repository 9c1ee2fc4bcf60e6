// Package model is the network: a Conformer encoder with a CTC head and an optional Transformer decoder, as a
// Gorgonia graph made of the ops of package op.
//
// [Config] is the architecture, [Parameters] its parameters with names and shapes, [Build] the graph for one batch
// shape and one [Purpose]; the constants name its inputs; [Tables] are constants that graphs share. The loss node is
// scale times the sum over utterances; the backward pass is added by whoever trains. The package knows nothing of how
// a graph is run.
package model

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"konkanitrain/internal/patterns"
)

// Config is the architecture and what belongs to the loss.
type Config struct {
	DModel            int     `json:"d_model"`
	Heads             int     `json:"heads"`
	EncoderLayers     int     `json:"encoder_layers"`
	DecoderLayers     int     `json:"decoder_layers"` // 0: CTC only
	ConvKernel        int     `json:"conv_kernel"`    // frames, odd
	Subsampling       int     `json:"subsampling"`    // 2, 4 or 8
	SubsampleChannels int     `json:"subsample_channels"`
	NumMels           int     `json:"num_mels"`
	Vocab             int     `json:"vocab"` // with blank (0), sos/eos (1) and unk (2)
	Dropout           float64 `json:"dropout"`
	CTCWeight         float64 `json:"ctc_weight"` // share of CTC in the loss; the rest is cross-entropy
	LabelSmoothing    float64 `json:"label_smoothing"`

	// Of training and its start alone. What came later is left out of a model's description where it is off.

	// DropoutOf are probabilities in place of Dropout for parts of the network, each PATTERN=P (package patterns) with a
	// pattern of the names that DropoutSites lists.
	DropoutOf       []string `json:"dropout_of,omitempty"`
	CTCSmoothing    float64  `json:"ctc_smoothing,omitempty"`    // share of the uniform distribution in CTC's loss
	InterCTCWeight  float64  `json:"inter_ctc_weight,omitempty"` // share of the middle block's CTC in that of the loss
	BlankBias       float64  `json:"blank_bias,omitempty"`       // nats, where the blank's bias in the CTC head starts
	BranchShrink    float64  `json:"branch_shrink,omitempty"`    // share by which the last weights of residual branches start smaller
	StochasticDepth float64  `json:"stochastic_depth,omitempty"` // probability with which a branch of the last blocks is dropped
}

// mostWidth and mostLayers bound the sizes of a network: far beyond what this trainer is for, and so small that
// parameters and bytes can be counted. Whether a network fits the memory is found out from those counts. With a bias of
// mostBias nats nothing but the blank, or never the blank, would be heard for good.
const (
	mostWidth   = 1 << 16
	mostLayers  = 1000
	mostBias    = 100
	mostDropout = 0.99 // kernels know shares in steps of 2^-16, and what is kept is scaled by 1/(1-share)
)

// problem is what is wrong with a setting of a network.
type problem struct {
	keys []string // of the settings it is about, as a user writes them; the one to look at first at the front
	text string
}

// Error is the problem in words.
func (p *problem) Error() string { return p.text }

// Settings are the keys of the settings that are wrong, or don't go together.
func (p *problem) Settings() []string { return p.keys }

// Validate lists every setting that makes no network, in one error. Each problem has a method Settings with the keys of
// the settings that it is about.
func (c Config) Validate() error {
	var problems []error
	require := func(ok bool, key, format string, args ...any) {
		if !ok {
			problems = append(problems, &problem{strings.Fields(key), fmt.Sprintf(format, args...)})
		}
	}
	require(c.DModel >= 2 && c.DModel%2 == 0 && c.DModel <= mostWidth, "d_model", "d_model is %d, want an even number from 2 to %d", c.DModel, mostWidth)
	require(c.Heads >= 1, "heads", "heads is %d, want 1 or more", c.Heads)
	if c.Heads >= 1 {
		require(c.DModel%c.Heads == 0, "heads d_model", "heads %d does not divide d_model %d", c.Heads, c.DModel)
	}
	require(c.EncoderLayers >= 1 && c.EncoderLayers <= mostLayers, "encoder_layers", "encoder_layers is %d, want 1 to %d", c.EncoderLayers, mostLayers)
	require(c.DecoderLayers >= 0 && c.DecoderLayers <= mostLayers, "decoder_layers", "decoder_layers is %d, want 0 (CTC only) to %d", c.DecoderLayers, mostLayers)
	require(c.ConvKernel >= 1 && c.ConvKernel%2 == 1 && c.ConvKernel < mostWidth, "conv_kernel", "conv_kernel is %d, want an odd number of frames below %d", c.ConvKernel, mostWidth)
	require(c.Subsampling == 2 || c.Subsampling == 4 || c.Subsampling == 8, "subsampling", "subsampling is %d, want 2, 4 or 8", c.Subsampling)
	require(c.SubsampleChannels >= 1 && c.SubsampleChannels <= mostWidth, "subsample_channels", "subsample_channels is %d, want 1 to %d", c.SubsampleChannels, mostWidth)
	require(c.NumMels >= 1, "num_mels", "num_mels is %d, want 1 or more", c.NumMels)
	require(c.Vocab >= 3, "vocab_size", "the vocabulary has %d entries, want blank, sos/eos, unk and letters", c.Vocab)
	require(c.Dropout >= 0 && c.Dropout <= mostDropout, "dropout", "dropout is %g, want 0 to %g", c.Dropout, mostDropout)
	require(c.CTCWeight >= 0 && c.CTCWeight <= 1, "ctc_weight", "ctc_weight is %g, want 0 to 1", c.CTCWeight)
	require(c.LabelSmoothing >= 0 && c.LabelSmoothing < 1, "label_smoothing", "label_smoothing is %g, want 0 or more and below 1", c.LabelSmoothing)
	require(c.InterCTCWeight >= 0 && c.InterCTCWeight < 1, "inter_ctc_weight", "inter_ctc_weight is %g, want 0 (off) or more and below 1", c.InterCTCWeight)
	if _, err := c.dropouts(); err != nil {
		problems = append(problems, &problem{[]string{"dropout_of"}, err.Error()})
	}
	require(c.CTCSmoothing >= 0 && c.CTCSmoothing < 1, "ctc_smoothing", "ctc_smoothing is %g, want 0 (off) or more and below 1", c.CTCSmoothing)
	require(math.Abs(c.BlankBias) <= mostBias, "blank_bias", "blank_bias is %g, want %d to %d", c.BlankBias, -mostBias, mostBias)
	require(c.BranchShrink >= 0 && c.BranchShrink <= 1, "branch_shrink", "branch_shrink is %g, want 0 (off) to 1 (branches start with nothing)", c.BranchShrink)
	require(c.StochasticDepth >= 0 && c.StochasticDepth <= mostDropout, "stochastic_depth", "stochastic_depth is %g, want 0 (off) to %g", c.StochasticDepth, mostDropout)
	require(!(c.InterCTCWeight > 0) || c.EncoderLayers >= 2, "inter_ctc_weight encoder_layers",
		"inter_ctc_weight is %g, and encoder_layers %d: there is no block in the middle; want 2 or more, or inter_ctc_weight 0", c.InterCTCWeight, c.EncoderLayers)
	return errors.Join(problems...)
}

// Shares are what the losses of an utterance count in its total, which training minimizes: the CTC head's behind the
// last block, behind the middle one, and the decoder's cross-entropy. They sum to 1. There is no loss behind the middle
// block where its share is 0, and no cross-entropy without a decoder.
func (c Config) Shares(purpose Purpose) (ctc, inter, ce float64) {
	ctc = 1
	if c.DecoderLayers > 0 {
		ctc, ce = c.CTCWeight, 1-c.CTCWeight
	}
	if purpose == Training {
		ctc, inter = ctc*(1-c.InterCTCWeight), ctc*c.InterCTCWeight
	}
	return ctc, inter, ce
}

// dropouts are the rules of DropoutOf.
func (c Config) dropouts() (patterns.Rules, error) {
	rules, err := patterns.Parse("dropout_of", "share", "encoder.subsample=0", c.DropoutOf)
	for i, r := range rules {
		if !(r.Value >= 0 && r.Value <= mostDropout) {
			return nil, fmt.Errorf("dropout_of %q: the share is %g, want 0 to %g", c.DropoutOf[i], r.Value, mostDropout)
		}
	}
	return rules, err
}

// stages is the number of halvings of the subsampling.
func (c Config) stages() int {
	n := 0
	for f := c.Subsampling; f > 1; f /= 2 {
		n++
	}
	return n
}

// bins is the number of frequency bins left after the subsampling: halved, rounded up, once per stage.
func (c Config) bins() int {
	f := c.NumMels
	for range c.stages() {
		f = (f + 1) / 2
	}
	return f
}
