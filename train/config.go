package train

import (
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/internal/settings"
	"konkanitrain/model"
)

// Config is everything a user can set. Each field is a key of a YAML file and a flag of the command line. Its tags
// are the one place for all there is to say of it: name, default, check, help, and what a resumed run makes of a
// change (see package settings). A new setting is a new field; a rule about several of them is a line in
// [Config.Validate].
type Config struct {
	Data      DataConfig      `yaml:",inline"`
	Model     ModelConfig     `yaml:",inline"`
	Optimizer OptimizerConfig `yaml:",inline"`
	Run       RunConfig       `yaml:",inline"`
}

// TextConfig says how texts are written.
type TextConfig struct {
	KeepJoiners       bool   `yaml:"keep_joiners" default:"false" check:"any" resume:"fixed" help:"keep zero-width joiners and non-joiners in texts"`
	FoldDigits        bool   `yaml:"fold_digits" default:"false" check:"any" resume:"fixed" help:"write the digits of all scripts as 0-9"`
	RemovePunctuation bool   `yaml:"remove_punctuation" default:"false" check:"any" resume:"fixed" help:"write a space for punctuation, dashes and signs in texts; an apostrophe between letters stays"`
	LowerCase         bool   `yaml:"lower_case" default:"false" check:"any" resume:"fixed" help:"write texts in lower case"`
	AllowedCharacters string `yaml:"allowed_characters" default:"" check:"any" zero:"all" resume:"fixed" help:"characters that texts may have beside the space, others are removed: characters and ranges, as in \"a-z ' U+0900-U+097F\""`
}

// Policy is the text policy.
func (t TextConfig) Policy() text.Policy { return text.Policy(t) }

