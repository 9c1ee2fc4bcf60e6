package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"konkanitrain/data"
	"konkanitrain/data/text"
	"konkanitrain/internal/scores"
	"konkanitrain/recognize"
)

// Heads of files with alignments.
const (
	alignmentsHead      = "# konkanitrain: each reference over what was recognized, by characters as readers see them; S substituted, D deleted, I inserted, * nothing\n"
	alignmentsHeadJSONL = `{"event":"alignments","by":"konkanitrain eval"}` + "\n"
)

// columns is how wide a line of an alignment is at most, without what is in front.
const alignedColumns = 100

// alignments writes how each utterance was recognized: for reading, or as JSON lines where the file's name ends in
// .jsonl.
type alignments struct {
	*resultFile
	jsonl bool
	keys  []string // whose values utterances have
}

func newAlignments(path string, keys []string, out io.Writer) alignments {
	a := alignments{jsonl: strings.EqualFold(filepath.Ext(path), ".jsonl"), keys: keys}
	head := alignmentsHead
	if a.jsonl {
		head = alignmentsHeadJSONL
	}
	a.resultFile = newResultFile("alignments", path, head, out)
	return a
}

// add writes an utterance that was scored. Others come with the rest that was left out.
func (a alignments) add(h recognize.Hypothesis) error {
	if h.Err != nil {
		return nil
	}
	u := h.Scored()
	if !a.jsonl {
		return a.printf("\n%s", alignedText(&u))
	}
	values := map[string]string{}
	for i, value := range h.Utt.Values {
		values[a.keys[i]] = value
	}
	return a.record(struct {
		Event string `json:"event"`
		scores.Utterance
		Values   map[string]string `json:"values,omitempty"`
		Words    []scores.Pair     `json:"aligned_words"`
		Clusters []scores.Pair     `json:"aligned_clusters"`
	}{"utterance", u, values, scores.AlignWords(u.Reference, u.Hypothesis), scores.AlignClusters(u.Reference, u.Hypothesis)})
}

// record writes a JSON line.
func (a alignments) record(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return a.printf("%s\n", line)
}

// leftOut writes what was not scored, and ends the file.
func (a alignments) leftOut(l leftOut) error {
	if a.jsonl {
		return a.leftOutJSONL(l)
	}
	if err := a.printf("\n# %s\n", l.model); err != nil {
		return err
	}
	if err := a.printf("# %d lines listed, %d scored\n", l.listed, l.scored); err != nil || l.listed == l.scored {
		return err
	}
	if err := a.printf("# %d left out: %s\n", l.listed-l.scored, l.reasons()); err != nil {
		return err
	}
	for _, n := range l.notes {
		if err := a.printf("#   %s (%s), %s: %s\n", n.ID, data.Where(n.File, n.Line), n.Kind, oneCell(n.Reason)); err != nil {
			return err
		}
	}
	for _, more := range l.more() {
		if err := a.printf("#   %s\n", more); err != nil {
			return err
		}
	}
	return nil
}

func (a alignments) leftOutJSONL(l leftOut) error {
	for _, line := range l.lines() {
		err := a.record(struct {
			Event string `json:"event"`
			leftOutLine
		}{"left_out", line})
		if err != nil {
			return err
		}
	}
	return a.record(alignmentsEnd{"end", l.model, l.listed, l.scored, l.counts()})
}

// alignmentsEnd is the last JSON line.
type alignmentsEnd struct {
	Event  string         `json:"event"`
	Model  string         `json:"model"`
	Listed int            `json:"listed"`
	Scored int            `json:"scored"`
	Counts map[string]int `json:"left_out_counts"`
}

// alignedText is an utterance for people: what it is, and its alignment below.
func alignedText(u *scores.Utterance) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  (%s)  words %s  characters %s\n", u.ID, data.Where(u.Manifest, u.Line), edits(u.Words), edits(u.Chars))
	for _, r := range scores.Lay(scores.AlignClusters(u.Reference, u.Hypothesis), alignedColumns) {
		fmt.Fprintf(&b, "  ref  %s\n  hyp  %s\n", r.Ref, r.Hyp)
		if r.Marks != "" {
			fmt.Fprintf(&b, "       %s\n", r.Marks)
		}
	}
	return b.String()
}

// edits is "3/8: 2 sub, 1 del", or "right" of none.
func edits(c text.Counts) string {
	if c.Errors() == 0 {
		return "right"
	}
	var parts []string
	for _, kind := range []struct {
		n    int
		name string
	}{{c.Sub, "sub"}, {c.Del, "del"}, {c.Ins, "ins"}} {
		if kind.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", kind.n, kind.name))
		}
	}
	return fmt.Sprintf("%d/%d: %s", c.Errors(), c.Ref, strings.Join(parts, ", "))
}
