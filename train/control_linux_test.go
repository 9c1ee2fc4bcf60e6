package train

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"konkanitrain/internal/control"
	"konkanitrain/internal/machine"
	"konkanitrain/internal/testkit"
)

// asked is what a request came to.
type asked struct {
	*control.Response
	err error
}

// askAt lets a run be asked after update n, and returns where the answer comes. The run waits until the request has
// reached it, so that it is carried out after that very update.
func askAt(t *testing.T, r *run, n int, request control.Request) <-chan asked {
	t.Helper()
	answer := make(chan asked, 1)
	request.Wait = control.MaxWait
	r.hook = atUpdate(n, func() {
		go func() {
			response, err := control.Ask(t.Context(), r.ledger.dir, request)
			answer <- asked{response, err}
		}()
		for {
			response, err := control.Ask(t.Context(), r.ledger.dir, control.Request{Ask: control.AskInfo})
			if err != nil {
				t.Error(err)
			}
			if err != nil || response.Waiting > 0 {
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	return answer
}

// A run says where it stands and what it holds while it goes on, and its end leaves no socket.
func TestRunIsAsked(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Optimizer.MaxUpdates = 5
	dir := cfg.Run.CheckpointDir
	r := start(t, cfg, nil)
	var got []*control.Response
	r.hook = func(int) {
		response, err := control.Ask(t.Context(), dir, control.Request{Ask: control.AskInfo})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, response)
	}
	mustEnd(t, r)
	held := r.pool.Usage()
	for i, response := range got {
		n := response.Info
		if !response.Done || n.PID != os.Getpid() || n.Update != i || n.Epoch != i/2+1 || n.Started.IsZero() || n.Total != machine.Read().Total {
			t.Errorf("after update %d: %+v, %+v", i+1, response, n)
		}
		if n.Allocated != held.Allocated || n.Reserved < n.Allocated || n.Peak < n.Allocated || n.RSS <= 0 || n.PeakRSS < n.RSS {
			t.Errorf("%+v, and the device says %+v", n, held)
		}
		var sum int64
		for _, h := range n.Holders {
			sum += h.Bytes
		}
		if sum != n.Allocated+n.Held || n.Held <= 0 || n.Limit != held.Limit {
			t.Errorf("the holders %+v have %d bytes: %+v", n.Holders, sum, n)
		}
	}
	if len(got) != 5 {
		t.Errorf("%d answers", len(got))
	}
	r.close()
	if _, err := control.Ask(t.Context(), dir, control.Request{Ask: control.AskInfo}); !errors.Is(err, control.ErrNoRun) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "control.sock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket stays: %v", err)
	}
}

// What a run is asked for it does between two updates, says so, and trains on as if it hadn't been asked.
func TestRunObeys(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Optimizer.MaxUpdates, cfg.Run.CacheClearEvery, cfg.Run.SaveEvery = 4, 0, 4
	straight := elsewhere(t, cfg)
	mustRun(t, straight)
	for _, c := range []struct {
		request control.Request
		want    []string // in the note, or in the refusal
		refused bool
	}{
		{control.Request{Ask: control.AskClear}, []string{"gave back 5.0 MB of idle buffers, and "}, false},
		{control.Request{Ask: control.AskReset}, []string{"the peaks begin anew"}, false},
		{control.Request{Ask: control.AskFraction, Fraction: 0.5}, []string{"the cap is ", ": 0.5 of "}, false},
		{control.Request{Ask: control.AskFraction, Fraction: 1e-9}, []string{"a cap of ", " is not above the ", " that the run holds without its arenas"}, true},
	} {
		t.Run(c.request.Ask, func(t *testing.T) {
			cfg := elsewhere(t, cfg)
			var said bytes.Buffer
			r, err := setUp(t.Context(), cfg, Options{Out: &said})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(r.close)
			idle, err := r.pool.Alloc(5_000_000, "nothing")
			if err != nil {
				t.Fatal(err)
			}
			idle.Free()
			limit := r.pool.Usage().Limit
			answer := askAt(t, r, 2, c.request)
			mustEnd(t, r)
			a := <-answer
			if c.refused {
				testkit.MustFail(t, a.err, c.want...)
				mustNotContain(t, said.String(), "as asked for")
			} else if a.err != nil || !a.Done || a.Before.Update != 2 || a.Info.Update != 2 {
				t.Fatalf("%+v, %v", a.Response, a.err)
			} else {
				testkit.MustContain(t, a.Note, c.want...)
				mustContainOnce(t, said.String(), "memory, as asked for ("+c.request.Ask+"): "+a.Note)
			}
			if c.request.Ask == control.AskFraction && !c.refused {
				limit = int64(c.request.Fraction * float64(machine.Read().Base()))
			}
			if u := r.pool.Usage(); u.Limit != limit {
				t.Errorf("%+v, want a limit of %d", u, limit)
			}
			mustEqualRun(t, cfg.Run.CheckpointDir, straight.Run.CheckpointDir, 4)
		})
	}
}

// A folder that was removed and is made again has a socket again.
func TestSocketIsRenewed(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Run.SaveEvery, cfg.Optimizer.MaxUpdates = 2, 5
	dir := cfg.Run.CheckpointDir
	r := start(t, cfg, nil)
	var errs []error
	r.hook = func(update int) {
		if update == 3 {
			remove(t, dir)
		}
		_, err := control.Ask(t.Context(), dir, control.Request{Ask: control.AskInfo})
		errs = append(errs, err)
	}
	mustEnd(t, r)
	for i, err := range errs {
		if gone := i == 2 || i == 3; (err != nil) != gone { // from the hook of update 3 to the save after update 4
			t.Errorf("after update %d: %v", i+1, err)
		}
	}
	if len(errs) != 5 {
		t.Errorf("%d answers", len(errs))
	}
}

// A run that can't be asked says why, and trains.
func TestRunThatCantBeAsked(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Optimizer.MaxUpdates = 1
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	if err := os.MkdirAll(filepath.Join(cfg.Run.CheckpointDir, "control.sock.new", "full"), 0o777); err != nil { // where the socket would be made
		t.Fatal(err)
	}
	said := mustRun(t, cfg)
	mustContainOnce(t, said, "NOTE: konkanitrain mem can't ask this run: no control socket in ", "update 1 ")
	if strings.Contains(said, "as asked for") {
		t.Error(said)
	}
}
