package recognize

import "konkanitrain/internal/scores"

// Scored is what was made of an utterance whose file could be read, for reports.
func (h *Hypothesis) Scored() scores.Utterance {
	u := h.Utt
	s := scores.Utterance{
		ID: u.ID, Manifest: u.File, Line: u.Line, Audio: u.Path(), Offset: u.Offset, Seconds: u.Duration, Speaker: u.Speaker,
		Reference: h.Ref, Hypothesis: h.Text, Words: h.Words, Chars: h.Chars,
	}
	if finite(h.Loss) {
		s.Loss = &h.Loss
	}
	return s
}
