package main

import (
	"fmt"
	"strings"

	"konkanitrain/data/audit"
	"konkanitrain/internal/auditpage"
	"konkanitrain/train"
)

// What is heard of what training hears.
const (
	heardUtterances = 3
	heardSeconds    = 5 // of each version, and of its picture
)

// addHeard adds what training hears, with at most this many bytes of sound; it returns how many are left.
func addHeard(p *auditpage.Page, h *train.Hearing, most int64) int64 {
	p.Hearing = hearingText(h)
	p.Notes = append(p.Notes[:len(p.Notes):len(p.Notes)], h.Notes...)
	silent := 0
	for _, u := range h.Utterances {
		shown := auditpage.Heard{Where: fileLine(u.File, u.Line), Name: u.ID, Length: fmt.Sprintf("%.2f s", u.Duration), Text: atMost(u.Text)}
		for i, v := range u.Versions {
			shown.Versions = append(shown.Versions, pageVersion(h, u, i))
			wav := audit.EncodeWAV(v.Sound[:min(len(v.Sound), heardSeconds*h.Rate)], h.Rate)
			switch size := int64(auditpage.SoundBytes(wav)); {
			case len(v.Sound) == 0:
			case size > most:
				silent++
			default:
				shown.Versions[i].Sound = wav
				most -= size
			}
		}
		p.Heard = append(p.Heard, shown)
	}
	if silent > 0 && most > 0 {
		p.Hearing += fmt.Sprintf(" %d of these sounds are not here: html_sound says how much sound a page may hold.", silent)
	}
	return most
}

// hearingText says what is changed, and which settings would change more.
func hearingText(h *train.Hearing) string {
	var s strings.Builder
	if len(h.On) == 0 {
		s.WriteString("Training hears utterances as they are.")
	} else {
		fmt.Fprintf(&s, "With these settings training hears other versions of each utterance in each epoch: %s. Of a few utterances, each change alone, "+
			"in the first epoch that has it, and all of them together, with the draws of the first epoch and in full strength.", strings.Join(h.On, ", "))
	}
	if len(h.Off) > 0 {
		fmt.Fprintf(&s, " Settings that are off and change what is heard: %s.", strings.Join(h.Off, ", "))
	}
	return s.String()
}

// pageVersion is version i of an utterance, without its sound. Pictures are shown of what can't be heard, and of what
// it is compared with.
func pageVersion(h *train.Hearing, u train.Heard, i int) auditpage.Version {
	v := u.Versions[i]
	seen := false
	for _, other := range u.Versions {
		seen = seen || other.Sound == nil
	}
	shown := auditpage.Version{Title: v.Title, Drawn: strings.Join(v.Drawn, "; ")}
	switch {
	case i == 0:
		shown.Title = "as it is"
	case v.Name == "":
		shown.Title = "all together"
	case len(v.Drawn) > 0:
		shown.Drawn = fmt.Sprintf("epoch %d: %s", v.Epoch+1, shown.Drawn)
	}
	if i > 0 && len(v.Drawn) == 0 {
		shown.Drawn = fmt.Sprintf("nothing is drawn up to epoch %d", v.Epoch+1)
	}
	if seen && (v.Name == "" || v.Sound == nil) {
		shown.Picture = auditpage.Picture(v.Features[:min(len(v.Features), 100*heardSeconds*h.Bins)], h.Bins)
	}
	if len(v.Features) > 100*heardSeconds*h.Bins {
		shown.Cut = fmt.Sprintf("the first %d s", heardSeconds)
	}
	return shown
}
