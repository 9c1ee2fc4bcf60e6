package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"konkanitrain/data/audio"
	"konkanitrain/internal/words"
	"konkanitrain/recognize"
)

// transcribeProgress shows how far a transcription is, and how long it will take: a bar on a terminal, and elsewhere a
// line now and then.
type transcribeProgress struct {
	out     io.Writer
	tty     bool
	weights []float64 // about the seconds of each recording; 0: unknown
	total   float64
	known   bool // all have a length
	first   int  // recordings that were done before
	begun   time.Time
	next    time.Time

	mu  sync.Mutex
	bar *progressbar.ProgressBar
}

// bytesASecond is about what a second of sound takes in a file, where nothing is known of it.
const bytesASecond = 32000

func newTranscribeProgress(o *sheet, s streams) *transcribeProgress {
	now := time.Now()
	p := &transcribeProgress{out: s.err, tty: isTerminal(s.err) && !o.tty, known: true, first: o.state.Ended, begun: now, next: now.Add(betweenLines)}
	for _, r := range o.all[o.state.Ended:] {
		w := secondsOf(r)
		p.weights, p.total, p.known = append(p.weights, w), p.total+w, p.known && w > 0
	}
	return p
}

// secondsOf is about how long a recording is, without a look at it.
func secondsOf(r recognize.Recording) float64 {
	switch file, isFile := r.Source.(audio.File); {
	case r.Duration > 0:
		return r.Duration
	case r.Known != nil:
		return r.Known.Seconds()
	case isFile:
		if stat, err := os.Stat(string(file)); err == nil && stat.Mode().IsRegular() {
			return float64(stat.Size()) / bytesASecond
		}
		return 1e-3 // can't be read
	}
	return 0
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// share is how much is done, 0 to 1.
func (p *transcribeProgress) share(now recognize.Progress) float64 {
	done := 0.0
	for _, w := range p.weights[:now.Recordings] {
		done += w
	}
	if now.Of > 0 && now.Current < len(p.weights) && now.Current >= now.Recordings {
		done += p.weights[now.Current] * min(now.Within/now.Of, 1)
	}
	return min(done/max(p.total, 1e-9), 1)
}

// show takes how far it is.
func (p *transcribeProgress) show(now recognize.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tty {
		const steps = 1000
		if p.bar == nil {
			most := steps
			if !p.known {
				most = -1 // nobody knows
			}
			p.bar = progressbar.NewOptions(most, progressbar.OptionSetWriter(p.out), progressbar.OptionSetWidth(24), progressbar.OptionSetPredictTime(p.known),
				progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
		}
		p.bar.Describe(p.text(now))
		_ = p.bar.Set(int(steps * p.share(now)))
		return
	}
	if at := time.Now(); at.After(p.next) {
		p.next = at.Add(betweenLines)
		left := ""
		if share := p.share(now); p.known && share > 0 {
			left = fmt.Sprintf(", about %v left", time.Duration(float64(at.Sub(p.begun))*(1-share)/share).Round(time.Second))
		}
		fmt.Fprintln(p.out, p.text(now)+left)
	}
}

func (p *transcribeProgress) text(now recognize.Progress) string {
	return fmt.Sprintf("transcribed %d of %s, %s of sound", p.first+now.Recordings, words.Count(p.first+len(p.weights), "recording"), words.Duration(now.Seconds))
}

// say prints a line beside the bar.
func (p *transcribeProgress) say(line any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	fmt.Fprintln(p.out, line)
}

// end removes the bar.
func (p *transcribeProgress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