// DataConfig is about manifests, sound and text.
type DataConfig struct {
	TrainManifest    []string `yaml:"train_manifest" default:"" check:"path" help:"manifest to train on: a list or a folder (docs/data.md has its forms); may be given several times, each with a weight, as a.jsonl:2 for twice in an epoch and b.jsonl:0.5 for half of it"`
	ValManifest      []string `yaml:"val_manifest" default:"" check:"path" help:"manifest to validate on; none is no validation; may be given several times"`
	TestManifest     []string `yaml:"test_manifest" default:"" check:"path" help:"manifest, or several, to score once, when training has ended: with the best weights, or the averaged ones where average_last is set"`
	PathMap          []string `yaml:"path_map" default:"" check:"path map" help:"replace the start of audio paths, FROM=TO; may be given several times"`
	SkipBadLines     bool     `yaml:"skip_bad_lines" default:"false" check:"any" help:"leave out manifest lines that can't be parsed, instead of stopping"`
	BadLineLimit     float64  `yaml:"bad_line_limit" default:"0" check:"share" zero:"0.05, but ten lines in any case" help:"share of unusable manifest lines above which the run stops before training"`
	UnknownLimit     float64  `yaml:"unknown_limit" default:"0.05" check:"share" help:"share of letters outside the vocabulary above which the run stops before training"`
	MinDuration      float64  `yaml:"min_duration" default:"0.1" check:"0.." unit:"s" help:"leave out utterances shorter than this, in seconds"`
	MaxDuration      float64  `yaml:"max_duration" default:"30" check:"0.." zero:"no limit" unit:"s" help:"leave out training utterances longer than this, in seconds"`
	MaxTextLength    int      `yaml:"max_text_length" default:"0" check:"0.." zero:"no limit" help:"leave out training utterances with more characters than this"`
	TextConfig       `yaml:",inline"`
	Tokenizer        string    `yaml:"tokenizer" default:"characters" check:"not empty path" resume:"fixed" help:"what texts are cut into: characters; bpe, vocab_size pieces that are made of the training texts by byte pair encoding; or those of a SentencePiece model, by the name of its file, NAME.model"`
	MinCharCount     int       `yaml:"min_char_count" default:"1" check:"1.." help:"characters rarer than this in the training texts become <unk>"`
	SampleRate       int       `yaml:"sample_rate" default:"16000" check:"1000..768000" unit:"Hz" resume:"fixed" help:"rate the network hears, in Hz; other rates are resampled"`
	NumMels          int       `yaml:"num_mels" default:"80" check:"1.." resume:"fixed" help:"mel bins of a feature frame"`
	HighHz           float64   `yaml:"high_hz" default:"0" check:"any" unit:"Hz" resume:"fixed" help:"upper edge of the last mel bin, in Hz; 0 or less: so much below half of sample_rate, as -400, with which sherpa-onnx hears"`
	SampleScale      float64   `yaml:"sample_scale" default:"32768" check:"0.01.." resume:"fixed" help:"what samples from -1 to 1 are multiplied by: 32768 as in Kaldi, 1 as in icefall; energies have a floor, below which more of a quiet sound is the lower this is"`
	Normalize        string    `yaml:"normalize" default:"utterance" check:"utterance|global|none" resume:"fixed" help:"feature normalization"`
	SpecAugment      bool      `yaml:"spec_augment" default:"true" check:"any" help:"mask blocks of bins and of frames in training"`
	FreqMasks        int       `yaml:"freq_masks" default:"2" check:"0..1000" help:"SpecAugment: frequency masks per utterance"`
	FreqWidth        int       `yaml:"freq_width" default:"27" check:"0..1000" help:"SpecAugment: widest frequency mask, in bins"`
	TimeMasks        int       `yaml:"time_masks" default:"5" check:"0..1000" help:"SpecAugment: time masks per utterance"`
	TimeShare        float64   `yaml:"time_share" default:"0.05" check:"share" help:"SpecAugment: widest time mask, as a share of the utterance's frames"`
	SpeedPerturb     bool      `yaml:"speed_perturb" default:"true" check:"any" help:"play training utterances at a speed drawn from speeds"`
	Speeds           []float64 `yaml:"speeds" default:"0.9,1,1.1" check:"0.5..2" help:"speeds of speed_perturb, all equally likely"`
	LightFirstEpochs int       `yaml:"light_first_epochs" default:"0" check:"0.." zero:"none" unit:"epochs" help:"so many epochs at the start of training have lighter augmentation of every kind, none in the first and more from epoch to epoch"`
	SortFirstEpochs  int       `yaml:"sort_first_epochs" default:"0" check:"0.." zero:"none" unit:"epochs" help:"so many epochs at the start of training go from short utterances to long ones; all others are shuffled"`
	VTLP             float64   `yaml:"vtlp" default:"0" check:"0|0.001..0.5" zero:"off" help:"vocal tract length perturbation in training: frequencies are multiplied by a factor drawn from 1-vtlp to 1+vtlp"`
	Pitch            float64   `yaml:"pitch" default:"0" check:"0|0.25..12" zero:"off" unit:"semitones" help:"the most that training utterances are made higher or lower, in semitones; they stay as long as they are"`
	TimeShift        float64   `yaml:"time_shift" default:"0" check:"0..0.5" zero:"off" unit:"s" help:"the most that training utterances are made to begin earlier or later, in seconds, by a tenth of them at most: what goes beyond an end is lost, and silence comes in at the other"`
	ReverbShare      float64   `yaml:"reverb_share" default:"0" check:"share" zero:"off" help:"share of training utterances that are heard in a room, with reverberation of 0.15 to 0.8 s"`
	NoiseShare       float64   `yaml:"noise_share" default:"0" check:"share" zero:"off" help:"share of training utterances that noise is added to"`
	NoiseSNR         []float64 `yaml:"noise_snr" default:"5,25" check:"-20..100" unit:"dB" help:"ratios of an utterance's power to that of its noise in dB, from and to"`
	NoiseManifest    []string  `yaml:"noise_manifest" default:"" check:"path" help:"recordings to take noise from: a folder of sound files, or a manifest, whose texts are of no matter; may be given several times; none is generated noise: white, pink, brown or hum"`
	BandwidthShare   float64   `yaml:"bandwidth_share" default:"0" check:"share" zero:"off" help:"share of training utterances that go through a narrow channel: a telephone (300 to 3400 Hz, mu-law), or a low-pass at a frequency that is drawn"`
	Volume           float64   `yaml:"volume" default:"0" check:"0..60" zero:"off" unit:"dB" help:"gain of training utterances, drawn from -volume to volume dB; samples beyond full scale are clipped, as by a recorder. Where nothing is clipped, normalize utterance takes a gain back"`
	NumWorkers       int       `yaml:"num_workers" default:"2" check:"1..1024" resume:"free" help:"goroutines that prepare data ahead of training"`
}

