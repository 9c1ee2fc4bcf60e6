package main

import (
	"konkanitrain/internal/scores"
	"konkanitrain/recognize"
)

// evalRecord is the result for programs.
type evalRecord struct {
	Model    string                `json:"model"`
	Manifest string                `json:"manifest"`
	Listed   int                   `json:"listed"`           // lines
	Scored   int                   `json:"scored"`           // of them; the others are left out
	Result   *recognize.Evaluation `json:"result,omitempty"` // nil of alignments that were read
	LeftOut  []leftOutLine         `json:"left_out"`         // not in the result; of many of a kind the first
	Counts   map[string]int        `json:"left_out_counts"`
	Outside  *outsideLetters       `json:"outside_vocabulary,omitempty"`
	Report   *scores.Report        `json:"report,omitempty"`
	Against  *evalRecord           `json:"against,omitempty"`
	Compared *scores.Comparison    `json:"comparison,omitempty"` // with Against
}

// outsideLetters counts the letters of the references that the model can't write.
type outsideLetters struct {
	Letters int `json:"letters"` // all
	Outside int `json:"outside"`
}

// record is the result for programs.
func (r *evalResult) record() *evalRecord {
	x := &evalRecord{
		Model: r.model, Manifest: r.manifest, Listed: r.leftOut.listed, Scored: r.leftOut.scored, Result: r.scored,
		LeftOut: r.leftOut.lines(), Counts: r.leftOut.counts(), Report: r.report,
	}
	if r.audit != nil && r.audit.Unknown.Outside > 0 {
		u := &r.audit.Unknown
		x.Outside = &outsideLetters{u.Letters, u.Outside}
	}
	if r.against != nil {
		x.Against, x.Compared = r.against.record(), r.comparison
		x.Against.Report = nil // the comparison has what counts
	}
	return x
}
