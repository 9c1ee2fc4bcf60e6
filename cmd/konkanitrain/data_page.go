package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"konkanitrain/data/audit"
	"konkanitrain/internal/auditpage"
	"konkanitrain/internal/words"
	"konkanitrain/train"
)

// What bounds a page, beside its sound.
const (
	pageSeconds    = 15  // of one sound
	pageText       = 600 // characters of one text
	pageCharacters = 500
)

// writeDataPage writes an audit as a page with at most this many bytes of sound. hearing is nil where none was read.
func writeDataPage(ctx context.Context, path string, r *audit.Report, hearing *train.Hearing, most int64) error {
	p := dataPage(r)
	if hearing != nil {
		most = addHeard(&p, hearing, most)
	}
	if err := addSounds(ctx, &p, r, most); err != nil {
		return err
	}
	var page bytes.Buffer
	if err := auditpage.Write(&page, p); err != nil {
		return err
	}
	return writeBytes("html", path, page.Bytes())
}

// dataPage is an audit as a page, without sound.
func dataPage(r *audit.Report) auditpage.Page {
	var names []string
	for _, s := range r.Sets {
		names = append(names, s.Path)
	}
	p := auditpage.Page{Title: strings.Join(names, ", "), Verdict: strings.ToUpper(verdict(r)[:1]) + verdict(r)[1:], Notes: r.Notes}
	for _, f := range r.Findings {
		shown := auditpage.Finding{Grade: string(f.Grade), Title: f.Title, Count: f.Count}
		for _, x := range f.Items[:min(len(f.Items), auditpage.MostItems)] {
			shown.Items = append(shown.Items, pageItem(x))
		}
		p.Findings = append(p.Findings, shown)
	}
	for i := range r.Sets {
		p.Sets = append(p.Sets, auditpage.Set{Name: r.Sets[i].Path, Charts: dataCharts(&r.Sets[i])})
	}
	p.Tables = append(p.Tables, figuresTable(r), quantilesTable(r))
	if len(r.Overlaps) > 0 {
		p.Tables = append(p.Tables, overlapTable(r))
	}
	p.Tables = append(p.Tables, repeatedTables(r)...)
	p.Tables = append(p.Tables, scriptTable(r), characterTable(r))
	return p
}

func pageItem(x audit.Item) auditpage.Item {
	length := ""
	if x.Utterance != nil {
		length = fmt.Sprintf("%.2f s", x.Seconds)
	}
	return auditpage.Item{Where: fileLine(x.File, x.Line), Name: x.ID, Length: length, Detail: atMost(x.Detail), Text: atMost(x.Text)}
}

// atMost cuts what would make a page too large.
func atMost(s string) string {
	if utf8.RuneCountInString(s) <= pageText {
		return s
	}
	return string([]rune(s)[:pageText]) + "…"
}

