package watch

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"konkanitrain/internal/control"
	"konkanitrain/internal/testkit"
)

// write puts text into a file of a folder, add behind what is there.
func write(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func add(t testing.TB, dir, name, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err == nil {
		_, err = f.WriteString(text)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// began is when the runs of these tests began.
var began = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// Lines of metrics.jsonl, as train writes them. One update takes a second.
func startLine(total int) string {
	return fmt.Sprintf(`{"event":"start","time":%q,"config":{"num_epochs":10,"sort_first_epochs":0},"parameters":1234,"total":%d,"update":0,"workers":2}`+"\n",
		began.Format(time.RFC3339), total)
}

func updateLine(update int, loss float64) string {
	return fmt.Sprintf(`{"event":"update","time":%q,"update":%d,"epoch":%d,"loss":%g,"ctc":%g,"learning_rate":0.001,"grad_norm":%g,"utterances":16,`+
		`"seconds":2,"audio":60,"wait_share":0.125,"skipped":0,"infeasible":0,"memory":{"allocated":90000000,"reserved":95000000,"cached":0,"peak":99000000,"total":1000000000}}`+"\n",
		began.Add(time.Duration(update)*time.Second).Format(time.RFC3339), update, 1+update/100, loss, loss/2, 10*loss)
}

func validationLine(update int, wer float64) string {
	return fmt.Sprintf(`{"event":"validation","time":%q,"update":%d,"loss":%g,"ctc":1,"ce":0,"wer":%g,"cer":%g,"blank_share":0.5}`+"\n",
		began.Add(time.Duration(update)*time.Second).Format(time.RFC3339), update, 4*wer, wer, wer/2)
}

// utterances is a line of validations.jsonl with these sounds as the worst.
func utterances(update int, sounds ...string) string {
	var list []string
	for i, path := range sounds {
		list = append(list, fmt.Sprintf(`{"id":"utt%d","manifest":"dev.jsonl","line":%d,"audio":%q,"offset":0.25,"seconds":0.5,"reference":"क्षण आसा","hypothesis":"कण आसाय",`+
			`"words":{"sub":2,"del":0,"ins":0,"ref":2},"chars":{"sub":0,"del":2,"ins":1,"ref":8},"loss":2.5}`, i, i+1, path))
	}
	return fmt.Sprintf(`{"event":"validation","time":"2026-01-02T03:00:00Z","update":%d,"utterances":80,"wrong":7,"failed":0,"histogram":{"words":[],"chars":[]},"worst":[%s]}`+"\n",
		update, strings.Join(list, ","))
}

// aRun is a folder with a run of so many records, validated after each tenth one, whose loss falls from 20 to 2, with a
// sound of 1 s.
func aRun(t testing.TB, records int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	var text strings.Builder
	text.WriteString(startLine(10 * records))
	for i := 1; i <= records; i++ {
		share := float64(i) / float64(records)
		text.WriteString(updateLine(10*i, 20-18*share))
		if i%10 == 0 {
			text.WriteString(validationLine(10*i, 1-0.9*share))
		}
	}
	write(t, dir, metricsFile, text.String())
	sound := filepath.Join(t.TempDir(), "utt.wav")
	testkit.WriteWAV(t, sound, 8000, testkit.Babble("abcabcabcabcabc", 1, 8000))
	write(t, dir, validationsFile, utterances(100, sound, sound)+utterances(200, sound))
	write(t, dir, StepFile, `{"program":"8 rows of 0.6 s","workers":2,"arena":3000000,"kernels":30,"parts":[`+
		`{"name":"inputs","kind":0,"held":[1000000,1000000,500000]},{"name":"subsampling","kind":1,"held":[0,2000000,100000]}],"fixed":[{"name":"weights","bytes":3000000}]}`)
	return dir
}

// sourceOf is a run in a folder, in progress where it holds something.
func sourceOf(dir string, info *control.Info) Source {
	s := Source{Name: filepath.Base(dir), Logs: dir, Dir: dir}
	if info != nil {
		s.Info = func() *control.Info { return info }
	}
	return s
}

// holding is what a run in progress says.
func holding() *control.Info {
	return &control.Info{Update: 7, Allocated: 6e6, Reserved: 7e6, Held: 3e6, Limit: 5e7, PeakReserved: 12e6, RSS: 11e6,
		Holders: []control.Holder{{Name: "weights", Bytes: 4e6}, {Name: "decoded \"sound\"", Bytes: 2e6}}}
}

// serve shows runs on a free port, until the test is over.
func serve(t testing.TB, sources ...Source) *Server {
	t.Helper()
	return serveAs(t, func(*Server) {}, sources...)
}

// serveAs is serve for a server that is changed before it answers.
func serveAs(t testing.TB, change func(*Server), sources ...Source) *Server {
	t.Helper()
	a, err := ParseAddress("127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	l, err := a.Listen(false)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(l, sources)
	if err != nil {
		t.Fatal(err)
	}
	change(s)
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// fresh has the server look at the files again for the next request.
func (s *Server) fresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = time.Unix(1, 0)
	for _, r := range s.runs {
		r.asked = time.Time{}
	}
}

// get asks for a path.
func get(t testing.TB, s *Server, path string) (code int, body string, head http.Header) {
	t.Helper()
	r, err := http.Get(strings.TrimSuffix(s.listener.URL, "/") + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b), r.Header
}

// raw sends bytes as they are, and is what comes back until the other side closes.
func raw(t testing.TB, s *Server, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, request) // which may be refused before it is read
	answer, _ := io.ReadAll(c)
	return string(answer)
}
