package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"konkanitrain/checkpoint"
	"konkanitrain/data/cut"
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/internal/words"
	"konkanitrain/recognize"
	"konkanitrain/train"
)

// about is what info shows.
type about struct {
	Asked      string                `json:"path"`  // as it was given
	Model      string                `json:"model"` // that was found there
	Kind       modelKind             `json:"kind"`
	Run        string                `json:"run,omitempty"` // the checkpoint_dir that the model lies in
	Update     int                   `json:"update"`
	EMADecay   float64               `json:"ema_decay,omitempty"`
	MeanOf     []int                 `json:"mean_of,omitempty"`
	Odd        string                `json:"not_finite,omitempty"` // the first weight that is no finite number
	Network    any                   `json:"network"`
	Parameters int                   `json:"parameters"`
	Parts      []recognize.PartSize  `json:"parts"`
	Vocabulary vocabularyAbout       `json:"vocabulary"`
	Features   featuresAbout         `json:"features"`
	Texts      string                `json:"texts"`
	Phrases    *cut.Phrases          `json:"phrases,omitempty"`  // of training, in seconds
	Training   *train.History        `json:"training,omitempty"` // nil of a lone file
	Score      *recognize.Evaluation `json:"score,omitempty"`    // the last validation of these weights
	Scores     []train.RunScore      `json:"scores"`             // over the run
	Files      []fileAbout           `json:"files"`
	Bytes      int64                 `json:"checkpoints_bytes,omitempty"` // of all checkpoints of the run
	Whole      bool                  `json:"whole"`                       // the files' checksums hold; a lone file has none
	Use        []string              `json:"use"`                         // commands

	description *recognize.Description
	checkpoints int // of the run
}

// modelKind is what a path has turned out to be.
type modelKind string

const (
	aRun        modelKind = "run"
	aCheckpoint modelKind = "checkpoint"
	aModel      modelKind = "model"
)

// vocabularyAbout is what a model writes.
type vocabularyAbout struct {
	Kind    string                  `json:"kind"` // "40 characters"
	Size    int                     `json:"size"` // with blank, sos/eos and unk
	Scripts []recognize.ScriptCount `json:"scripts"`
	Tokens  []string                `json:"tokens"` // without these three
}

func vocabularyOf(d *recognize.Description) vocabularyAbout {
	return vocabularyAbout{text.Bare(d.Vocabulary).String(), d.Vocabulary.Size(), d.Scripts(), text.Shown(d.Vocabulary)}
}

// featuresAbout is what a model hears.
type featuresAbout struct {
	SampleRate  int     `json:"sample_rate"` // Hz
	NumMels     int     `json:"num_mels"`
	LowHz       float64 `json:"low_hz"`
	HighHz      float64 `json:"high_hz"` // of the last filter
	SampleScale float64 `json:"sample_scale"`
	Normalize   string  `json:"normalize"`
}

func featuresOf(f feature.Options) featuresAbout {
	return featuresAbout{f.SampleRate, f.NumMels, f.LowHz, f.High(), f.SampleScale, f.Normalize}
}

// fileAbout is a file of a model, or a checkpoint of a run.
type fileAbout struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// addRun adds what a checkpoint says of its training, and the run of its scores.
func (a *about) addRun(m *recognize.Stored) error {
	a.Kind, a.Scores = aModel, []train.RunScore{}
	if m.State == nil {
		return nil
	}
	a.Kind, a.Whole = aCheckpoint, true
	folder := filepath.Clean(m.Path)
	if filepath.Base(folder) == checkpoint.ModelFile {
		folder = filepath.Dir(folder)
	}
	a.Run = filepath.Dir(folder)
	if filepath.Base(a.Run) == recognize.AveragedDir {
		a.Run = filepath.Dir(a.Run)
	}
	if filepath.Clean(a.Asked) == a.Run {
		a.Kind = aRun
	}
	var err error
	if a.Training, err = train.ReadHistory(m.State); err != nil {
		return fmt.Errorf("%s: %w", m.Path, err)
	}
	a.Scores, err = a.Training.Scores(a.Run)
	return err
}

// addFiles adds the sizes of files.
func (a *about) addFiles(m *recognize.Stored) error {
	if a.Kind == aModel {
		file := m.Path
		if stat, err := os.Stat(file); err == nil && stat.IsDir() {
			file = filepath.Join(file, checkpoint.ModelFile)
		}
		stat, err := os.Stat(file)
		if err != nil {
			return err
		}
		a.Files = []fileAbout{{file, stat.Size()}}
		return nil
	}
	folder := m.Path
	if filepath.Base(folder) == checkpoint.ModelFile {
		folder = filepath.Dir(folder)
	}
	var err error
	if a.Files, err = filesIn(folder); err != nil {
		return err
	}
	list, err := checkpoint.List(a.Run)
	if err != nil {
		return err
	}
	for _, c := range list {
		files, err := filesIn(c.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a run in progress has removed it
		}
		if err != nil {
			return err
		}
		a.checkpoints++
		for _, f := range files {
			a.Bytes += f.Bytes
		}
	}
	return nil
}

// filesIn are the files of a folder.
func filesIn(folder string) (list []fileAbout, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		list = append(list, fileAbout{filepath.Join(folder, e.Name()), info.Size()})
	}
	return list, nil
}

// commands are ways to use the model. A start needs the model itself and its settings, where the others take a run.
func (a *about) commands() []string {
	path := words.Shell(a.Asked)
	list := []string{
		"konkanitrain transcribe --checkpoint " + path + " one.wav two.mp3",
		"konkanitrain eval --checkpoint " + path + " --manifest test.jsonl",
		"konkanitrain export " + path + " --format onnx --output exported",
		"konkanitrain --config its.yaml --train_manifest more.jsonl --init_from " + words.Shell(a.Model) + " --checkpoint_dir runs/next",
	}
	if a.Kind == aRun {
		list = append(list, "konkanitrain --checkpoint_dir "+path+" --resume auto", "konkanitrain watch "+path)
	}
	return list
}
