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
	"konkanitrain/internal/words"
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
		if n.Allocated != held.Allocated || n.Held != held.Held || n.Cached != n.Reserved-n.Allocated || n.Limit != held.Limit ||
			n.Peak < n.Allocated || n.PeakReserved < n.Reserved+n.Held || n.RSS <= 0 || n.PeakRSS < n.RSS {
			t.Errorf("%+v, and the pool says %+v", n, held)
		}
		var sum int64
		for _, h := range n.Holders {
			sum += h.Bytes
		}
		if sum != n.Allocated+n.Held {
			t.Errorf("the holders %+v have %d bytes of %+v", n.Holders, sum, n)
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
	cfg.Optimizer.MaxUpdates = 4
	straight := elsewhere(t, cfg)
	mustRun(t, straight)
	for _, c := range []struct {
		request control.Request
		want    string // in the note
	}{
		{control.Request{Ask: control.AskClear}, "gave back 0 bytes of idle buffers, and "},
		{control.Request{Ask: control.AskReset}, "the peaks begin anew"},
		{control.Request{Ask: control.AskFraction, Fraction: 0.5}, "the cap is "},
	} {
		t.Run(c.request.Ask, func(t *testing.T) {
			cfg := elsewhere(t, cfg)
			var said bytes.Buffer
			r := start(t, cfg, &said)
			answer := askAt(t, r, 2, c.request)
			mustEnd(t, r)
			a := <-answer
			if a.err != nil || !a.Done || a.Before.Update != 2 || a.Info.Update != 2 {
				t.Fatalf("%+v, %v", a.Response, a.err)
			}
			testkit.MustContain(t, a.Note, c.want)
			mustContainOnce(t, said.String(), "memory, as asked for ("+c.request.Ask+"): "+a.Note)
			mustEqualRun(t, cfg.Run.CheckpointDir, straight.Run.CheckpointDir, 4)
		})
	}
}

// A cap below what a run holds has it give memory back, and it goes on with what is left.
func TestRunIsCapped(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(16, 4, 1)...)))
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.MaxUpdates = 8, 1, 6
	var said bytes.Buffer
	r := start(t, cfg, &said)
	u, arenas, base := r.pool.Usage(), r.replica.Usage().Arenas, machine.Read().Base()
	bytes := u.Reserved + u.Held - arenas/3
	answer := askAt(t, r, 2, control.Request{Ask: control.AskFraction, Fraction: float64(bytes) / float64(base)})
	mustEnd(t, r)
	a := <-answer
	if a.err != nil || !a.Done {
		t.Fatalf("%+v, %v", a.Response, a.err)
	}
	testkit.MustContain(t, a.Note, "the cap is "+words.Bytes(a.Info.Limit)+" (memory_fraction ")
	mustNotContain(t, a.Note, "gets nothing until")
	i := a.Info
	if off := i.Limit - bytes; off < -1 || off > 1 || i.Reserved+i.Held > i.Limit || a.Before.Limit <= i.Limit { // the share is rounded
		t.Errorf("%+v, want a cap of %d", i, bytes)
	}
	if r.updater.Updates != 6 || r.pool.Usage().PeakReserved > u.Reserved+u.Held {
		t.Errorf("%d updates, %+v after %+v", r.updater.Updates, r.pool.Usage(), u)
	}
	if now := r.pool.Usage(); now.Reserved+now.Held > i.Limit {
		t.Errorf("%+v at the end", now)
	}
}

// What a run can't do it refuses, and one that holds more than its cap says so.
func TestCapsOfNothing(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	r := start(t, cfg, nil)
	before := r.pool.Usage().Limit
	_, err := r.capMemory(1e-300)
	testkit.MustFail(t, err, "1e-300 of the memory comes to nothing")
	_, err = r.obey(control.Request{Ask: "stop"})
	testkit.MustFail(t, err, `"stop" is unknown to this run`)
	if now := r.pool.Usage().Limit; now != before {
		t.Errorf("the limit is %d, and was %d", now, before)
	}
	note, err := r.capMemory(1000 / float64(machine.Read().Base()))
	if err != nil {
		t.Fatal(err)
	}
	testkit.MustContain(t, note, "; the run holds ", " more, and gets nothing until it holds less")
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
