package watch

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// Server shows runs.
type Server struct {
	listener *Listener
	places   *few // of the listener's connections
	http     http.Server
	sounds   chan struct{} // a place for each that may be in hand
	decoding sync.Mutex    // one at a time
	ended    chan struct{} // closed when Serve has returned
	busy     sync.WaitGroup

	mu    sync.Mutex // for all below
	over  bool       // nothing is answered any more
	runs  []*shown
	read  time.Time        // when the runs' files were read last
	built map[view]*answer // until something is new
	size  int              // bytes of the last one, and a little more
}

// answer is what is sent as it is.
type answer struct {
	body []byte
	tag  string // its ETag
}

func newAnswer(body []byte) *answer {
	h := fnv.New128a()
	_, _ = h.Write(body)
	return &answer{body, fmt.Sprintf(`"%x"`, h.Sum(nil))}
}

const (
	readEvery = 500 * time.Millisecond // for all viewers
	mostBuilt = 16                     // views that are kept
	mostRuns  = 16
	midPoints = 400 // of a curve where nothing is asked for
	maxPoints = 2000
)

// Bytes is about what a server of this many runs takes at most: histories, views, what is parsed, and sounds.
func Bytes(runs int) int64 {
	history := mostPoints*pointBytes(len(figures)) + mostValidations*(pointBytes(len(rates))+scoreBytes)
	return int64(runs)*3/2*history + soundBytes + 6<<20
}

// New makes a server. It shows nothing before Serve.
func New(l *Listener, sources []Source) (*Server, error) {
	if len(sources) > mostRuns {
		return nil, fmt.Errorf("%d runs are too many for one page, want at most %d: name the checkpoint_dir of each that is meant", len(sources), mostRuns)
	}
	s := &Server{listener: l, places: newFew(l), sounds: make(chan struct{}, mostSounds), ended: make(chan struct{}), built: map[view]*answer{}}
	for _, source := range sources {
		s.runs = append(s.runs, newShown(source))
	}
	metrics.ExposeMetadata(true)
	s.http = http.Server{
		Handler: s.guard(s.choose), ReadHeaderTimeout: headerPatience, ReadTimeout: 2 * headerPatience, WriteTimeout: sendPatience,
		IdleTimeout: idlePatience, MaxHeaderBytes: mostHeader, DisableGeneralOptionsHandler: true, ErrorLog: log.New(io.Discard, "", 0),
		ConnState: s.places.state,
	}
	return s, nil
}

// Serve answers until Close, and closes the listener.
func (s *Server) Serve() error {
	defer close(s.ended)
	if err := s.http.Serve(s.places); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// Close ends Serve, and what is being sent. Afterwards no source is asked any more.
func (s *Server) Close() error {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	err := s.http.Close()
	<-s.ended
	s.busy.Wait()
	return err
}

// enter says whether a request may still be answered. Then busy counts it.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.busy.Add(1)
	}
	return !s.over
}

// choose answers by the path, which has to be just one of these.
func (s *Server) choose(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/":
		whole, policy := document()
		w.Header().Set("Content-Security-Policy", policy)
		send(w, r, "text/html; charset=utf-8", whole)
	case "/state":
		s.serveState(w, r)
	case "/memory":
		s.serveMemory(w, r)
	case "/worst":
		s.serveWorst(w, r)
	case "/sound":
		s.serveSound(w, r)
	case "/metrics":
		s.serveMetrics(w, r)
	default:
		refuse(w, http.StatusNotFound, "there is nothing at this path")
	}
}

// send sends an answer, or says that the viewer has it.
func send(w http.ResponseWriter, r *http.Request, kind string, a *answer) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("ETag", a.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.body))
}

const jsonKind = "application/json"

// refresh takes up what the runs have written since, at most every readEvery. It is called with the lock held.
func (s *Server) refresh() {
	if time.Since(s.read) < readEvery {
		return
	}
	changed := s.read.IsZero()
	for _, r := range s.runs {
		changed = r.read() || changed
	}
	if changed {
		clear(s.built)
	}
	s.read = time.Now()
}

// whole reads a whole number of a query; without one it is the default.
func whole(q url.Values, name string, otherwise, low, high int) (int, error) {
	text := q.Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%s is %.40q, want a whole number from %d to %d", name, text, low, high)
	}
	return n, nil
}

func (s *Server) serveState(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	var v view
	var wrong [4]error
	v.points, wrong[0] = whole(q, "points", midPoints, 1, maxPoints)
	v.from, wrong[1] = whole(q, "from", 0, 0, math.MaxInt)
	v.to, wrong[2] = whole(q, "to", math.MaxInt, 0, math.MaxInt)
	if v.from > v.to {
		wrong[3] = fmt.Errorf("from %d to %d is no part of a run", v.from, v.to)
	}
	for _, err := range wrong {
		if err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
	}
	a, err := s.state(v)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	send(w, r, jsonKind, a)
}

// state is what a view shows now. It is made once for all who look.
func (s *Server) state(v view) (*answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	if a := s.built[v]; a != nil {
		return a, nil
	}
	body, err := appendState(make([]byte, 0, s.size), s.runs, v)
	if err != nil {
		return nil, err
	}
	if len(s.built) >= mostBuilt {
		clear(s.built)
	}
	s.size = len(body) + len(body)/16
	a := newAnswer(body)
	s.built[v] = a
	return a, nil
}

// asked is the run that a query names by its number, nil where there is no such run, which is said.
func (s *Server) asked(w http.ResponseWriter, r *http.Request) *shown {
	n, err := whole(r.URL.Query(), "run", 0, 0, len(s.runs)-1)
	if err != nil {
		refuse(w, http.StatusNotFound, err.Error())
		return nil
	}
	return s.runs[n]
}
