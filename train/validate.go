package train

import (
	"errors"
	"fmt"

	"konkanitrain/data"
	"konkanitrain/data/feature"
)

// maxWindow is the most utterances in an update: far more than is of use, and few enough to plan with.
const maxWindow = 1 << 16

// Validate lists every setting that makes no run, in one error. It looks at no file and at no data.
func (c Config) Validate() error {
	var problems []error
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	d, o, r := c.Data, c.Optimise, c.Run
	network := c.Network(max(c.Model.VocabSize, 3))
	network.NumMels = max(network.NumMels, 1) // the features' settings say what is wrong with it
	if err := network.Validate(); err != nil {
		problems = append(problems, err)
	}
	bad(c.Model.VocabSize == 0 || c.Model.VocabSize > 3, "vocab_size is %d, want 4 or more (three are blank, sos/eos and unk), or 0", c.Model.VocabSize)
	bad(c.Model.DecoderLayers == 0 || c.Model.CTCWeight != 0, "ctc_weight is 0: the CTC output would learn nothing, and everything is scored and transcribed by it")
	bad(o.BatchSize >= 1, "batch_size is %d, want 1 or more", o.BatchSize)
	bad(o.GradAccum >= 1, "grad_accum is %d, want 1 or more", o.GradAccum)
	bad(o.BatchSize < 1 || o.GradAccum <= maxWindow/o.BatchSize, "batch_size %d x grad_accum %d: want at most %d utterances in an update", o.BatchSize, o.GradAccum, maxWindow)
	bad(o.NumEpochs >= 1, "num_epochs is %d, want 1 or more", o.NumEpochs)
	bad(o.MaxUpdates >= 0, "max_updates is %d, want 0 (no limit) or more", o.MaxUpdates)
	bad(o.LearningRate > 0 && o.LearningRate <= 1, "learning_rate is %g, want more than 0 and at most 1", o.LearningRate)
	bad(o.WarmupUpdates >= 1, "warmup_updates is %d, want 1 or more", o.WarmupUpdates)
	bad(o.WeightDecay >= 0 && o.WeightDecay < 1, "weight_decay is %g, want 0 or more and below 1", o.WeightDecay)
	bad(o.GradClip > 0, "grad_clip is %g, want more than 0", o.GradClip)

	bad(d.BadLineLimit >= 0 && d.BadLineLimit <= 1, "bad_line_limit is %g, want a share from 0 to 1", d.BadLineLimit)
	bad(d.UnknownLimit >= 0 && d.UnknownLimit <= 1, "unknown_limit is %g, want a share from 0 to 1", d.UnknownLimit)
	bad(d.MinDuration >= 0, "min_duration is %g s, want 0 or more", d.MinDuration)
	bad(d.MaxDuration >= 0, "max_duration is %g s, want 0 (no limit) or more", d.MaxDuration)
	bad(d.MaxDuration == 0 || d.MaxDuration > d.MinDuration, "max_duration %g s is not above min_duration %g s", d.MaxDuration, d.MinDuration)
	bad(d.MaxTextLength >= 0, "max_text_length is %d, want 0 (no limit) or more", d.MaxTextLength)
	bad(d.MinCharCount >= 1, "min_char_count is %d, want 1 or more", d.MinCharCount)
	bad(d.NumWorkers >= 1 && d.NumWorkers <= 1024, "num_workers is %d, want 1 to 1024", d.NumWorkers)
	if _, err := data.ParsePathMap(d.PathMap); err != nil {
		problems = append(problems, err)
	}
	features := c.Features(nil)
	if features.Normalize == feature.Global {
		features.Normalize = feature.None // its statistics are not there yet
	}
	if err := features.Validate(); err != nil {
		problems = append(problems, err)
	}
	if err := c.Augment().Validate(); err != nil {
		problems = append(problems, err)
	}
	bad(!d.SpeedPerturb || len(d.Speeds) > 0, "speed_perturb is on, but speeds is empty")

	bad(r.CheckpointDir != "", "checkpoint_dir is empty")
	bad(r.Resume == "" || r.InitFrom == "", "resume and init_from are both set: a resumed run has its weights already")
	bad(r.Device == "auto" || r.Device == "cpu" || r.Device == "cuda", "device is %q, want auto, cpu or cuda", r.Device)
	bad(r.CPUWorkers >= 0 && r.CPUWorkers <= 1024, "cpu_workers is %d, want 0 (one for each core) to 1024", r.CPUWorkers)
	bad(r.SaveEvery >= 0, "save_every is %d, want 0 (each epoch) or more", r.SaveEvery)
	bad(r.KeepLast >= 1, "keep_last is %d, want 1 or more", r.KeepLast)
	bad(r.AverageLast >= 0, "average_last is %d, want 0 (off) or more", r.AverageLast)
	bad(r.EvalEvery >= 0, "eval_every is %d, want 0 (each epoch) or more", r.EvalEvery)
	bad(r.EarlyStop >= 0, "early_stop is %d, want 0 (never) or more", r.EarlyStop)
	bad(r.EarlyStop == 0 || d.ValManifest != "", "early_stop is %d, but there is no val_manifest to judge by", r.EarlyStop)
	bad(r.LogEvery >= 1, "log_every is %d, want 1 or more", r.LogEvery)
	bad(r.BlankAlarm >= 0, "blank_alarm is %d, want 0 or more updates", r.BlankAlarm)
	bad(r.CacheClearEvery >= 0, "cache_clear_every is %d, want 0 (never) or more", r.CacheClearEvery)
	bad(r.ProfileSteps >= 0, "profile_steps is %d, want 0 (off) or more", r.ProfileSteps)
	return errors.Join(problems...)
}
