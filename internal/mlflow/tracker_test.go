package mlflow

import (
	"encoding/pem"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"konkanitrain/internal/testkit"
)

// told is a run under test, with all that was said.
type told struct {
	*Tracker
	t    *testing.T
	id   string
	said string
}

// begin starts a tracker with short times.
func begin(t *testing.T, o Options) *told {
	t.Helper()
	for _, name := range []string{userVariable, passwordVariable, tokenVariable, insecureVariable, certVariable} {
		if _, set := os.LookupEnv(name); set && !strings.HasSuffix(os.Getenv(name), "of the test") {
			t.Setenv(name, "")
		}
	}
	r := &told{t: t}
	if o.Experiment == "" {
		o.Experiment = "words & numbers"
	}
	if o.Began == nil {
		o.Began = func(id string) error { r.id = id; return nil }
	}
	o.interval, o.pause = time.Millisecond, time.Millisecond
	var err error
	if r.Tracker, err = Start(o); err != nil {
		t.Fatal(err)
	}
	return r
}

// end closes it and returns all that was said.
func (r *told) end(s Status, wait time.Duration) string {
	r.Close(s, wait)
	r.said += strings.Join(r.News(), "\n")
	return r.said
}

// eventually waits for something.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 2000 {
		if holds() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s: not in ten seconds", what)
}

// points are those of a curve at each step.
func points(key string, from, to int) (list []Metric) {
	for i := from; i <= to; i++ {
		list = append(list, Metric{key, float64(i) / 4, 1_700_000_000_000 + int64(i), int64(i)})
	}
	return list
}

// historyOf gives points, then maybe an error.
func historyOf(list *[]Metric, err error) iter.Seq2[Metric, error] {
	return func(yield func(Metric, error) bool) {
		for _, m := range *list {
			if !yield(m, nil) {
				return
			}
		}
		if err != nil {
			yield(Metric{}, err)
		}
	}
}

// mustHave holds a curve at the server to steps 1 to n, each once.
func mustHave(t *testing.T, f *fake, id, key string, n int) {
	t.Helper()
	f.with(func() {
		run := f.runs[id]
		if run == nil {
			t.Fatalf("there is no run %q", id)
		}
		got := run.points[key]
		for i := 1; i <= n; i++ {
			if v, there := got[int64(i)]; !there || v != float64(i)/4 {
				t.Fatalf("%s, step %d: %v, %t", key, i, v, there)
			}
		}
		if len(got) != n || run.twice != 0 {
			t.Errorf("%s has %d points, want %d; %d were told twice", key, len(got), n, run.twice)
		}
	})
}

// All that there is to tell arrives, within the interface's limits.
func TestARunIsTold(t *testing.T) {
	f := newFake(t)
	params := map[string]string{"long": strings.Repeat("दोन", 300), "": "no name"}
	for i := range 250 {
		params[fmt.Sprint("p", i)] = fmt.Sprint(i)
	}
	r := begin(t, Options{Server: f.URL + "/", Name: "first", Params: params, Tags: map[string]string{"version": "1"}})
	for i := 1; i <= 3000; i += 100 {
		r.Add(append(points("train/loss", i, i+99), points("train/ctc", i, i+99)...)...)
	}
	said := r.end(Finished, 10*time.Second)
	testkit.MustContain(t, said, "MLflow: "+f.URL+"/, experiment words & numbers, run run1")
	if strings.Contains(said, "WARNING") {
		t.Error(said)
	}
	mustHave(t, f, r.id, "train/loss", 3000)
	mustHave(t, f, r.id, "train/ctc", 3000)
	x := f.runs["run1"]
	if x.status != "FINISHED" || !x.ended || x.name != "first" || x.experiment != "1" || x.tags["version"] != "1" {
		t.Errorf("%+v", x)
	}
	if len(x.params) != 252 || x.params["p7"] != "7" || !strings.HasPrefix(params["long"], strings.TrimSuffix(x.params["long"], "…")) || len(x.params["long"]) < 490 {
		t.Errorf("%d parameters, %q", len(x.params), x.params["long"])
	}
	if f.largest != [3]int{1000, 100, 1} && f.largest[0] > 1000 {
		t.Errorf("requests of %v entries", f.largest)
	}
	// The experiment is there now.
	r = begin(t, Options{Server: f.URL})
	r.end(Failed, 10*time.Second)
	if x := f.runs["run2"]; x.status != "FAILED" || x.experiment != "1" || f.calls["experiments/create"] != 1 {
		t.Errorf("%+v, %v", x, f.calls)
	}
}

