package train

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// reporter shows a run to a person: a progress bar on a terminal, plain lines elsewhere.
type reporter struct {
	out  io.Writer
	bar  *progressbar.ProgressBar // nil: plain lines
	said map[string]bool          // what sayOnce has said
}

// newReporter writes lines; a nil out is nobody.
func newReporter(out io.Writer) *reporter {
	if out == nil {
		out = io.Discard
	}
	return &reporter{out: out, said: map[string]bool{}}
}

// startBar shows updates up to total on a terminal; done of them were made before.
func (r *reporter) startBar(total, done int) {
	if f, ok := r.out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		r.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(r.out), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true), progressbar.OptionSetWidth(24), progressbar.OptionClearOnFinish())
		_ = r.bar.Set(done)
	}
}

// sayOnce prints a line, but not one that it has printed before: epochs repeat themselves, and sets may share files.
func (r *reporter) sayOnce(line string) {
	if !r.said[line] {
		r.said[line] = true
		r.say("%s", line)
	}
}

// say prints a line, above the bar if there is one.
func (r *reporter) say(format string, args ...any) {
	line := strings.TrimRight(fmt.Sprintf(format, args...), "\n")
	if r.bar != nil {
		_ = r.bar.Clear()
	}
	fmt.Fprintln(r.out, line)
	if r.bar != nil {
		_ = r.bar.RenderBlank()
	}
}

// update moves the bar, and at the logging interval shows the figures.
func (r *reporter) update(n int, m *updateMetrics) {
	if r.bar != nil {
		_ = r.bar.Set(n)
	}
	if m == nil {
		return
	}
	short := ""
	if m.Infeasible > 0 { // a faster speed leaves fewer frames
		short = fmt.Sprintf("  %d too short for CTC", m.Infeasible)
	}
	if r.bar != nil {
		r.bar.Describe(fmt.Sprintf("epoch %d  loss %.3f  lr %.1e  %.0f x real time%s", m.Epoch, m.Loss, m.LearningRate, m.Audio/max(m.Seconds, 1e-9), short))
		return
	}
	parts := ""
	if m.CE > 0 {
		parts = fmt.Sprintf(" (ctc %.4f ce %.4f)", m.CTC, m.CE)
	}
	r.say("update %d  epoch %d  loss %.4f%s  lr %.2e  norm %.2f  %.1f utt/s  %.0f x real time  wait %.1f %%%s",
		m.Update, m.Epoch, m.Loss, parts, m.LearningRate, m.GradNorm,
		float64(m.Utterances)/max(m.Seconds, 1e-9), m.Audio/max(m.Seconds, 1e-9), 100*m.WaitShare, short)
}

// close ends the bar.
func (r *reporter) close() {
	if r.bar != nil {
		_ = r.bar.Finish()
	}
}
