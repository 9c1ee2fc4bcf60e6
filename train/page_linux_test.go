package train

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"

	"konkanitrain/internal/watch"
)

// A run in progress that shows nothing itself is shown by another program, with what it holds.
func TestRunIsSeenFromOutside(t *testing.T) {
	cfg := tiny(t, speak(t, babble(8, 4, 1)...))
	cfg.Optimizer.MaxUpdates, cfg.Run.LogEvery = 3, 1
	r := start(t, cfg, nil)
	see := func() (now *struct{ PID int }, state string) {
		sources, err := watch.Sources(cfg.Run.CheckpointDir)
		if err != nil {
			t.Fatal(err)
		}
		address, err := watch.ParseAddress("127.0.0.1:0", false)
		if err != nil {
			t.Fatal(err)
		}
		listener, err := address.Listen(false)
		if err != nil {
			t.Fatal(err)
		}
		server, err := watch.New(listener, sources)
		if err != nil {
			t.Fatal(err)
		}
		go server.Serve()
		defer server.Close()
		ask := func(path string) string {
			answer, err := http.Get(listener.URL + path)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		var memory struct{ Now *struct{ PID int } }
		if err := json.Unmarshal([]byte(ask("memory")), &memory); err != nil {
			t.Fatal(err)
		}
		return memory.Now, ask("state?points=1")
	}
	type standing struct {
		Runs []struct {
			Live, Ended bool
			Update      int
		}
	}
	var during, after standing
	r.served = func(n int) {
		if n != 2 {
			return
		}
		now, state := see()
		if now == nil || now.PID != os.Getpid() {
			t.Errorf("it holds %+v", now)
		}
		if err := json.Unmarshal([]byte(state), &during); err != nil {
			t.Error(err)
		}
	}
	mustEnd(t, r)
	r.remote.close()
	now, state := see()
	if err := json.Unmarshal([]byte(state), &after); err != nil || now != nil {
		t.Errorf("%+v, %v", now, err)
	}
	if x := during.Runs[0]; !x.Live || x.Ended || x.Update != 2 {
		t.Errorf("in progress it is %+v", x)
	}
	if x := after.Runs[0]; x.Live || !x.Ended || x.Update != 3 {
		t.Errorf("at the end it is %+v", x)
	}
}