// A run that goes on is the same one at the server: it is told what it missed, and nothing twice; of settings that have
// changed, as a tag.
func TestARunGoesOn(t *testing.T) {
	f := newFake(t)
	first := begin(t, Options{Server: f.URL, Params: map[string]string{"a": "1", "b": "2"}})
	first.Add(points("loss", 1, 50)...)
	first.Add(points("wer", 1, 3)...)
	first.end(Killed, 10*time.Second)
	if x := f.runs[first.id]; x.status != "KILLED" {
		t.Errorf("%+v", x)
	}
	earlier := append(append(points("loss", 1, 1700), points("wer", 1, 9)...), points("cer", 1, 9)...) // the process died with a queue
	again := begin(t, Options{
		Server: f.URL, RunID: first.id, Params: map[string]string{"a": "1", "b": "3", "c": "4"}, History: historyOf(&earlier, nil),
		Began: func(string) error { t.Error("it is another run"); return nil },
	})
	again.Add(points("loss", 1690, 1800)...) // of which the history has some
	eventually(t, "the run goes on", func() (on bool) {
		f.with(func() { on = f.runs[first.id].status == "RUNNING" && !f.runs[first.id].ended })
		return on
	})
	said := again.end(Finished, 10*time.Second)
	for key, n := range map[string]int{"loss": 1800, "wer": 9, "cer": 9} {
		mustHave(t, f, first.id, key, n)
	}
	x := f.runs[first.id]
	if x.status != "FINISHED" || x.params["b"] != "2" || x.tags["changed.b"] != "3" || x.params["c"] != "4" || len(x.tags) != 1 {
		t.Errorf("%+v\n%s", x, said)
	}
	// Where it is there no more, another one begins.
	for i, lose := range []func(){func() { f.runs["run1"].stage = removed }, func() { delete(f.runs, "run1"); f.runs["other"] = &fakeRun{} }} {
		f.with(lose)
		anew := begin(t, Options{Server: f.URL, RunID: first.id, History: historyOf(&earlier, nil)})
		testkit.MustContain(t, anew.end(Finished, 10*time.Second), "has the run run1 no more: a new one begins there")
		if anew.id == "" || anew.id == first.id {
			t.Fatalf("case %d: run %q", i, anew.id)
		}
		mustHave(t, f, anew.id, "loss", 1700)
	}
}

// While a server is away nobody waits for it; what finds no room in the queue comes from the history when it is back.
func TestAServerThatIsAway(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"it fails": func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(503); return true },
		"it cuts the connection": func(w http.ResponseWriter, _ *http.Request) bool {
			c, _, _ := w.(http.Hijacker).Hijack()
			c.Close()
			return true
		},
		"another program": func(w http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(w, "<html>"); return true },
		"no entry":        func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(401); return true },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			var history atomic.Pointer[[]Metric]
			history.Store(&[]Metric{})
			r := begin(t, Options{Server: f.URL, History: func(yield func(Metric, error) bool) { historyOf(history.Load(), nil)(yield) }})
			r.Add(points("loss", 1, 10)...)
			eventually(t, "ten points", func() (on bool) {
				f.with(func() { on = f.runs["run1"] != nil && len(f.runs["run1"].points["loss"]) == 10 })
				return on
			})
			f.set(answer)
			all := points("loss", 1, 2*mostQueued)
			history.Store(&all) // a point is there before it is told
			start := time.Now()
			for i := 11; i <= 2*mostQueued; i++ {
				r.Add(points("loss", i, i)...)
			}
			if d := time.Since(start); d > 5*time.Second { // of some 100 ns each
				t.Errorf("it took %v to add points", d)
			}
			eventually(t, "a complaint", func() bool { r.said += strings.Join(r.News(), "\n"); return strings.Contains(r.said, "WARNING") })
			r.mu.Lock()
			if n := len(r.queue); n > mostQueued {
				t.Errorf("%d points wait", n)
			}
			r.mu.Unlock()
			f.set(nil)
			said := r.end(Finished, 10*time.Second)
			testkit.MustContain(t, said, "WARNING: MLflow at "+f.URL+" can't be told of the run now, and the run goes on: ", "what it misses is sent later",
				"was told what it had missed")
			if n := strings.Count(said, "WARNING"); n > 3 { // on its way down another error may come first
				t.Errorf("%d warnings: %s", n, said)
			}
			mustHave(t, f, r.id, "loss", 2*mostQueued)
		})
	}
}

