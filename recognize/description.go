package recognize

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"konkanitrain/checkpoint"
	"konkanitrain/data/cut"
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/internal/words"
	"konkanitrain/model"
)

// Description is all that is needed to use a model's weights, and a few facts to show. It is saved with them.
type Description struct {
	Network    model.Config
	Features   feature.Options // without its Resampler
	Vocabulary text.Tokenizer
	Policy     text.Policy
	Phrases    *cut.Phrases // what the utterances of training were like; nil where it isn't known

	Update int // that the weights are those after
	// EMADecay is that of the moving averages of the weights which these are; 0: they are the weights themselves.
	EMADecay float64
	MeanOf   []int       // the updates whose weights they are the mean of; empty for those of one update
	Score    *Evaluation // the last validation of these weights; nil without one
}

// metadataKey is the key of a description in the metadata of a safetensors file.
const metadataKey = "konkanitrain"

// descriptionFormat is the version of a description. It changes when an older program would misread it; what is only
// added is passed over by older programs. Format 2 has tokenizers and rules for texts that format 1 has not, format 3
// another scale of samples and another upper edge of the mel bins: what has none of them is written in format 1.
const descriptionFormat = 3

// written is a description as it is written.
type written struct {
	Format     int              `json:"format"`
	Network    model.Config     `json:"network"`
	Features   *writtenFeatures `json:"features"`
	Vocabulary text.Stored      `json:"vocabulary"`
	Text       *writtenPolicy   `json:"text"`
	Phrases    *cut.Phrases     `json:"phrases,omitempty"`
	Update     int              `json:"update"`
	EMADecay   float64          `json:"ema_decay,omitempty"`
	MeanOf     []int            `json:"mean_of,omitempty"`
	Score      *Evaluation      `json:"score,omitempty"`
}

type writtenFeatures struct {
	SampleRate int     `json:"sample_rate"` // Hz
	LowHz      float64 `json:"low_hz"`
	Normalize  string  `json:"normalize"`
	// What came later is left out where it is as it was before.
	HighHz      float64 `json:"high_hz,omitempty"`
	SampleScale float64 `json:"sample_scale,omitempty"`
	// Of global normalization, over the training set: the number of frames, and of each bin mean and deviation.
	Frames    int64     `json:"frames,omitempty"`
	Mean      []float64 `json:"mean,omitempty"`
	Deviation []float64 `json:"deviation,omitempty"`
}

// writtenPolicy is a text.Policy; what it didn't have in format 1 is left out where it is not set.
type writtenPolicy struct {
	KeepJoiners       bool   `json:"keep_joiners"`
	FoldDigits        bool   `json:"fold_digits"`
	RemovePunctuation bool   `json:"remove_punctuation,omitempty"`
	LowerCase         bool   `json:"lower_case,omitempty"`
	AllowedCharacters string `json:"allowed_characters,omitempty"`
}

// format is the lowest whose programs read the description rightly.
func (d *Description) format() int {
	if d.Features.HighHz != 0 || d.Features.SampleScale != feature.SixteenBits {
		return 3
	}
	_, characters := text.Bare(d.Vocabulary).(*text.Vocabulary)
	if old := (text.Policy{KeepJoiners: d.Policy.KeepJoiners, FoldDigits: d.Policy.FoldDigits}); characters && d.Policy == old {
		return 1
	}
	return 2
}