// ModelConfig is the architecture.
type ModelConfig struct {
	DModel            int      `yaml:"d_model" default:"192" check:"even 2..65536" resume:"fixed" help:"width of the network"`
	EncoderLayers     int      `yaml:"encoder_layers" default:"8" check:"1..1000" resume:"fixed" help:"Conformer blocks"`
	DecoderLayers     int      `yaml:"decoder_layers" default:"4" check:"0..1000" zero:"CTC only" resume:"fixed" help:"decoder layers"`
	Heads             int      `yaml:"heads" default:"4" check:"1.." resume:"fixed" help:"attention heads; must divide d_model"`
	ConvKernel        int      `yaml:"conv_kernel" default:"31" check:"odd 1..65535" unit:"frames" resume:"fixed" help:"kernel of the depthwise convolution, in frames, odd"`
	Subsampling       int      `yaml:"subsampling" default:"4" check:"2|4|8" resume:"fixed" help:"feature frames for each encoder frame"`
	SubsampleChannels int      `yaml:"subsample_channels" default:"64" check:"1..65536" resume:"fixed" help:"channels of the subsampling convolutions"`
	VocabSize         int      `yaml:"vocab_size" default:"0" check:"any" zero:"whatever the training texts give" help:"vocabulary size that the data must have; with tokenizer bpe the size that is made"`
	Dropout           float64  `yaml:"dropout" default:"0.1" check:"0..0.99" help:"share of activations dropped in training"`
	DropoutOf         []string `yaml:"dropout_of" default:"" check:"words" help:"dropout of parts of the network in place of dropout, PATTERN=SHARE, such as encoder.subsample=0,encoder.blocks.*.attn=0.2, where * stands for any one name; the longest pattern holds"`
	CTCWeight         float64  `yaml:"ctc_weight" default:"0.3" check:"share" help:"share of CTC in the loss; the rest is the decoder's cross-entropy; without a decoder all is CTC"`
	LabelSmoothing    float64  `yaml:"label_smoothing" default:"0.1" check:"0..<1" help:"label smoothing of the decoder's cross-entropy"`
	CTCSmoothing      float64  `yaml:"ctc_smoothing" default:"0" check:"0..<1" zero:"off" help:"label smoothing of CTC, in training: this share of its loss is each frame's cross-entropy with the uniform distribution"`
	InterCTCWeight    float64  `yaml:"inter_ctc_weight" default:"0" check:"0..<1" zero:"off" help:"share of CTC in the loss that is taken behind the middle encoder block, by the same output layer, in training"`
	BlankBias         float64  `yaml:"blank_bias" default:"0" check:"-100..100" unit:"nats" resume:"start" help:"where the bias of CTC's blank starts in a new run, in nats: below 0 makes blanks rarer at first, above 0 more frequent; a model that init_from names has its own"`
	BranchShrink      float64  `yaml:"branch_shrink" default:"0" check:"share" zero:"off" resume:"start" help:"share by which the last weights of each residual branch start smaller in a new run: at 1 a branch begins with nothing, and the network as a shallow one; deep ones learn sooner so"`
	StochasticDepth   float64  `yaml:"stochastic_depth" default:"0" check:"0..0.99" zero:"off" help:"probability with which a residual branch of the last block is dropped for an utterance, in training; less in the blocks before, in proportion to their number"`
}

