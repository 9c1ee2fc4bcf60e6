package export

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
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
	"join":    func(list []string) string { return strings.Join(list, ", ") },
	"yaml": func(s string) string { // quoted, so that nothing in it is YAML
		b, _ := json.Marshal(s)
		return string(b)
	},
}).Parse(cardText))

// Training is what is known of a model's training. What isn't is 0 or empty.
type Training struct {
	Train, Validate, Test []string // the sets, by their manifests
	Utterances            int      // of the training set
	Seconds               float64  // of its sound
	Epochs                float64
	Settings              []string // that are not the defaults: a line each
	Tested                *Rates   // of the test set; nil where there was none
}

// Rates are error rates, shares.
type Rates struct{ WER, CER float64 }

// cardData is what the card's form asks for.
type cardData struct {
	*recognize.Description
	Options  Options
	Training Training // without folders: where sets lie on the machine of training is nobody's business
	Sound    string   // how long the training set is; "": unknown
	Counts   model.Counts
	High     float64 // Hz
	Report   *Report
}

// card is README.md: a model card. What isn't known of the training is left out. r is nil for tensors.
func card(m *recognize.Stored, o Options, r *Report) []byte {
	d := m.Description
	c := cardData{Options: o, Description: d, Training: o.Training, Counts: model.Count(d.Network), High: d.Features.High(), Report: r}
	for _, list := range []*[]string{&c.Training.Train, &c.Training.Validate, &c.Training.Test} {
		*list = bases(*list)
	}
	if s := c.Training.Seconds; s > 0 {
		c.Sound = words.Duration(s)
	}
	var b bytes.Buffer
	if err := cardTemplate.Execute(&b, c); err != nil {
		return []byte(err.Error()) // tests fill in every field
	}
	return b.Bytes()
}

// bases are names without their folders.
func bases(paths []string) (names []string) {
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	return names
}