// Encode makes the metadata entries that describe a model in its file. They are the same for the same weights: the time
// that the validation took is left out, and its scores without punctuation, and why confidences aren't calibrated. The
// error says what makes no model.
func (d *Description) Encode() (map[string]string, error) {
	if err := d.validate(); err != nil {
		return nil, err
	}
	w := written{
		Format: d.format(), Network: d.Network, Vocabulary: text.Stored{Tokenizer: d.Vocabulary}, Update: d.Update, EMADecay: d.EMADecay, MeanOf: d.MeanOf,
		Features: &writtenFeatures{SampleRate: d.Features.SampleRate, LowHz: d.Features.LowHz, Normalize: d.Features.Normalize, HighHz: d.Features.HighHz},
		Text:     (*writtenPolicy)(&d.Policy), Phrases: d.Phrases,
	}
	if d.Features.SampleScale != feature.SixteenBits {
		w.Features.SampleScale = d.Features.SampleScale
	}
	if s := d.Features.Stats; s != nil {
		w.Features.Frames, w.Features.Mean, w.Features.Deviation = s.Frames, s.Mean, s.Deviation
	}
	if d.Score != nil {
		score := *d.Score
		score.Took, score.Score.Plain = 0, nil
		if c := score.Confidences; c != nil && c.Calibration == nil {
			score.Confidences = nil
		}
		w.Score = &score
	}
	b, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("describing the model: %w", err)
	}
	return map[string]string{metadataKey: string(b)}, nil
}

// ErrNoDescription is in the chain of errors about files that don't say what model they hold.
var ErrNoDescription = errors.New("the file doesn't describe its model")

// Decode reads a description from the metadata of a model's file.
func Decode(metadata map[string]string) (*Description, error) {
	encoded, ok := metadata[metadataKey]
	if !ok {
		return nil, fmt.Errorf("%w: its metadata has no key %q with network, vocabulary and feature settings, as every "+
			"%s saved by this version of konkanitrain has", ErrNoDescription, metadataKey, checkpoint.ModelFile)
	}
	// The format first: of another one nothing else is known.
	var w written
	var version struct{ Format int }
	err := json.Unmarshal([]byte(encoded), &version)
	if err == nil && (version.Format < 1 || version.Format > descriptionFormat) {
		return nil, fmt.Errorf("the model's description has format %d, this version of konkanitrain reads up to %d", version.Format, descriptionFormat)
	}
	if err == nil {
		err = json.Unmarshal([]byte(encoded), &w)
	}
	if err == nil && (w.Features == nil || w.Text == nil) {
		err = errors.New("features or text settings are missing")
	}
	if err != nil {
		return nil, fmt.Errorf("the model's description is damaged: %w", err)
	}
	d := &Description{
		Network: w.Network, Vocabulary: w.Vocabulary.Tokenizer, Policy: text.Policy(*w.Text), Phrases: w.Phrases, Update: w.Update, EMADecay: w.EMADecay, MeanOf: w.MeanOf, Score: w.Score,
		Features: feature.Options{
			SampleRate: w.Features.SampleRate, NumMels: w.Network.NumMels, LowHz: w.Features.LowHz, HighHz: w.Features.HighHz,
			SampleScale: cmp.Or(w.Features.SampleScale, feature.SixteenBits), Normalize: w.Features.Normalize,
		},
	}
	if w.Features.Mean != nil || w.Features.Deviation != nil {
		d.Features.Stats = &feature.Stats{Frames: w.Features.Frames, Mean: w.Features.Mean, Deviation: w.Features.Deviation}
	}
	return d, d.validate()
}

// oldState is what is read of a checkpoint's state where its model doesn't describe itself: state format 1.
type oldState struct {
	Format     int
	Config     json.RawMessage // all settings of the run, by key
	Vocabulary text.Stored
	Stats      *feature.Stats `json:"feature_stats"`
	Progress   struct{ Updates int }
	Averaged   []int
	Score      *Evaluation
}

// oldSettings are the settings of a run that its model needs beside those of the network.
type oldSettings struct {
	SampleRate  int    `json:"sample_rate"`
	Normalize   string `json:"normalize"`
	KeepJoiners bool   `json:"keep_joiners"`
	FoldDigits  bool   `json:"fold_digits"`
}