// OptimizerConfig is about updates.
type OptimizerConfig struct {
	BatchSize     int      `yaml:"batch_size" default:"8" check:"1.." help:"utterances in a micro-batch: the most that one forward and backward pass takes"`
	GradAccum     int      `yaml:"grad_accum" default:"2" check:"1.." alias:"gradient_accumulation_steps" help:"micro-batches in an update: batch_size x grad_accum utterances"`
	NumEpochs     int      `yaml:"num_epochs" default:"30" check:"1..1000000000" help:"passes over the training data"`
	MaxUpdates    int      `yaml:"max_updates" default:"0" check:"0.." zero:"no limit" resume:"free" help:"stop after this many updates"`
	LearningRate  float64  `yaml:"learning_rate" default:"0.001" check:">0..1" help:"peak learning rate, reached at the end of the warm-up"`
	WarmupUpdates int      `yaml:"warmup_updates" default:"1000" check:"1.." help:"updates over which the learning rate rises"`
	WarmupShare   float64  `yaml:"warmup_share" default:"0" check:"share" zero:"warmup_updates counts" instead:"warmup_updates" help:"in place of warmup_updates: share of the updates of num_epochs over which the learning rate rises"`
	LongWarmup    bool     `yaml:"long_warmup" default:"false" check:"any" resume:"free" help:"allow a warm-up that is longer than num_epochs: the learning rate never gets to its peak"`
	Schedule      string   `yaml:"schedule" default:"noam" check:"noam|cosine|linear|one_cycle|constant" help:"what the learning rate does after the warm-up: it falls with the square root (noam), to final_rate at the end of num_epochs by half a cosine or a line (cosine, linear), to next to nothing by half a cosine, as it rises before (one_cycle), or stays (constant)"`
	FinalRate     float64  `yaml:"final_rate" default:"0" check:"share" help:"share of learning_rate at which the schedules cosine and linear end"`
	WeightDecay   float64  `yaml:"weight_decay" default:"0.001" check:"0..<1" help:"decoupled weight decay"`
	EMADecay      float64  `yaml:"ema_decay" default:"0" check:"0..<1" zero:"off" help:"keep an exponential moving average of the weights, of which this share stays at each update, such as 0.999; it is what is validated, tested and saved as the model"`
	WeightDecayOf []string `yaml:"weight_decay_of" default:"" check:"words" help:"weight decay of parts of the network in place of weight_decay, PATTERN=DECAY, such as decoder=0.01; patterns are as in dropout_of"`
	GradClip      float64  `yaml:"grad_clip" default:"5" check:">0.." help:"largest gradient norm; larger ones are scaled down"`
	Freeze        []string `yaml:"freeze" default:"" check:"words" resume:"fixed" help:"parts of the network that stay as they are, by the first names of their parameters, such as encoder.subsample,encoder.blocks.0; * stands for any one name"`
	LRScale       []string `yaml:"lr_scale" default:"" check:"words" help:"factors of learning_rate for parts of the network, PATTERN=FACTOR, such as encoder=0.1; patterns are as in dropout_of"`
}