// A server that never answers is waited for no longer than is said.
func TestAServerThatNeverAnswers(t *testing.T) {
	stop := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}))
	defer s.Close()
	defer close(stop)
	r := begin(t, Options{Server: s.URL})
	r.Add(points("loss", 1, 7)...)
	start := time.Now()
	said := r.end(Finished, 50*time.Millisecond)
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("it was waited for %v", d)
	}
	testkit.MustContain(t, said, "WARNING: MLflow at "+s.URL+" was not told the end of the run: 7 points wait; they are sent when the run is resumed")
	// Nor one that isn't there.
	s2 := httptest.NewServer(nil)
	s2.Close()
	r = begin(t, Options{Server: s2.URL})
	said = r.end(Killed, 50*time.Millisecond)
	testkit.MustContain(t, said, "refused", "was not told that the run is KILLED")
}

// Points that a server refuses for good are counted, and stop nothing.
func TestPointsThatAreRefused(t *testing.T) {
	f := newFake(t)
	r := begin(t, Options{Server: f.URL})
	eventually(t, "the run", func() (on bool) { f.with(func() { on = f.runs["run1"] != nil }); return on })
	f.set(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "log-batch") {
			w.WriteHeader(400)
			fmt.Fprint(w, `{"error_code": "INVALID_PARAMETER_VALUE", "message": "Invalid metric name"}`)
			return true
		}
		return false
	})
	r.Add(points("loss", 1, 5)...)
	eventually(t, "a complaint", func() bool { r.said += strings.Join(r.News(), "\n"); return strings.Contains(r.said, "refuses points") })
	f.set(nil)
	r.Add(points("loss", 6, 8)...)
	said := r.end(Finished, 10*time.Second)
	testkit.MustContain(t, said, "refuses points: it answers 400 Bad Request, INVALID_PARAMETER_VALUE: Invalid metric name", "lacks 5 points of curves")
	if x := f.runs["run1"]; len(x.points["loss"]) != 3 || x.status != "FINISHED" {
		t.Errorf("%+v", x)
	}
}

// What can't be read of the history, or be kept, is said, and what found no room is counted as lost.
func TestWhatIsLost(t *testing.T) {
	f := newFake(t)
	f.set(func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(500); return true })
	some := points("loss", 1, 2)
	r := begin(t, Options{
		Server: f.URL, History: historyOf(&some, errors.New("the disk is gone")), Began: func(string) error { return errors.New("read-only") },
	})
	r.Add(points("wer", 1, mostQueued)...)
	r.Add(points("wer", mostQueued+1, mostQueued+5)...)
	f.set(nil)
	said := r.end(Finished, 20*time.Second)
	testkit.MustContain(t, said, "can't be read: the disk is gone", "can't be kept, so a resumed run begins another one there: read-only", "lacks 5 points of curves")
	mustHave(t, f, "run1", "wer", mostQueued)
	mustHave(t, f, "run1", "loss", 2)
}