// fromState reads a description from the state in a checkpoint's trainer.json, as it was before models described
// themselves.
func fromState(state json.RawMessage) (*Description, error) {
	var s oldState
	if err := json.Unmarshal(state, &s); err != nil {
		return nil, fmt.Errorf("the checkpoint's state is damaged: %w", err)
	}
	if s.Format != 1 {
		return nil, fmt.Errorf("the checkpoint has format %d and its model no description; this version of konkanitrain reads format 1 without one", s.Format)
	}
	d := &Description{Vocabulary: s.Vocabulary.Tokenizer, Features: feature.Default(), Update: s.Progress.Updates, MeanOf: s.Averaged, Score: s.Score}
	if d.Vocabulary != nil {
		d.Network.Vocab = d.Vocabulary.Size()
	}
	var o oldSettings
	var keys map[string]json.RawMessage
	for _, dst := range []any{&d.Network, &o, &keys} { // the network's keys are those of its JSON form
		if err := json.Unmarshal(s.Config, dst); err != nil {
			return nil, fmt.Errorf("the checkpoint's configuration: %w", err)
		}
	}
	var missing []string
	for _, key := range slices.Concat(keysOf(d.Network), keysOf(o)) {
		if _, ok := keys[key]; !ok && key != "vocab" {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("the checkpoint's configuration has no %s", strings.Join(missing, ", "))
	}
	d.Features.SampleRate, d.Features.NumMels, d.Features.Normalize, d.Features.Stats = o.SampleRate, d.Network.NumMels, o.Normalize, s.Stats
	d.Policy = text.Policy{KeepJoiners: o.KeepJoiners, FoldDigits: o.FoldDigits}
	return d, d.validate()
}

// keysOf lists the JSON keys of a struct that are always written: what came later is left out where it is not set.
func keysOf(v any) (keys []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
		if key, options, _ := strings.Cut(f.Tag.Get("json"), ","); options != "omitempty" {
			keys = append(keys, key)
		}
	}
	return keys
}

// validate lists everything that makes no model.
func (d *Description) validate() error {
	if d.Vocabulary == nil {
		return errors.New("the model's description has no vocabulary")
	}
	var problems []error
	if d.Network.Vocab != d.Vocabulary.Size() {
		problems = append(problems, fmt.Errorf("the network is for a vocabulary of %d entries, and its vocabulary has %d", d.Network.Vocab, d.Vocabulary.Size()))
	}
	if d.Network.NumMels != d.Features.NumMels {
		problems = append(problems, fmt.Errorf("the network hears %d mel bins, and the features have %d", d.Network.NumMels, d.Features.NumMels))
	}
	if set := d.Policy.AllowedCharacters; set != "" {
		problems = append(problems, text.ParseCharacters(set))
	}
	if d.Phrases != nil {
		problems = append(problems, d.Phrases.Validate())
	}
	if err := errors.Join(append(problems, d.Network.Validate(), d.Features.Validate())...); err != nil {
		return fmt.Errorf("the model's description: %w", err)
	}
	return nil
}

// calibration is that of the confidences of greedy decoding; nil: there is none.
func (d *Description) calibration() *Calibration {
	if d.Score == nil || d.Score.Confidences == nil {
		return nil
	}
	return d.Score.Confidences.Calibration
}

// String is one line: how far it was trained, how large it is, how well it did on validation.
func (d *Description) String() string {
	s := fmt.Sprintf("update %d, %v, vocabulary %d", d.Update, model.Count(d.Network), d.Vocabulary.Size())
	if d.EMADecay > 0 {
		s += fmt.Sprintf(", moving averages of the weights (ema_decay %g)", d.EMADecay)
	}
	if len(d.MeanOf) > 0 {
		s += ", mean of the weights after " + UpdatesText(d.MeanOf)
	}
	if e := d.Score; e != nil {
		s += fmt.Sprintf(", validation WER %.2f %% CER %.2f %%", 100*e.WER, 100*e.CER)
	}
	return s
}

// UpdatesText is "updates 3, 4, 5".
func UpdatesText(updates []int) string {
	var s []string
	for _, n := range updates {
		s = append(s, strconv.Itoa(n))
	}
	if len(s) == 1 {
		return "update " + s[0]
	}
	return "updates " + words.List(s, 20)
}
