// Package export writes trained models for other programs: as an ONNX graph ([ONNX]), as one that sherpa-onnx loads
// ([Sherpa]), and as tensors with a card and a Python file that loads them in PyTorch ([Safetensors]).
//
// An export is a folder that is whole or not there. What is written is a function of the model and the options: two
// exports of one model are the same, byte for byte.
package export

import (
	"fmt"
	"io"

	"konkanitrain/internal/onnx"
	"konkanitrain/recognize"
)

// Format is what a model is written as.
type Format string

// The formats.
const (
	ONNX        Format = "onnx"        // model.onnx, tokens.txt and a card
	Sherpa      Format = "sherpa-onnx" // the same, and an error where sherpa-onnx would hear something else
	Safetensors Format = "safetensors" // model.safetensors, config.json, a card, and a Python file that loads them
)

// Place says where features are computed.
type Place string

// The places.
const (
	In  Place = "in"  // in the graph, which takes samples
	Out Place = "out" // before the graph, which takes log-mel energies
)

// Form says how weights are stored: float32, float16 or int8.
type Form = onnx.Form

// Options say what is written and how.
type Options struct {
	Format   Format
	Features Place    // of the ONNX formats
	Weights  Form     // of the ONNX formats
	License  string   // for the card, such as cc-by-4.0; "" is said to be unknown
	Language string   // for the card, such as kok
	Training Training // for the card
	Version  string   // of the program, for the files
	Force    bool     // replace an export that is there
}

// file is a file of an export.
type file struct {
	name  string
	write func(w io.Writer) error
}

// Report is what was written, and what to know of it.
type Report struct {
	Path     string   `json:"path"`  // the folder
	Model    string   `json:"model"` // where the model was found
	Files    []string `json:"files"`
	Bytes    int64    `json:"bytes"`              // of all files
	Slot     *Slot    `json:"sherpa_onnx"`        // nil of what it doesn't take
	Warnings []string `json:"warnings,omitempty"` // what differs in sherpa-onnx
	Notes    []string `json:"notes,omitempty"`    // what else to know
}

// Write exports a model into the folder dir, which must not be there, or be an export that o.Force replaces.
func Write(m *recognize.Stored, dir string, o Options) (*Report, error) {
	r := &Report{Path: dir, Model: m.Path}
	files, err := r.files(m, o)
	if err != nil {
		return nil, err
	}
	if r.Bytes, err = writeFolder(dir, o.Version, files, o.Force); err != nil {
		return nil, err
	}
	for _, f := range files {
		r.Files = append(r.Files, f.name)
	}
	r.Notes = leftovers(dir)
	if n := m.Description.Network.DecoderLayers; n > 0 && o.Format != Safetensors {
		r.Notes = append(r.Notes, "the attention decoder is not in the graph: its text is that of the CTC head")
	}
	if r.Slot != nil && len(r.Warnings) == 0 && r.Slot.Note() != "" {
		r.Notes = append(r.Notes, r.Slot.Note())
	}
	if hasMark(m.Description.Vocabulary) && o.Format != Safetensors {
		r.Notes = append(r.Notes, "tokens.txt has ▁ for a space, and the model writes the character ▁ too: programs write a space for both")
	}
	return r, nil
}

// files are those of a format. What stands in the way is found before anything is written.
func (r *Report) files(m *recognize.Stored, o Options) ([]file, error) {
	switch o.Format {
	case Safetensors:
		return tensorFiles(m, o)
	case ONNX, Sherpa:
	default:
		return nil, fmt.Errorf("format is %q; %s, %s and %s are known", o.Format, ONNX, Sherpa, Safetensors)
	}
	if o.Features == Out {
		slot := slotOf(m.Description)
		r.Slot, r.Warnings = &slot, differences(m.Description)
	}
	if o.Format == Sherpa {
		if err := refuse(m, o, r.Warnings); err != nil {
			return nil, err
		}
	}
	graph, err := onnxModel(m, o)
	if err != nil {
		return nil, err
	}
	return []file{content("model.onnx", graph), content("tokens.txt", tokens(m.Description.Vocabulary)), content("README.md", card(m, o, r))}, nil
}

// content is a file of bytes.
func content(name string, b []byte) file {
	return file{name, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}}
}
