package train

import "konkanitrain/recognize"

// judge keeps a validation of the present weights, and says what became of it, for the progress line.
func (l *ledger) judge(e *recognize.Evaluation) (mark string) {
	s, by := &l.state, recognize.Measure(l.cfg.Run.BestBy)
	s.Score, s.Judged, l.standing = e, s.Progress.Updates, ahead
	if e.NothingRead() {
		return "  (not counted: none of the files can be read)"
	}
	better, counts := e.Better(s.Best, by), l.counts(e, by)
	if better {
		s.Best, s.BestStep = e, s.Progress.Updates
	}
	if counts {
		s.Stale = 0
	} else {
		s.Stale++
	}
	switch {
	case better && counts:
		return "  (best so far)"
	case better:
		return "  (best so far, by less than early_stop_delta)"
	}
	return ""
}

// counts says whether a validation is so much better that early_stop waits anew. early_stop_delta is measured from the
// last one that was, so that many small improvements add up to one that counts.
func (l *ledger) counts(e *recognize.Evaluation, by recognize.Measure) bool {
	s, delta := &l.state, l.cfg.Run.EarlyStopDelta
	if delta == 0 {
		s.Reference = nil
		return e.Better(s.Best, by)
	}
	if s.Reference == nil {
		s.Reference = s.Best
	}
	const rounding = 1e-9 // 42.5 % is half a point better than 43 %
	if e.Gain(s.Reference, by) < delta-rounding {
		return false
	}
	s.Reference = e
	return true
}
