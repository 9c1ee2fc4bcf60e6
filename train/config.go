package train

import (
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/model"
)

// Config is everything a user can set. Each field is a key of a YAML file and a flag of the command line, both
// named by its yaml tag; help is the flag's description. [Default] gives the values of what isn't set.
type Config struct {
	Data     DataConfig     `yaml:",inline"`
	Model    ModelConfig    `yaml:",inline"`
	Optimise OptimiseConfig `yaml:",inline"`
	Run      RunConfig      `yaml:",inline"`
}

// DataConfig is about manifests, sound and text.
type DataConfig struct {
	TrainManifest string    `yaml:"train_manifest" help:"manifest to train on: JSON lines, CSV, Common Voice TSV or a Kaldi folder"`
	ValManifest   string    `yaml:"val_manifest" help:"manifest to validate on; empty: no validation"`
	TestManifest  string    `yaml:"test_manifest" help:"manifest to score once, when training has ended: with the best weights, or the averaged ones where average_last is set"`
	PathMap       []string  `yaml:"path_map" help:"replace the start of audio paths, FROM=TO; may be given several times"`
	SkipBadLines  bool      `yaml:"skip_bad_lines" help:"leave out manifest lines that can't be parsed, instead of stopping"`
	BadLineLimit  float64   `yaml:"bad_line_limit" help:"share of unusable manifest lines above which the run stops before training; 0: 0.05, but ten lines in any case"`
	UnknownLimit  float64   `yaml:"unknown_limit" help:"share of letters outside the vocabulary above which the run stops before training"`
	MinDuration   float64   `yaml:"min_duration" help:"leave out utterances shorter than this, in seconds"`
	MaxDuration   float64   `yaml:"max_duration" help:"leave out training utterances longer than this, in seconds; 0: no limit"`
	MaxTextLength int       `yaml:"max_text_length" help:"leave out training utterances with more characters than this; 0: no limit"`
	KeepJoiners   bool      `yaml:"keep_joiners" help:"keep zero-width joiners and non-joiners in texts"`
	FoldDigits    bool      `yaml:"fold_digits" help:"write the digits of all scripts as 0-9"`
	MinCharCount  int       `yaml:"min_char_count" help:"characters rarer than this in the training texts become <unk>"`
	SampleRate    int       `yaml:"sample_rate" help:"rate the network hears, in Hz; other rates are resampled"`
	NumMels       int       `yaml:"num_mels" help:"mel bins of a feature frame"`
	Normalize     string    `yaml:"normalize" help:"feature normalisation: utterance, global or none"`
	SpecAugment   bool      `yaml:"spec_augment" help:"mask blocks of bins and of frames in training"`
	FreqMasks     int       `yaml:"freq_masks" help:"SpecAugment: frequency masks per utterance"`
	FreqWidth     int       `yaml:"freq_width" help:"SpecAugment: widest frequency mask, in bins"`
	TimeMasks     int       `yaml:"time_masks" help:"SpecAugment: time masks per utterance"`
	TimeShare     float64   `yaml:"time_share" help:"SpecAugment: widest time mask, as a share of the utterance's frames"`
	SpeedPerturb  bool      `yaml:"speed_perturb" help:"play training utterances at a speed drawn from speeds"`
	Speeds        []float64 `yaml:"speeds" help:"speeds of speed_perturb, all equally likely"`
	NumWorkers    int       `yaml:"num_workers" help:"goroutines that prepare data ahead of training"`
}

// ModelConfig is the architecture.
type ModelConfig struct {
	DModel            int     `yaml:"d_model" help:"width of the network"`
	EncoderLayers     int     `yaml:"encoder_layers" help:"Conformer blocks"`
	DecoderLayers     int     `yaml:"decoder_layers" help:"decoder layers; 0: CTC only"`
	Heads             int     `yaml:"heads" help:"attention heads; must divide d_model"`
	ConvKernel        int     `yaml:"conv_kernel" help:"kernel of the depthwise convolution, in frames, odd"`
	Subsampling       int     `yaml:"subsampling" help:"feature frames for each encoder frame: 2, 4 or 8"`
	SubsampleChannels int     `yaml:"subsample_channels" help:"channels of the subsampling convolutions"`
	VocabSize         int     `yaml:"vocab_size" help:"vocabulary size that the data must have; 0: whatever the training texts give"`
	Dropout           float64 `yaml:"dropout" help:"share of activations dropped in training"`
	CTCWeight         float64 `yaml:"ctc_weight" help:"share of CTC in the loss; the rest is the decoder's cross-entropy; without a decoder all is CTC"`
	LabelSmoothing    float64 `yaml:"label_smoothing" help:"label smoothing of the decoder's cross-entropy"`
}

// OptimiseConfig is about updates.
type OptimiseConfig struct {
	BatchSize     int     `yaml:"batch_size" help:"utterances in a micro-batch: the most that one forward and backward pass takes"`
	GradAccum     int     `yaml:"grad_accum" help:"micro-batches in an update: batch_size x grad_accum utterances"`
	NumEpochs     int     `yaml:"num_epochs" help:"passes over the training data"`
	MaxUpdates    int     `yaml:"max_updates" help:"stop after this many updates; 0: no limit"`
	LearningRate  float64 `yaml:"learning_rate" help:"peak learning rate, reached at warmup_updates"`
	WarmupUpdates int     `yaml:"warmup_updates" help:"updates over which the learning rate rises"`
	WeightDecay   float64 `yaml:"weight_decay" help:"decoupled weight decay"`
	GradClip      float64 `yaml:"grad_clip" help:"largest gradient norm; larger ones are scaled down"`
}

