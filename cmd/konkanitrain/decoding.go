package main

import (
	"strings"

	"konkanitrain/internal/settings"
	"konkanitrain/recognize"
)

// decoding is the settings of a command that recognizes: how the text is found.
type decoding struct {
	Decoder         string   `yaml:"decoder" default:"greedy" check:"greedy|beam|joint|rescore" help:"how text is found: greedy takes the likeliest token of each frame; beam looks for the likeliest text; a network with decoder_layers has a part in that: in joint as the search goes on, in rescore among what it has found"`
	BeamWidth       int      `yaml:"beam_width" default:"32" check:"1..65536" help:"texts that a beam search keeps in mind"`
	LM              string   `yaml:"lm" default:"" check:"path" zero:"none" help:"language model for the beam search: an ARPA file of words or characters, which may be compressed with gzip"`
	LMWeight        float64  `yaml:"lm_weight" default:"0.5" check:"0..100" help:"what the language model's log-probability counts beside the network's"`
	LengthWeight    float64  `yaml:"length_weight" default:"0" check:"-100..100" unit:"nats" help:"bonus of a beam search for each word, or for each character where the language model is one of characters or there is none"`
	AttentionWeight float64  `yaml:"attention_weight" default:"1" check:"0..1000" help:"what the log-probability of the network's decoder counts beside CTC's, with joint and rescore"`
	Hotwords        string   `yaml:"hotwords" default:"" check:"path" zero:"none" help:"file of phrases that the beam search prefers: one a line, which may end with a boost of its own, as in मडगांव :3.5, or with *, for any ending"`
	Hotword         []string `yaml:"hotword" default:"" check:"not empty" help:"one more such phrase; may be given several times"`
	HotwordBoost    float64  `yaml:"hotword_boost" default:"1" check:">0..100" unit:"nats" help:"what a hotword gains for each of its characters, where it has no boost of its own"`
	// Confidence is what eval --save_decoding finds: slope and offset.
	Confidence []float64 `yaml:"confidence" default:"" check:"any" help:"slope and offset of the calibration that makes probabilities of confidences, as eval --save_decoding writes them; without, of greedy decoding the one that training has made"`
}

// rules are what the settings have to agree with.
func (d decoding) rules(p *settings.Problems, nbest int) {
	if d.LM != "" {
		p.Add(needFile("lm", d.LM, "FILE, an ARPA file"))
	}
	if d.Hotwords != "" {
		p.Add(needFile("hotwords", d.Hotwords, "FILE, a list of phrases"))
	}
	o := d.options(strings.Join(d.Hotword, "\n"))
	if d.Hotwords != "" {
		o.Hotwords += d.Hotwords
	}
	o.NBest = nbest
	p.Add(settings.About("decoder attention_weight beam_width lm hotwords nbest", o.Check()))
	if n := len(d.Confidence); n != 0 && (n != 2 || d.Confidence[0] < 0) {
		p.Add(settings.Problemf("confidence", "confidence is %v, want two numbers: a slope of 0 or more, and an offset", d.Confidence))
	}
}

// options are the settings, with these hotwords.
func (d decoding) options(hotwords string) recognize.Decoding {
	o := recognize.Decoding{
		Decoder: recognize.Decoder(d.Decoder), Width: d.BeamWidth, LM: d.LM, LMWeight: d.LMWeight, LengthWeight: d.LengthWeight, AttentionWeight: d.AttentionWeight,
		Hotwords: hotwords, Boost: d.HotwordBoost,
	}
	if len(d.Confidence) == 2 {
		o.Calibration = &recognize.Calibration{Slope: d.Confidence[0], Offset: d.Confidence[1]}
	}
	return o
}

// decoding reads the list of hotwords.
func (d decoding) decoding() (recognize.Decoding, error) {
	list := ""
	if d.Hotwords != "" {
		var err error
		if list, err = recognize.ReadHotwords(d.Hotwords); err != nil {
			return recognize.Decoding{}, err
		}
		list = strings.TrimRight(list, "\r\n") + "\n"
	}
	return d.options(list + strings.Join(d.Hotword, "\n")), nil
}
