package train

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// reporter shows a run to a person: a line that is written over on a terminal, plain lines elsewhere.
type reporter struct {
	out    io.Writer
	status *statusLine     // nil: plain lines
	said   map[string]bool // what sayOnce has said
	pace   pace
	last   updateMetrics // the figures that were shown last
}

// newReporter writes lines; a nil out is nobody.
func newReporter(out io.Writer) *reporter {
	if out == nil {
		out = io.Discard
	}
	return &reporter{out: out, said: map[string]bool{}}
}

// begin takes the time from now on, and shows updates on a terminal.
func (r *reporter) begin(p pace) {
	p.start = time.Now()
	r.pace, r.status = p, newStatusLine(r.out)
}

// sayOnce prints a line, but not one that it has printed before: epochs repeat themselves, and sets may share files.
func (r *reporter) sayOnce(line string) {
	if !r.said[line] {
		r.said[line] = true
		r.say("%s", line)
	}
}

// say prints a line, above the status line if there is one.
func (r *reporter) say(format string, args ...any) {
	line := strings.TrimRight(fmt.Sprintf(format, args...), "\n")
	if r.status == nil {
		fmt.Fprintln(r.out, line)
		return
	}
	shown := r.status.shown > 0
	r.status.clear()
	fmt.Fprintln(r.out, line)
	if shown {
		r.status.draw()
	}
}

// update shows the number of the update, and at the logging interval the figures.
func (r *reporter) update(n, epoch int, m *updateMetrics) {
	if m != nil {
		r.last = *m
	}
	switch {
	case r.status != nil:
		r.status.set(r.parts(n, epoch, time.Now()), float64(n)/float64(max(1, r.pace.total)), m != nil)
	case m != nil:
		r.say("update %d  epoch %d/%d  %s  norm %.2f  %.1f utt/s  %s  wait %.1f %%%s%s", n, epoch, r.pace.epochs, losses(m.Loss, m.CTC, m.CE, m.LearningRate), m.GradNorm,
			float64(m.Utterances)/max(m.Seconds, 1e-9), m.speed(), 100*m.WaitShare, m.short(), r.left(n, epoch, time.Now()))
	}
}

// parts are those of the status line, the most important first.
func (r *reporter) parts(n, epoch int, now time.Time) []string {
	list := []string{fmt.Sprintf("update %d/%d", n, r.pace.total), fmt.Sprintf("epoch %d/%d", epoch, r.pace.epochs)}
	m := &r.last
	if m.Update > 0 {
		list = append(list, fmt.Sprintf("loss %.3f", m.Loss))
	}
	if left := strings.TrimSpace(r.left(n, epoch, now)); left != "" {
		list = append(list, left)
	}
	list = append(list, clock(r.pace.elapsed(now))+" elapsed")
	if m.Update > 0 {
		list = append(list, fmt.Sprintf("lr %.1e", m.LearningRate), m.speed())
		if short := strings.TrimSpace(m.short()); short != "" {
			list = append(list, short)
		}
	}
	return list
}

// left is "  1:40 left"; "" where that isn't known.
func (r *reporter) left(n, epoch int, now time.Time) string {
	d, known := r.pace.left(n, epoch, now)
	if !known {
		return ""
	}
	return "  " + clock(d) + " left"
}

// epoch says on a terminal what the training loss was in an epoch, which the status line has written over.
func (r *reporter) epoch(n, epoch int, l epochLosses, rate float64) {
	if r.status == nil || l.Utterances == 0 {
		return
	}
	each, now := 1/float64(l.Utterances), time.Now()
	r.say("epoch %d/%d  %s  update %d  %s elapsed%s", epoch, r.pace.epochs, losses(l.Loss*each, l.CTC*each, l.CE*each, rate), n, clock(r.pace.elapsed(now)), r.left(n, epoch, now))
}

// losses is "loss 2.5000 (ctc 3.1 ce 2.2)  lr 1.00e-03"; a network without a decoder has no parts.
func losses(loss, ctc, ce, rate float64) string {
	parts := ""
	if ce > 0 {
		parts = fmt.Sprintf(" (ctc %.4f ce %.4f)", ctc, ce)
	}
	return fmt.Sprintf("loss %.4f%s  lr %.2e", loss, parts, rate)
}

func (m *updateMetrics) speed() string {
	return fmt.Sprintf("%.0f x real time", m.Audio/max(m.Seconds, 1e-9))
}

func (m *updateMetrics) short() string {
	if m.Infeasible == 0 { // a faster speed leaves fewer frames
		return ""
	}
	return fmt.Sprintf("  %d too short for CTC", m.Infeasible)
}

// close takes the status line away.
func (r *reporter) close() {
	if r.status != nil {
		r.status.clear()
		r.status = nil
	}
}
