package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"konkanitrain/internal/words"
	"konkanitrain/recognize"
	"konkanitrain/train"
)

// text is all of it for people, in a screenful.
func (a *about) text() string {
	var b strings.Builder
	row(&b, "model", "%s", a.found())
	row(&b, "weights", "%s", a.weights())
	row(&b, "network", "%s", a.description.Architecture())
	wrapped(&b, "parameters", fmt.Sprintf("%d: %s", a.Parameters, strings.Join(a.parts(), ", ")))
	row(&b, "vocabulary", "%s, with blank, sos/eos and unk: %s", a.Vocabulary.Kind, a.scripts())
	wrapped(&b, "", sample(a.Vocabulary.Tokens, 120))
	wrapped(&b, "hears", a.description.Hearing())
	if p := a.Phrases; p != nil {
		row(&b, "utterances", "of training: %v", p)
	}
	row(&b, "writes", "%s", a.Texts)
	if a.Training == nil {
		row(&b, "training", "not told by a model's file alone: its checkpoint's folder knows data and settings")
	} else {
		a.writeTraining(&b, a.Training)
	}
	if a.Score != nil {
		row(&b, "validation", "%v", a.Score)
	}
	row(&b, "confidences", "%s", a.confidences())
	writeScores(&b, a.Scores)
	wrapped(&b, "on disk", a.onDisk())
	for i, command := range a.Use {
		name := ""
		if i == 0 {
			name = "use it"
		}
		row(&b, name, "%s", command)
	}
	return b.String()
}

// confidences says what those of words are.
func (a *about) confidences() string {
	if a.Score == nil || a.Score.Confidences == nil || a.Score.Confidences.Calibration == nil {
		return "as they are measured: training has not calibrated them; eval --save_decoding does"
	}
	return fmt.Sprintf("%v of the validation set, in greedy decoding", a.Score.Confidences)
}

// found is where the model is.
func (a *about) found() string {
	switch a.Kind {
	case aRun:
		return fmt.Sprintf("%s, of the run %s with %s", a.Model, a.Run, words.Count(a.checkpoints, "checkpoint"))
	case aCheckpoint:
		return a.Model + ", a checkpoint"
	}
	return a.Model + ", a model's file"
}

// weights says which they are.
func (a *about) weights() string {
	s := fmt.Sprintf("after update %d", a.Update)
	if a.EMADecay > 0 {
		s += fmt.Sprintf(", moving averages (ema_decay %g)", a.EMADecay)
	}
	if len(a.MeanOf) > 0 {
		s += ", the mean of those after " + recognize.UpdatesText(a.MeanOf)
	}
	if a.Odd != "" {
		s += "; " + a.Odd + ": such a network recognizes nothing; the file is damaged, or its training went wrong"
	}
	return s
}

// parts are the parameters by part, and of blocks by the kind of their layers.
func (a *about) parts() (list []string) {
	for i := 0; i < len(a.Parts); {
		p := a.Parts[i]
		if p.Blocks == 0 {
			list = append(list, fmt.Sprintf("%s %d", p.Name, p.Parameters))
			i++
			continue
		}
		stack, _, _ := strings.Cut(p.Name, ".*")
		sum, kinds := 0, []string{}
		for ; i < len(a.Parts) && strings.HasPrefix(a.Parts[i].Name, stack+".*"); i++ {
			sum += a.Parts[i].Parameters
			_, kind, _ := strings.Cut(a.Parts[i].Name, ".*.")
			kinds = append(kinds, fmt.Sprintf("%s %d", kind, a.Parts[i].Parameters/a.Parts[i].Blocks))
		}
		list = append(list, fmt.Sprintf("%s %d (%d x %d: %s)", stack, sum, p.Blocks, sum/p.Blocks, strings.Join(kinds, ", ")))
	}
	return list
}

// scripts is "Devanagari 36, without a script 1".
func (a *about) scripts() string {
	var list []string
	for _, s := range a.Vocabulary.Scripts {
		name := s.Script
		if name == "" {
			name = "of no script"
		}
		list = append(list, fmt.Sprintf("%s %d", name, s.Tokens))
	}
	return strings.Join(list, ", ")
}

