package export

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"text/template"

	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/recognize"
)

// cardText is the form of a model card.
//
//go:embed card.tmpl
var cardText string

var cardTemplate = template.Must(template.New("card").Funcs(template.FuncMap{
	"percent": func(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) },
	"yaml": func(s string) string { // quoted, so that nothing in it is YAML
		b, _ := json.Marshal(s)
		return string(b)
	},
}).Parse(cardText))

// history is what a checkpoint's state says of the training.
type history struct {
	Config struct {
		TrainManifest []string `json:"train_manifest"`
		ValManifest   []string `json:"val_manifest"`
	} `json:"config"`
	Progress struct {
		Epoch      int     `json:"epoch"`
		SetSize    int     `json:"set_size"`
		SetSeconds float64 `json:"set_seconds"`
	} `json:"progress"`
}

// cardData is what the card's form asks for.
type cardData struct {
	*recognize.Description
	Options  Options
	Counts   model.Counts
	Train    []string // the sets' names, without folders
	Validate []string
	Size     int    // utterances of the training set; 0: unknown
	Sound    string // how long they are; "": unknown
	Epochs   int
	High     float64 // Hz
	Text     string
	Normal   string
	Report   *Report
}

// card is README.md: a model card. What isn't known of the training is left out. r is nil for tensors.
func card(m *recognize.Stored, o Options, r *Report) []byte {
	d := m.Description
	c := cardData{Options: o, Description: d, Counts: model.Count(d.Network), High: d.Features.High(), Text: d.TextRules(), Normal: d.Normalizing(), Report: r}
	var h history
	if json.Unmarshal(m.State, &h) == nil {
		c.Train, c.Validate, c.Size, c.Epochs = bases(h.Config.TrainManifest), bases(h.Config.ValManifest), h.Progress.SetSize, h.Progress.Epoch
		if h.Progress.SetSeconds > 0 {
			c.Sound = words.Duration(h.Progress.SetSeconds)
		}
	}
	var b bytes.Buffer
	if err := cardTemplate.Execute(&b, c); err != nil {
		return []byte(err.Error()) // tests fill in every field
	}
	return b.Bytes()
}

// bases are names without their folders: where they lie on the machine of training is nobody's business.
func bases(paths []string) (names []string) {
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	return names
}
