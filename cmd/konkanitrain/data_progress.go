package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// dataProgress shows how far reading sound is: a bar on a terminal, and elsewhere a line now and then.
type dataProgress struct {
	out   io.Writer
	tty   bool
	mu    sync.Mutex
	bar   *progressbar.ProgressBar
	begun time.Time
	next  time.Time
}

// betweenLines is how often a line is printed where there is no terminal.
const betweenLines = 10 * time.Second

func newDataProgress(out io.Writer) *dataProgress {
	f, ok := out.(*os.File)
	now := time.Now()
	return &dataProgress{out: out, tty: ok && term.IsTerminal(int(f.Fd())), begun: now, next: now.Add(betweenLines)}
}

// show takes the number of sounds read, in any order.
func (p *dataProgress) show(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tty {
		if p.bar == nil {
			p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.out), progressbar.OptionShowCount(), progressbar.OptionSetWidth(24),
				progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond),
				progressbar.OptionSetDescription("reading sound"))
		}
		_ = p.bar.Add(1)
		return
	}
	if now := time.Now(); now.After(p.next) {
		p.next = now.Add(betweenLines)
		took := now.Sub(p.begun)
		left := time.Duration(float64(took) / float64(done) * float64(total-done)).Round(time.Second)
		fmt.Fprintf(p.out, "read %d of %d sounds, about %v left\n", done, total, left)
	}
}

// end removes the bar.
func (p *dataProgress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