// RunConfig is about one run on one machine: it may differ when a run is resumed.
type RunConfig struct {
	CheckpointDir   string `yaml:"checkpoint_dir" help:"folder for checkpoints"`
	LogDir          string `yaml:"log_dir" help:"folder for metrics.jsonl; empty: checkpoint_dir"`
	Resume          string `yaml:"resume" help:"checkpoint to go on from: a folder, or auto for the newest whole one in checkpoint_dir"`
	InitFrom        string `yaml:"init_from" help:"checkpoint or model.safetensors whose weights a new run starts with"`
	Device          string `yaml:"device" help:"auto, cpu or cuda"`
	FP16            bool   `yaml:"fp16" help:"half precision; on a CPU: saved activations take half the memory, a little slower"`
	CPUWorkers      int    `yaml:"cpu_workers" help:"compute workers on a CPU, each with a whole core; 0: one for each core"`
	Seed            uint64 `yaml:"seed" help:"seed of all random numbers"`
	SaveEvery       int    `yaml:"save_every" help:"updates between checkpoints; 0: after each epoch"`
	KeepLast        int    `yaml:"keep_last" help:"checkpoints to keep, beside the best one and those for average_last"`
	AverageLast     int    `yaml:"average_last" help:"at the end of training, average the weights of this many checkpoints (the last ones that save_every asked for, and the end's) into checkpoint_dir/averaged; 0: off"`
	EvalEvery       int    `yaml:"eval_every" help:"updates between validations; 0: after each epoch"`
	EarlyStop       int    `yaml:"early_stop" help:"stop after this many validations without a better score; 0: never"`
	LogEvery        int    `yaml:"log_every" help:"updates between progress lines"`
	BlankAlarm      int    `yaml:"blank_alarm" help:"updates after which a validation with nothing but empty output raises an alarm"`
	CacheClearEvery int    `yaml:"cache_clear_every" help:"updates between returns of idle memory to the system; 0: never"`
	ProfileSteps    int    `yaml:"profile_steps" help:"measure this many updates, print a table of the time by operation, and stop; 0: off"`
}

// Default is the configuration of a run that sets nothing.
func Default() Config {
	augment := feature.DefaultAugment()
	return Config{
		Data: DataConfig{
			UnknownLimit: 0.05, MinDuration: 0.1, MaxDuration: 30, MinCharCount: 1,
			SampleRate: 16000, NumMels: 80, Normalize: "utterance",
			SpecAugment: true, FreqMasks: augment.FreqMasks, FreqWidth: augment.FreqWidth,
			TimeMasks: augment.TimeMasks, TimeShare: augment.TimeShare,
			SpeedPerturb: true, Speeds: []float64{0.9, 1, 1.1}, NumWorkers: 2,
		},
		Model: ModelConfig{
			DModel: 192, EncoderLayers: 8, DecoderLayers: 4, Heads: 4, ConvKernel: 31, Subsampling: 4, SubsampleChannels: 64,
			Dropout: 0.1, CTCWeight: 0.3, LabelSmoothing: 0.1,
		},
		Optimise: OptimiseConfig{
			BatchSize: 8, GradAccum: 2, NumEpochs: 30, LearningRate: 1e-3, WarmupUpdates: 1000, WeightDecay: 1e-3, GradClip: 5,
		},
		Run: RunConfig{
			CheckpointDir: "runs/default", Device: "auto", Seed: 1, KeepLast: 3, LogEvery: 10, BlankAlarm: 500, CacheClearEvery: 50,
		},
	}
}

// Network is the architecture for a vocabulary of vocab entries.
func (c Config) Network(vocab int) model.Config {
	m := c.Model
	return model.Config{
		DModel: m.DModel, Heads: m.Heads, EncoderLayers: m.EncoderLayers, DecoderLayers: m.DecoderLayers,
		ConvKernel: m.ConvKernel, Subsampling: m.Subsampling, SubsampleChannels: m.SubsampleChannels,
		NumMels: c.Data.NumMels, Vocab: vocab, Dropout: m.Dropout, CTCWeight: m.CTCWeight, LabelSmoothing: m.LabelSmoothing,
	}
}

// Policy is the text policy.
func (c Config) Policy() text.Policy {
	return text.Policy{KeepJoiners: c.Data.KeepJoiners, FoldDigits: c.Data.FoldDigits}
}

// Features are the settings of the feature extraction; stats are needed for global normalisation.
func (c Config) Features(stats *feature.Stats) feature.Options {
	o := feature.Default()
	o.SampleRate, o.NumMels, o.Normalize, o.Stats = c.Data.SampleRate, c.Data.NumMels, c.Data.Normalize, stats
	return o
}

// Augment is the augmentation of training utterances.
func (c Config) Augment() feature.Augment {
	var a feature.Augment
	if c.Data.SpeedPerturb {
		a.Speeds = c.Data.Speeds
	}
	if c.Data.SpecAugment {
		a.FreqMasks, a.FreqWidth, a.TimeMasks, a.TimeShare = c.Data.FreqMasks, c.Data.FreqWidth, c.Data.TimeMasks, c.Data.TimeShare
	}
	return a
}

// Window is the number of utterances in an update.
func (c Config) Window() int { return c.Optimise.BatchSize * c.Optimise.GradAccum }
