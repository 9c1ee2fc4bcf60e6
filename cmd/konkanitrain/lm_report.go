package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"konkanitrain/internal/ngram"
	"konkanitrain/internal/words"
)

// lmReport is what became of texts.
type lmReport struct {
	Texts      []string      `json:"texts"`
	Units      ngram.Unit    `json:"units"`
	Order      int           `json:"order"`
	Estimate   *ngram.Report `json:"estimate"`
	HeldOut    []lmHeldOut   `json:"held_out,omitempty"`
	ModelBytes int64         `json:"model_bytes"` // in memory
	Output     string        `json:"output,omitempty"`
}

// lmHeldOut is what a model says of texts.
type lmHeldOut struct {
	Path string `json:"path"`
	ngram.Scored
}

// MarshalJSON adds perplexities to the sums.
func (h lmHeldOut) MarshalJSON() ([]byte, error) {
	type sums lmHeldOut
	return json.Marshal(struct {
		sums
		Perplexity      float64 `json:"perplexity"`
		KnownPerplexity float64 `json:"known_perplexity"`
	}{sums(h), h.Perplexity(), h.KnownPerplexity()})
}

// text is the report for people.
func (r lmReport) text() string {
	var s strings.Builder
	row := func(name, format string, a ...any) {
		fmt.Fprintf(&s, "%-20s  %s\n", name, fmt.Sprintf(format, a...))
	}
	e := r.Estimate
	row("texts", "%s: %s, %s", words.List(r.Texts, 3), words.Count(e.Sentences, "sentence"), words.Count(e.Words, r.Units.Noun()))
	if e.Marks > 0 {
		row("", "%s left out that are written as <s>, </s> or <unk>", words.Count(e.Marks, r.Units.Noun()))
	}
	row("vocabulary", "%s, with <unk>, <s> and </s>", words.Count(e.Vocabulary, r.Units.Noun()))
	for i, n := range e.Counted {
		kept := "none kept"
		switch {
		case i < len(e.Kept) && e.Kept[i] == n:
			kept = "all kept"
		case i < len(e.Kept):
			kept = fmt.Sprintf("%d kept", e.Kept[i])
		}
		d := e.Discounts[i]
		why := ""
		if d.Fallback {
			why = " (the usual ones: the counts give none)"
		}
		row(fmt.Sprintf("%d-grams", i+1), "%d, %s; discounts %.4f %.4f %.4f%s", n, kept, d.D[0], d.D[1], d.D[2], why)
	}
	for _, h := range r.HeldOut {
		row("held out", "%s: %s", h.Path, scoredText(h.Scored, r.Units.Noun()))
	}
	row("memory", "at most %s to make it, %s to use it", words.Bytes(e.Bytes), words.Bytes(r.ModelBytes))
	if r.Output != "" {
		row("written", "%s", r.Output)
	}
	return s.String()
}

// scoredText is what a model says of texts, for people.
func scoredText(s ngram.Scored, unit string) string {
	return fmt.Sprintf("%s, %s; perplexity %.2f, of what is known %.2f; %s unknown", words.Count(s.Sentences, "sentence"),
		words.Count(s.Words, unit), s.Perplexity(), s.KnownPerplexity(), share(s.Unknown, s.Words))
}

// comment is what stands at the start of the model's file. It says nothing of when and where.
func (r lmReport) comment() string {
	space := ""
	if r.Units == ngram.Characters {
		space = ", " + ngram.Space + " for a space"
	}
	return fmt.Sprintf("%s%s, order %d, modified Kneser-Ney, by konkanitrain lm\n%s, %s", r.Units.Heading(), space, r.Order,
		words.Count(r.Estimate.Sentences, "sentence"), words.Count(r.Estimate.Words, r.Units.Noun()))
}

// writeLM writes a model, compressed where the name says so.
func writeLM(path string, m *ngram.Model, comment string) error {
	return writeWhole("output", path, func(w io.Writer) error {
		if filepath.Ext(path) != ".gz" {
			return m.WriteARPA(w, comment)
		}
		z := gzip.NewWriter(w) // without a name and a time: the same model is the same file
		if err := m.WriteARPA(z, comment); err != nil {
			return err
		}
		return z.Close()
	})
}
