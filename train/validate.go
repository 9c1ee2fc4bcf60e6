package train

import (
	"fmt"
	"path/filepath"
	"slices"

	"konkanitrain/data"
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/internal/mlflow"
	"konkanitrain/internal/settings"
	"konkanitrain/internal/watch"
	"konkanitrain/update"
)

// maxWindow is the most utterances in an update: far more than is of use, and few enough to plan with.
const maxWindow = 1 << 16

// Validate lists every setting that makes no run, in one error: those that fail the check at their field, and then
// those that don't go together. It looks at no file and at no data.
func (c Config) Validate() error {
	set, err := settings.Of(&c)
	if err != nil {
		return err
	}
	p := set.Check()
	c.networkRules(p)
	c.dataRules(p)
	c.tuningRules(p)
	o, r := c.Optimizer, c.Run
	p.Require(o.BatchSize < 1 || o.GradAccum <= maxWindow/o.BatchSize, "batch_size grad_accum",
		"batch_size %d x grad_accum %d: want at most %d utterances in an update", o.BatchSize, o.GradAccum, maxWindow)
	p.Require(o.FinalRate == 0 || o.Schedule == update.Cosine || o.Schedule == update.Linear, "final_rate schedule",
		"final_rate is %g, and schedule %s does not end at a share of learning_rate that is set: leave final_rate out, or set schedule to cosine or linear", o.FinalRate, o.Schedule)
	p.Require(r.Resume == "" || r.InitFrom == "", "resume init_from", "resume and init_from are both set: a resumed run has its weights already; "+
		"leave one of them out, as by --resume= where a file has it")
	p.Require(!r.FindLR || r.ProfileSteps == 0, "find_lr profile_steps", "find_lr and profile_steps are both set, and each measures something else and stops: leave one of them out")
	p.Require(r.InitFrom != "" || !r.InitPartial, "init_partial init_from", "init_partial is on, and init_from names no model to take anything from")
	if r.MLflow != "" {
		if err := mlflow.CheckServer(r.MLflow); err != nil {
			p.Add(settings.About("mlflow", fmt.Errorf("mlflow: %w", err)))
		}
	}
	p.Add(settings.About("device", r.device().Check()))
	if r.Listen != "" {
		if _, err := watch.ParseAddress(r.Listen, r.ListenPublic); err != nil {
			p.Add(settings.About("listen", fmt.Errorf("listen: %w", err)))
		}
	}
	p.Require(r.Listen != "" || !r.ListenPublic, "listen_public listen", "listen_public is on, and listen is empty: no page is shown; give it an address, such as 0.0.0.0:8420")
	_, _, err = r.memory().Budget()
	p.Add(settings.About("memory_limit", err))
	p.Require(o.EMADecay == 0 || r.AverageLast == 0, "ema_decay average_last",
		"ema_decay is %g and average_last %d: the mean of moving averages is one over more updates, which a larger ema_decay gives: set one of them to 0",
		o.EMADecay, r.AverageLast)
	p.Require(r.EarlyStop == 0 || anyGiven(c.Data.ValManifest), "early_stop val_manifest",
		"early_stop is %d, but there is no val_manifest to judge by", r.EarlyStop)
	p.Require(r.EarlyStopDelta == 0 || r.EarlyStop > 0, "early_stop_delta early_stop", "early_stop_delta is %g, but early_stop is off: set early_stop_delta to 0 as well", r.EarlyStopDelta)
	return p.Err()
}

// networkRules are those of package model, and what a network needs to be of use.
func (c Config) networkRules(p *settings.Problems) {
	m := c.Model
	p.Require(m.VocabSize == 0 || m.VocabSize > 3, "vocab_size", "vocab_size is %d, want 4 or more (three are blank, sos/eos and unk), or 0", m.VocabSize)
	p.Require(m.DecoderLayers == 0 || m.CTCWeight != 0, "ctc_weight",
		"ctc_weight is 0: the CTC output would learn nothing, and everything is scored and transcribed by it")
	p.Add(c.Network(max(m.VocabSize, 3)).Validate())
}

// dataRules are those of package data and of the features, and what goes together in a manifest's limits.
func (c Config) dataRules(p *settings.Problems) {
	d := c.Data
	p.Require(d.MaxDuration == 0 || d.MaxDuration > d.MinDuration, "max_duration min_duration",
		"max_duration %g s is not above min_duration %g s", d.MaxDuration, d.MinDuration)
	if d.AllowedCharacters != "" {
		p.Add(settings.About("allowed_characters", text.ParseCharacters(d.AllowedCharacters)))
	}
	c.tokenizerRules(p)
	p.Add(CheckPathMap(d.PathMap))
	features := c.Features(nil)
	if features.Normalize == feature.Global {
		features.Normalize = feature.None // its statistics are not there yet
	}
	wrong := features.Validate()
	p.Add(settings.About("num_mels sample_rate high_hz sample_scale normalize", wrong))
	c.augmentRules(p)
	if augment := c.Augment(); wrong == nil && augment.Validate() == nil {
		p.Add(settings.About("vtlp num_mels", augment.CheckWarps(features)))
	}
}

// augmentRules are those of augmentation.
func (c Config) augmentRules(p *settings.Problems) {
	d := c.Data
	p.Require(!d.SpeedPerturb || len(d.Speeds) > 0, "speeds speed_perturb", "speed_perturb is on, but speeds is empty")
	p.Require(len(d.NoiseSNR) == 2, "noise_snr", "noise_snr has %d numbers, want two: the lowest ratio and the highest, in dB, as 5,25", len(d.NoiseSNR))
	p.Require(len(d.NoiseSNR) != 2 || d.NoiseSNR[0] <= d.NoiseSNR[1], "noise_snr", "noise_snr is %v: the lowest ratio comes first", d.NoiseSNR)
	p.Require(!anyGiven(d.NoiseManifest) || d.NoiseShare > 0, "noise_manifest noise_share", "noise_manifest names recordings, but noise_share is 0: no utterance gets noise")
	augment := c.Augment()
	slices.Sort(augment.NoiseSNR[:]) // whose order was looked at
	p.Add(settings.About("speeds freq_masks freq_width time_masks time_share vtlp pitch time_shift reverb_share noise_share noise_snr bandwidth_share volume light_first_epochs",
		augment.Validate()))
	p.Require(d.LightFirstEpochs == 0 || augment.Any(), "light_first_epochs spec_augment speed_perturb",
		"light_first_epochs is %d, but no augmentation is on: there is nothing that could grow; set light_first_epochs to 0 as well", d.LightFirstEpochs)
}

// tokenizerRules are about what texts are cut into.
func (c Config) tokenizerRules(p *settings.Problems) {
	switch name := c.Data.Tokenizer; {
	case name == tokenizerBPE:
		p.Require(c.Model.VocabSize > 0, "tokenizer vocab_size", "tokenizer is bpe, which makes vocab_size tokens: give it a number, such as 500")
	case name != tokenizerCharacters && filepath.Ext(name) != ".model":
		p.Require(false, "tokenizer", "tokenizer is %q, want characters, bpe, or the file of a SentencePiece model, NAME.model", name)
	}
}

// CheckPathMap lists what is wrong with the values of path_map, each FROM=TO.
func CheckPathMap(list []string) error {
	_, err := data.ParsePathMap(list)
	return settings.About("path_map", err)
}