// RunConfig is about one run on one machine: it may differ when a run is resumed.
type RunConfig struct {
	CheckpointDir   string  `yaml:"checkpoint_dir" default:"runs/default" check:"not empty path" resume:"free" help:"folder for checkpoints"`
	LogDir          string  `yaml:"log_dir" default:"" check:"path" zero:"checkpoint_dir" resume:"free" help:"folder for metrics.jsonl and validations.jsonl"`
	Listen          string  `yaml:"listen" default:"" check:"any" zero:"no page" resume:"session" help:"address of a page that shows the run in a browser while it goes on: HOST:PORT, as 127.0.0.1:8420 (port 0: any that is free), or unix:PATH of a socket; figures for Prometheus are at /metrics there"`
	ListenPublic    bool    `yaml:"listen_public" default:"false" check:"any" resume:"session" help:"allow a listen address that other machines reach: all who reach it see the run and hear its worst utterances, without a password"`
	Tensorboard     string  `yaml:"tensorboard" default:"" check:"path" zero:"no event files" resume:"free" help:"event files for TensorBoard: true writes them beside metrics.jsonl; anything else is a folder for them, of this run alone"`
	MLflow          string  `yaml:"mlflow" default:"" check:"any" zero:"none" resume:"free" help:"URL of an MLflow tracking server that is told of the run, such as http://127.0.0.1:5000; who asks comes from MLFLOW_TRACKING_USERNAME and _PASSWORD, or MLFLOW_TRACKING_TOKEN"`
	MLflowExp       string  `yaml:"mlflow_experiment" default:"konkanitrain" check:"not empty" resume:"free" help:"experiment of the MLflow server that the run belongs to; it is made if it isn't there"`
	Resume          string  `yaml:"resume" default:"" check:"path" resume:"session" help:"checkpoint to go on from: a folder, or auto for the newest whole one in checkpoint_dir"`
	InitFrom        string  `yaml:"init_from" default:"" check:"path" resume:"session" help:"checkpoint or model.safetensors whose weights a new run starts with; its vocabulary may be another"`
	InitPartial     bool    `yaml:"init_partial" default:"false" check:"any" resume:"session" help:"with init_from: take what fits of a model of another depth or width, and draw the rest"`
	Device          string  `yaml:"device" default:"auto" check:"not empty" help:"what computes: auto (a card, or else the CPU), cpu, cuda or cuda:N, the card with this number"`
	CUDADriver      string  `yaml:"cuda_driver" default:"" check:"path" zero:"the system's" resume:"free" help:"file of the CUDA driver's library, libcuda.so.1"`
	CUDABLAS        string  `yaml:"cuda_blas" default:"" check:"path" zero:"the newest that is found" resume:"free" help:"file of cuBLAS, such as libcublas.so.12"`
	FP16            bool    `yaml:"fp16" default:"false" check:"any" alias:"mixed_precision" help:"half precision; on a CPU: saved activations take half the memory, a little slower"`
	CPUWorkers      int     `yaml:"cpu_workers" default:"0" check:"0..1024" zero:"one for each core" help:"compute workers on a CPU, each with a whole core"`
	MemoryLimit     string  `yaml:"memory_limit" default:"auto" check:"not empty" resume:"free" help:"the most memory that the run may hold in all, as 2GiB; auto: what the machine, its control group or ulimit leaves"`
	MemoryFraction  float64 `yaml:"memory_fraction" default:"0" check:"share" zero:"0.9 of the machine's memory, or all of a memory_limit that is given" resume:"free" help:"share of the machine's memory, or of memory_limit, that the run may hold"`
	AutoFit         bool    `yaml:"auto_fit" default:"true" check:"any" resume:"free" help:"choose smaller micro-batches, or compute values again, where memory asks for it; the effective batch stays. Without it what doesn't fit is an error"`
	Recompute       string  `yaml:"recompute" default:"auto" check:"auto|none|blocks|all" resume:"free" help:"compute values again for the backward pass instead of keeping them: those inside the network's blocks, or all; auto: where memory asks for it. The result is the same to the bit"`
	OnOOM           string  `yaml:"on_oom" default:"stop" check:"stop|skip" resume:"free" help:"what becomes of an utterance for which there isn't enough memory even alone: the run saves and stops, or it is named and left out"`
	MemoryLog       string  `yaml:"memory_log" default:"stages" check:"off|stages|batch" resume:"free" help:"when the memory in use is printed: at each stage of the run, or after each batch too"`
	Seed            uint64  `yaml:"seed" default:"1" check:"any" help:"seed of all random numbers"`
	SaveEvery       int     `yaml:"save_every" default:"0" check:"0.." zero:"each epoch" help:"updates between checkpoints"`
	KeepLast        int     `yaml:"keep_last" default:"3" check:"1.." resume:"free" help:"checkpoints to keep, beside the best one and those for average_last"`
	AverageLast     int     `yaml:"average_last" default:"0" check:"0.." zero:"off" help:"at the end of training, average the weights of this many checkpoints (the last ones that save_every asked for, and the end's) into checkpoint_dir/averaged"`
	EvalEvery       int     `yaml:"eval_every" default:"0" check:"0.." zero:"each epoch" help:"updates between validations"`
	BestBy          string  `yaml:"best_by" default:"auto" check:"auto|wer|cer|loss" help:"what makes a validation the best, and of which equals the rest decides; auto: wer, and cer as long as wer is 90 % or more"`
	EarlyStop       int     `yaml:"early_stop" default:"0" check:"0.." zero:"never" help:"stop after this many validations without a better score"`
	EarlyStopDelta  float64 `yaml:"early_stop_delta" default:"0" check:"0.." zero:"any improvement counts" help:"how much better a score has to be to count for early_stop: points of percent of wer and cer, nats of loss"`
	LogEvery        int     `yaml:"log_every" default:"10" check:"1.." resume:"free" help:"updates between progress lines"`
	WorstUtterances int     `yaml:"worst_utterances" default:"20" check:"0..1000" zero:"none, and no validations.jsonl" unit:"utterances" resume:"free" help:"how many of a validation's worst utterances are written to validations.jsonl, with what was recognized"`
	BlankAlarm      int     `yaml:"blank_alarm" default:"500" check:"0.." unit:"updates" help:"updates after which a validation says it where nothing comes out, and behind the warm-up also where blank is in less than 5 % or more than 98 % of the frames; in a short run a third of it, 3 epochs at least"`
	SnapshotEvery   int     `yaml:"snapshot_every" default:"50" check:"0.." zero:"never" resume:"free" help:"on a card: updates between copies of weights and moments to the host's memory, from which the run is saved if the card fails"`
	CacheClearEvery int     `yaml:"cache_clear_every" default:"50" check:"0.." zero:"never" help:"updates between returns of idle memory to the system"`
	ProfileSteps    int     `yaml:"profile_steps" default:"0" check:"0.." zero:"off" resume:"session" help:"measure this many updates, print a table of the time by operation, and stop"`
	FindLR          bool    `yaml:"find_lr" default:"false" check:"any" resume:"session" help:"find a learning_rate: train for up to 200 updates while the rate rises from 1e-6 to 1, print and plot the losses, suggest a rate, and stop; no checkpoint is made"`
}