// addSounds adds sound to the items of the findings: first to the first of each, then to the second, as long as there
// is room.
func addSounds(ctx context.Context, p *auditpage.Page, r *audit.Report, most int64) error {
	if most == 0 {
		return nil
	}
	var clipper audit.Clipper
	silent := 0
	for rank := range auditpage.MostItems {
		for k := range p.Findings {
			f := &p.Findings[k]
			if rank >= len(f.Items) || r.Findings[k].Items[rank].Utterance == nil {
				continue
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			wav, cut, err := clipper.Clip(r.Findings[k].Items[rank].Utterance, pageSeconds)
			if err != nil {
				continue // a finding of its own says why
			}
			size := int64(auditpage.SoundBytes(wav))
			if size > most {
				silent++
				continue
			}
			most -= size
			f.Items[rank].Sound = wav
			if cut {
				f.Items[rank].Cut = fmt.Sprintf("the first %d s", pageSeconds)
			}
		}
	}
	if silent > 0 {
		p.Notes = append(p.Notes[:len(p.Notes):len(p.Notes)], words.Count(silent, "utterance")+
			" can be read here and not heard: html_sound says how much sound a page may hold.")
	}
	return nil
}

// dataCharts are the histograms of a set.
func dataCharts(s *audit.Set) []auditpage.Chart {
	charts := []auditpage.Chart{}
	for _, d := range dataDistributions {
		if x := d.of(s); x.Count > 0 {
			h := x.Histogram
			charts = append(charts, auditpage.Chart{
				Title: d.name, Unit: d.unit, Facts: rangeText(x, d.unit), From: h.From, Step: h.Step, Counts: h.Counts, Below: h.Below, Above: h.Above,
			})
		}
	}
	return charts
}

func figuresTable(r *audit.Report) auditpage.Table {
	rows := dataRows(r.Sets, false)
	return auditpage.Table{Title: "Sets", Head: rows[0], Rows: rows[1:]}
}

func quantilesTable(r *audit.Report) auditpage.Table {
	t := auditpage.Table{Title: "Quantiles", Head: []string{"", "set", "values", "least", "1 %", "5 %", "25 %", "median", "75 %", "95 %", "99 %", "most", "mean"}}
	for _, d := range dataDistributions {
		for i := range r.Sets {
			x := d.of(&r.Sets[i])
			if x.Count == 0 {
				continue
			}
			row := []string{strings.TrimSpace(d.name + ", " + d.unit), r.Sets[i].Path, fmt.Sprint(x.Count)}
			if d.unit == "" {
				row[0] = d.name
			}
			for _, v := range []float64{x.Min, x.P1, x.P5, x.P25, x.Median, x.P75, x.P95, x.P99, x.Max, x.Mean} {
				row = append(row, number(v))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func overlapTable(r *audit.Report) auditpage.Table {
	t := auditpage.Table{Title: "What sets have in common", Head: []string{"utterances of", "that are in", "of", "by sound", "by text", "by speaker", "speakers"}}
	for _, o := range r.Overlaps {
		sound, speaker := overlapCounts(o, r)
		t.Rows = append(t.Rows, []string{o.Second, o.First, fmt.Sprint(o.Of), sound, fmt.Sprint(o.Text), speaker, words.List(o.Speakers, 12)})
	}
	return t
}

// repeatedTables are the texts that stand several times in a set.
func repeatedTables(r *audit.Report) (tables []auditpage.Table) {
	for _, s := range r.Sets {
		if len(s.Texts.Repeated) == 0 {
			continue
		}
		t := auditpage.Table{Title: "Texts that stand most often in " + s.Path, Head: []string{"times", "text"}}
		for _, x := range s.Texts.Repeated {
			t.Rows = append(t.Rows, []string{fmt.Sprint(x.Count), atMost(x.Text)})
		}
		tables = append(tables, t)
	}
	return tables
}

func scriptTable(r *audit.Report) auditpage.Table {
	t := auditpage.Table{Title: "Scripts", Head: []string{"", "letters", "utterances"}}
	for _, s := range r.Alphabet.Scripts {
		t.Rows = append(t.Rows, []string{s.Name, fmt.Sprint(s.Letters), fmt.Sprint(s.Utterances)})
	}
	return t
}

// characterTable lists the characters that training has, and those that it hasn't.
func characterTable(r *audit.Report) auditpage.Table {
	all := r.Alphabet.Characters
	t := auditpage.Table{Title: "Characters", Head: []string{"", "code", "script", "in training", "held out", "lines, where it is rare"}}
	for _, c := range all[:min(len(all), pageCharacters)] {
		var lines []string
		for _, l := range c.Lines {
			lines = append(lines, fileLine(l.File, l.Line))
		}
		t.Rows = append(t.Rows, []string{c.Char, c.Code, c.Script, fmt.Sprint(c.Train), fmt.Sprint(c.HeldOut), strings.Join(lines, ", ")})
	}
	if n := len(all) - len(t.Rows); n > 0 {
		t.More = fmt.Sprintf("and %d more: --json has them", n)
	}
	return t
}
