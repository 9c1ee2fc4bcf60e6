package mlflow

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Options say what is told of a run, and where.
type Options struct {
	Server     string // its URL
	Experiment string // is made where it isn't there
	Name       string // of a new run
	RunID      string // the run to go on with; "" makes a new one
	Params     map[string]string
	Tags       map[string]string
	// Began is called, by another goroutine, when the run has an id that is not RunID.
	Began func(id string) error
	// History is all that was told so far, the points of each key in the order of their steps, for what the server has
	// missed. It is read by another goroutine.
	History iter.Seq2[Metric, error]

	interval, pause time.Duration // for tests: between requests, and after the first that fails
}

// Times between requests, and after one that failed: first, and at most.
const (
	usualInterval         = time.Second
	firstPause, mostPause = time.Second, time.Minute
)

// mostQueued is how many points wait to be sent at most. QueueBytes is what they, and a request, take in bytes.
const (
	mostQueued = 20_000
	QueueBytes = 2 << 20
)

// Tracker tells a server of a run, in a goroutine of its own. Points wait in a queue; what finds no room there, or was
// not sent when the process ended, is taken from the history later: each point is sent once, unless a request fails
// behind the server's back.
type Tracker struct {
	o       Options
	client  *client
	wake    chan struct{} // there is something to do
	closing chan struct{} // closed by Close
	done    chan struct{} // closed when the goroutine ends
	cancel  context.CancelFunc

	// Of the goroutine alone.
	id     string
	last   map[string]int64 // the step of the last point of each key that the server has; nil: not known yet
	caught bool             // it has what earlier sessions told
	said   string           // the complaint that was said last
	warned map[string]bool  // what was said once

	mu     sync.Mutex
	queue  []Metric
	behind bool // the history has points that were not queued
	missed int  // points that found no room since the history was read
	lost   int  // points that are not to be had any more, or that the server refuses
	status Status
	news   []string
	ended  bool // the server knows the status
}

// Start begins to tell a server of a run. It doesn't wait for it: what is wrong there is among the News.
func Start(o Options) (*Tracker, error) {
	c, err := newClient(o.Server)
	if err != nil {
		return nil, err
	}
	if o.interval == 0 {
		o.interval, o.pause = usualInterval, firstPause
	}
	ctx, cancel := context.WithCancel(context.Background())
	t := &Tracker{
		o: o, client: c, wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{}), cancel: cancel,
		warned: map[string]bool{},
	}
	t.wake <- struct{}{}
	go t.work(ctx)
	return t, nil
}

// Add tells of further points. It never waits.
func (t *Tracker) Add(points ...Metric) {
	t.mu.Lock()
	if t.behind || len(t.queue)+len(points) > mostQueued { // those behind a gap would hide it
		t.behind = true
		t.missed += len(points)
	} else {
		t.queue = append(t.queue, points...)
	}
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// News is what there is to tell the run's owner since the last call.
func (t *Tracker) News() (news []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	news, t.news = t.news, nil
	return news
}

func (t *Tracker) say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.news = append(t.news, fmt.Sprintf(format, args...))
}

// Close says what became of the run, and waits so long for the server to know it. What it doesn't know then is among
// the last News.
func (t *Tracker) Close(s Status, wait time.Duration) {
	t.mu.Lock()
	t.status = s
	t.mu.Unlock()
	close(t.closing)
	select {
	case <-t.done:
	case <-time.After(wait):
	}
	t.cancel()
	<-t.done
	t.mu.Lock()
	defer t.mu.Unlock()
	switch waiting := len(t.queue) + t.missed; {
	case t.ended:
	case waiting > 0 || t.behind:
		t.news = append(t.news, fmt.Sprintf("WARNING: MLflow at %s was not told the end of the run: %d points wait; they are sent when the run is resumed", t.o.Server, waiting))
	default:
		t.news = append(t.news, fmt.Sprintf("WARNING: MLflow at %s was not told that the run is %s", t.o.Server, s))
	}
	if t.lost > 0 {
		t.news = append(t.news, fmt.Sprintf("WARNING: MLflow at %s lacks %d points of curves: it refused them, or they found no room in the queue and are not in metrics.jsonl", t.o.Server, t.lost))
	}
}

// work tells the server whatever there is to tell, until the run's end is told.
func (t *Tracker) work(ctx context.Context) {
	defer close(t.done)
	pause, closing := t.o.pause, t.closing
	for {
		err := t.tell(ctx)
		wait := t.o.interval
		if err != nil {
			t.complain(err)
			wait, pause = pause, min(2*pause, mostPause)
		} else {
			pause = t.o.pause
			if t.relax(); t.isEnded() {
				return
			}
			select {
			case <-t.wake:
			case <-closing:
				closing, wait = nil, 0
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-time.After(wait):
		case <-closing:
			closing, pause = nil, t.o.pause
		case <-ctx.Done():
			return
		}
	}
}

func (t *Tracker) isEnded() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// complain says an error, unless it was the last thing that was said.
func (t *Tracker) complain(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	if text := reason(err); text != t.said {
		t.said = text
		t.say("WARNING: MLflow at %s can't be told of the run now, and the run goes on: %s; what it misses is sent later", t.o.Server, text)
	}
}

// reason is an error without addresses, of which the server's is said anyway, and the own one is another each time.
func reason(err error) string {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	var net *net.OpError
	if errors.As(err, &net) {
		return net.Op + ": " + strings.TrimPrefix(net.Err.Error(), net.Op+": ")
	}
	return err.Error()
}

// warn says something, once.
func (t *Tracker) warn(line string) {
	if !t.warned[line] {
		t.warned[line] = true
		t.say("%s", line)
	}
}

// relax says that all is well again.
func (t *Tracker) relax() {
	if t.said != "" {
		t.said = ""
		t.say("MLflow at %s was told what it had missed", t.o.Server)
	}
}

// next is the first part of the queue, and what else there is to do.
func (t *Tracker) next() (batch []Metric, behind bool, status Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.queue[:min(len(t.queue), mostMetrics)], t.behind, t.status
}

// take takes the first n points off the queue.
func (t *Tracker) take(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.queue = t.queue[n:]; len(t.queue) == 0 {
		t.queue = nil // its memory too
	}
}