// A deleted experiment is not made again by stealth.
func TestDeletedExperiment(t *testing.T) {
	f := newFake(t)
	f.experiments["words & numbers"], f.stage = "7", removed
	r := begin(t, Options{Server: f.URL})
	eventually(t, "a complaint", func() bool { r.said += strings.Join(r.News(), "\n"); return r.said != "" })
	testkit.MustContain(t, r.end(Finished, time.Millisecond), "the experiment words & numbers is deleted there: restore it, or choose another by mlflow_experiment")
}

func TestServersThatAreNone(t *testing.T) {
	for server, why := range map[string]string{
		"127.0.0.1:5000": "want http://HOST:PORT", "mlflow": "want http://HOST:PORT", "ftp://a": "want http://HOST:PORT", "http://": "want http://HOST:PORT",
		"http://a?token=hush": "behind ? or #", "http://a/#x": "behind ? or #", "https://me:hush@a": tokenVariable,
	} {
		err := CheckServer(server)
		testkit.MustFail(t, err, why)
		if strings.Contains(err.Error(), "hush") {
			t.Errorf("%v tells a secret", err)
		}
		if _, err := Start(Options{Server: server}); err == nil {
			t.Errorf("%s is taken", server)
		}
	}
	for _, server := range []string{"http://127.0.0.1:5000", "https://host/at/some/path/", "http://[::1]:80"} {
		if err := CheckServer(server); err != nil {
			t.Error(err)
		}
	}
}

// Who asks comes from the environment, as with MLflow's clients, and is printed nowhere.
func TestWhoAsks(t *testing.T) {
	for _, c := range []struct{ user, password, token, want string }{
		{"", "", "", ""}, {"", "", "secret of the test", "Bearer secret of the test"}, {"me of the test", "hush of the test", "secret of the test", "Basic "},
		{"me of the test", "", "secret of the test", "Bearer "},
	} {
		t.Setenv(userVariable, c.user)
		t.Setenv(passwordVariable, c.password)
		t.Setenv(tokenVariable, c.token)
		f := newFake(t)
		f.set(func(w http.ResponseWriter, r *http.Request) bool {
			if got := r.Header.Get("Authorization"); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("%+v: %q", c, got)
			}
			w.WriteHeader(403)
			return true
		})
		r := begin(t, Options{Server: f.URL})
		eventually(t, "a complaint", func() bool { r.said += strings.Join(r.News(), "\n"); return r.said != "" })
		said := r.end(Failed, time.Millisecond)
		testkit.MustContain(t, said, "403 Forbidden", tokenVariable)
		if strings.Contains(said, "of the test") {
			t.Errorf("it is said: %s", said)
		}
	}
}

// A certificate of one's own is trusted where it is named, or where none is looked at.
func TestCertificates(t *testing.T) {
	f := newFake(t)
	s := httptest.NewTLSServer(f)
	defer s.Close()
	r := begin(t, Options{Server: s.URL})
	eventually(t, "a complaint", func() bool { r.said += strings.Join(r.News(), "\n"); return r.said != "" })
	testkit.MustContain(t, r.end(Finished, time.Millisecond), "certificate")
	path := filepath.Join(t.TempDir(), "cert of the test")
	t.Setenv(certVariable, path)
	_, err := Start(Options{Server: s.URL})
	testkit.MustFail(t, err, certVariable, path)
	for _, content := range []string{"none", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))} {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if content == "none" {
			_, err := Start(Options{Server: s.URL})
			testkit.MustFail(t, err, "holds no certificate")
			continue
		}
		if said := begin(t, Options{Server: s.URL}).end(Finished, 10*time.Second); strings.Contains(said, "WARNING") {
			t.Error(said)
		}
	}
}

// What the system says of a connection is said once.
func TestReasonIsShort(t *testing.T) {
	for want, err := range map[string]error{
		"dial: connect: connection refused": &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
		"read: connection reset by peer":    &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)},
	} {
		if got := reason(&url.Error{Op: "Get", URL: "http://127.0.0.1:5000", Err: err}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
