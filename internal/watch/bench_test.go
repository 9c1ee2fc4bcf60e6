//go:build unix

package watch

import (
	"io"
	"math"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// viewer asks for what the page asks for, as a browser does: what it has isn't sent again.
type viewer struct {
	client http.Client
	tags   map[string]string
}

func (v *viewer) ask(b testing.TB, url string) {
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("If-None-Match", v.tags[url])
	answer, err := v.client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	if err != nil || answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusNotModified {
		b.Fatal(answer.Status, err)
	}
	v.tags[url] = answer.Header.Get("ETag")
}

// spent is the processor time that this process has taken.
func spent() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// longHistory writes so many records of updates behind the start of a run.
func longHistory(b testing.TB, dir string, records int) {
	var text strings.Builder
	text.WriteString(startLine(10 * records))
	for i := 1; i <= records; i++ {
		text.WriteString(updateLine(10*i, 1+19/(1+float64(i)/1000)))
	}
	write(b, dir, metricsFile, text.String())
}

// BenchmarkViewers is ten viewers of a run with 100,000 records behind it, which writes five more a second: one
// iteration is the two seconds between a page's questions. cpu-% is the processor time that it takes as a share of one
// core in these two seconds; the viewers' own side of the connections, which is not a run's, is in it too.
func BenchmarkViewers(b *testing.B) {
	const records, viewers, period = 100_000, 10, 2 * time.Second
	dir := aRun(b, 1)
	longHistory(b, dir, records)
	s := serve(b, sourceOf(dir, holding()))
	all := make([]*viewer, viewers)
	for i := range all {
		all[i] = &viewer{tags: map[string]string{}}
		all[i].client.Transport = &http.Transport{}
		all[i].ask(b, s.listener.URL+"state?points=400")
	}
	before := spent()
	b.ResetTimer()
	for i := range b.N {
		for k := range 10 {
			add(b, dir, metricsFile, updateLine(10*(records+10*i+k+1), 1))
		}
		for n, v := range all {
			if n%5 == 0 { // they ask at different times, twice as late as the server would look again
				s.fresh()
			}
			for _, path := range []string{"state?points=400", "memory?run=0", "worst?run=0"} {
				v.ask(b, s.listener.URL+path)
			}
		}
	}
	b.StopTimer()
	b.ReportMetric(100*float64(spent()-before)/float64(b.N)/float64(period), "cpu-%")
	for _, v := range all {
		v.client.CloseIdleConnections()
	}
}

// BenchmarkFirstLook is what the first viewer of such a run has to wait for.
func BenchmarkFirstLook(b *testing.B) {
	dir := b.TempDir()
	longHistory(b, dir, 100_000)
	for b.Loop() {
		r := newShown(Source{Logs: dir})
		r.read()
		if _, err := appendState(nil, []*shown{r}, view{midPoints, 0, math.MaxInt}); err != nil {
			b.Fatal(err)
		}
	}
}

// However many look, a view is made once for each time that there is something new; and of a long history little is
// kept and little sent.
func TestWorkIsShared(t *testing.T) {
	dir := t.TempDir()
	longHistory(t, dir, 100_000)
	s := serve(t, sourceOf(dir, nil))
	v := view{midPoints, 0, math.MaxInt}
	first, err := s.state(v)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if again, err := s.state(v); err != nil || again != first {
			t.Fatal("it is made again")
		}
	}
	s.fresh()
	if again, err := s.state(v); err != nil || again != first {
		t.Error("it is made again though nothing is new")
	}
	add(t, dir, metricsFile, updateLine(1_000_010, 1))
	read := s.runs[0].history.tail.at
	s.fresh()
	again, err := s.state(v)
	if err != nil || again == first || s.runs[0].history.tail.at-read != int64(len(updateLine(1_000_010, 1))) {
		t.Error("it isn't made though there is a record more")
	}
	if h := s.runs[0].history; len(h.trained.last) > mostPoints || cap(h.trained.mean) > 2*mostPoints*len(figures) {
		t.Errorf("%d points are kept", len(h.trained.last))
	}
	if n := len(first.body); n > 120<<10 {
		t.Errorf("%d bytes are sent", n)
	}
	for i := range 3 * mostBuilt { // as many views as anybody asks for
		if _, err := s.state(view{1 + i, 0, i}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.built); n > mostBuilt {
		t.Errorf("%d views are kept", n)
	}
}
