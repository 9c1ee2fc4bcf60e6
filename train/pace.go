package train

import (
	"fmt"
	"time"
)

// pace is how fast a session goes. What earlier sessions took says nothing of this one, nor do the first updates of a
// sorted epoch, which are over short utterances, say anything of the rest.
type pace struct {
	start        time.Time
	begun, total int // updates: made before, and at the end of the run
	epochs       int // at its end
	sorted       int // of them, at its start
}

// elapsed is the time since the session's first update began.
func (p pace) elapsed(now time.Time) time.Duration { return now.Sub(p.start) }

// left is the time until the end of the run, where n updates are made and this epoch, from 1, is in hand; false where
// nothing is known of it yet.
func (p pace) left(n, epoch int, now time.Time) (time.Duration, bool) {
	made := n - p.begun
	if made <= 0 || p.start.IsZero() || epoch <= p.sorted {
		return 0, false
	}
	return time.Duration(float64(p.elapsed(now)) / float64(made) * float64(max(0, p.total-n))), true
}

// clock is a duration as minutes and seconds, with hours where there are some: 1:05, 12:00:00.
func clock(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