// sample is all words of a list, or so many of them from its whole length.
func sample(list []string, most int) string {
	if len(list) <= most {
		return strings.Join(list, " ")
	}
	var some []string
	for i := range most {
		some = append(some, list[i*len(list)/most])
	}
	return fmt.Sprintf("%s ... (%d of %d)", strings.Join(some, " "), most, len(list))
}

// wrapped writes text that goes over several lines.
func wrapped(b *strings.Builder, name, text string) {
	for _, line := range words.Wrap(text, 98) {
		row(b, name, "%s", line)
		name = ""
	}
}

// writeTraining is what a checkpoint says of its training.
func (a *about) writeTraining(b *strings.Builder, h *train.History) {
	size := "how much isn't recorded"
	if h.Size > 0 {
		size = words.Count(h.Size, "utterance")
		if h.Sound > 0 {
			size += ", " + words.Duration(h.Sound)
		}
	}
	row(b, "trained on", "%s: %s", words.List(h.Train, 3), size)
	if len(h.Validate) > 0 {
		held := "validated on " + words.List(h.Validate, 3)
		if len(h.Test) > 0 {
			held += ", tested on " + words.List(h.Test, 3)
		}
		row(b, "held out", "%s", held)
	}
	row(b, "training", "%.4g of %s, %d utterances heard in %s, %s%s", h.Epochs, words.Count(h.Planned, "epoch"), h.Heard, words.Duration(h.Took), words.Count(h.Workers, "worker"), besides(h))
	if h.Source != "" {
		row(b, "began with", "%s", h.Source)
	}
	if len(h.Settings) > 0 {
		wrapped(b, "settings", strings.ReplaceAll(strings.Join(h.Settings, ", "), ": ", "="))
	}
}

// besides is what else there is to say of a training.
func besides(h *train.History) (s string) {
	if h.Kernels != "" {
		s = " (" + h.Kernels + ")"
	}
	if h.Skipped > 0 {
		s += ", " + words.Count(h.Skipped, "window") + " skipped"
	}
	if h.Failed > 0 {
		s += fmt.Sprintf(", %d times an utterance could not be read", h.Failed)
	}
	return s
}

// shownScores is how many validations are shown.
const shownScores = 6

// writeScores shows validations from the whole run: the first, the best, the last, and some between.
func writeScores(b *strings.Builder, all []train.RunScore) {
	var list []train.RunScore
	best := -1
	name := "over the run"
	say := func(format string, args ...any) {
		row(b, name, format, args...)
		name = ""
	}
	for _, s := range all {
		if s.Event == "validation" {
			if list = append(list, s); best < 0 || s.WER < list[best].WER || s.WER == list[best].WER && s.CER < list[best].CER {
				best = len(list) - 1
			}
		}
	}
	for i, s := range list {
		slot := func(i int) int { return i * (shownScores - 1) / max(1, len(list)-1) }
		if len(list) > shownScores && i > 0 && slot(i) == slot(i-1) && i != best {
			continue
		}
		mark := ""
		if i == best && len(list) > 1 {
			mark = "  (lowest)"
		}
		say("update %-6d  WER %6.2f %%  CER %6.2f %%  loss %.4f%s", s.Update, 100*s.WER, 100*s.CER, s.Loss, mark)
	}
	for _, s := range all {
		if s.Event == "test" {
			say("test set       WER %6.2f %%  CER %6.2f %%  loss %.4f  (%s)", 100*s.WER, 100*s.CER, s.Loss, s.Weights)
		}
	}
}

// onDisk is the sizes of files.
func (a *about) onDisk() string {
	var list []string
	for _, f := range a.Files {
		list = append(list, filepath.Base(f.Path)+" "+words.Bytes(f.Bytes))
	}
	s := strings.Join(list, ", ")
	switch {
	case a.Whole:
		s += "; the checksums hold"
	default:
		s += "; a lone file has no checksum to hold it to"
	}
	if a.checkpoints > 1 {
		s += fmt.Sprintf("; all %d checkpoints of the run %s", a.checkpoints, words.Bytes(a.Bytes))
	}
	return s
}