// Default is the configuration of a run that sets nothing.
func Default() Config {
	var c Config
	settings.Defaults(&c)
	return c
}

// Network is the architecture for a vocabulary of vocab entries.
func (c Config) Network(vocab int) model.Config {
	m := c.Model
	return model.Config{
		DModel: m.DModel, Heads: m.Heads, EncoderLayers: m.EncoderLayers, DecoderLayers: m.DecoderLayers,
		ConvKernel: m.ConvKernel, Subsampling: m.Subsampling, SubsampleChannels: m.SubsampleChannels,
		NumMels: c.Data.NumMels, Vocab: vocab, Dropout: m.Dropout, DropoutOf: m.DropoutOf, CTCWeight: m.CTCWeight, LabelSmoothing: m.LabelSmoothing,
		CTCSmoothing: m.CTCSmoothing, InterCTCWeight: m.InterCTCWeight, BlankBias: m.BlankBias, BranchShrink: m.BranchShrink, StochasticDepth: m.StochasticDepth,
	}
}

// Policy is the text policy.
func (c Config) Policy() text.Policy { return c.Data.TextConfig.Policy() }

// Features are the settings of the feature extraction; stats are needed for global normalization.
func (c Config) Features(stats *feature.Stats) feature.Options {
	o := feature.Default()
	o.SampleRate, o.NumMels, o.Normalize, o.Stats = c.Data.SampleRate, c.Data.NumMels, c.Data.Normalize, stats
	o.HighHz, o.SampleScale = c.Data.HighHz, c.Data.SampleScale
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
	a.LightEpochs = c.Data.LightFirstEpochs
	a.VTLP, a.Pitch, a.TimeShift, a.Volume = c.Data.VTLP, c.Data.Pitch, c.Data.TimeShift, c.Data.Volume
	a.ReverbShare, a.BandwidthShare = c.Data.ReverbShare, c.Data.BandwidthShare
	if len(c.Data.NoiseSNR) == 2 {
		a.NoiseShare, a.NoiseSNR = c.Data.NoiseShare, [2]float64(c.Data.NoiseSNR)
	}
	return a
}

// Window is the number of utterances in an update.
func (c Config) Window() int { return c.Optimizer.BatchSize * c.Optimizer.GradAccum }
