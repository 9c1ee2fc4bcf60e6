package export

import (
	_ "embed"
	"encoding/json"
	"io"
	"maps"

	"konkanitrain/checkpoint"
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/data/text/sentencepiece"
	"konkanitrain/internal/safetensors"
	"konkanitrain/model"
	"konkanitrain/recognize"
)

// loader is the Python file that loads an export in PyTorch.
//
//go:embed conformer.py
var loader []byte

// config is config.json: all that conformer.py needs beside the weights.
type config struct {
	Producer string         `json:"producer"`
	Network  model.Config   `json:"network"`
	Features configFeatures `json:"features"`
	Tokens   []string       `json:"tokens"` // by id
	Space    string         `json:"space"`  // what is a space in them: ▁ in pieces
}

type configFeatures struct {
	SampleRate     int       `json:"sample_rate"` // Hz
	WindowMS       int       `json:"window_ms"`
	NumMels        int       `json:"num_mels"`
	LowHz          float64   `json:"low_hz"`
	HighHz         float64   `json:"high_hz"`
	SampleScale    float64   `json:"sample_scale"`
	Preemphasis    float64   `json:"preemphasis"`
	LogFloor       float64   `json:"log_floor"`
	Normalize      string    `json:"normalize"`
	DeviationFloor float64   `json:"deviation_floor"`
	Mean           []float64 `json:"mean,omitempty"`
	Deviation      []float64 `json:"deviation,omitempty"`
}

func configOf(d *recognize.Description, version string) config {
	f := d.Features
	c := config{Producer: "konkanitrain " + version, Space: " ", Network: d.Network, Features: configFeatures{
		SampleRate: f.SampleRate, WindowMS: feature.WindowMS, NumMels: f.NumMels, LowHz: f.LowHz, HighHz: f.High(), SampleScale: f.SampleScale,
		Preemphasis: feature.Preemphasis, LogFloor: feature.LogFloor, Normalize: f.Normalize, DeviationFloor: feature.DeviationFloor,
	}}
	if s := f.Stats; s != nil {
		c.Features.Mean, c.Features.Deviation = s.Mean, s.Deviation
	}
	if inPieces(d.Vocabulary) {
		c.Space = sentencepiece.Space
	}
	for id := range int32(d.Vocabulary.Size()) {
		token := d.Vocabulary.Token(id)
		if id == text.Unk {
			token = d.Vocabulary.Decode([]int32{id})
		}
		c.Tokens = append(c.Tokens, token)
	}
	return c
}

// tensorFiles are those of the format safetensors. The tensors describe themselves as those of a checkpoint do: the
// file is a model for this program too.
func tensorFiles(m *recognize.Stored, o Options) ([]file, error) {
	all, err := weights(m)
	if err != nil {
		return nil, err
	}
	var tensors []checkpoint.Tensor
	for _, t := range all {
		tensors = append(tensors, t.floats())
	}
	metadata, err := m.Description.Encode()
	if err != nil {
		return nil, err
	}
	metadata = maps.Clone(metadata)
	metadata["format"] = "pt" // tells readers that the layout is PyTorch's
	if o.License != "" {
		metadata["license"] = o.License
	}
	c, err := json.MarshalIndent(configOf(m.Description, o.Version), "", "  ")
	if err != nil {
		return nil, err
	}
	return []file{
		{"model.safetensors", func(w io.Writer) error {
			_, err := safetensors.Write(w, tensors, metadata)
			return err
		}},
		content("config.json", append(c, '\n')), content("conformer.py", loader), content("README.md", card(m, o, nil)),
	}, nil
}
