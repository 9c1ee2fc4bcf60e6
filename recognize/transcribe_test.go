package recognize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/update"
)

// A file gets the same text alone and among all others, whatever the number of workers; one that can't be read is named
// in its place.
func TestTranscribeIsTheSameInAnyBatch(t *testing.T) {
	lines := babble(70, 1) // more than one batch, of 1, 2 and 3 workers
	lines[20].samples = 20 * 16000
	_, paths := speak(t, lines)
	write(t, paths[5], "no sound")
	paths[30] = filepath.Join(t.TempDir(), "nowhere.wav")
	tone(t, paths[31], spoken{samples: 70}, 1)
	paths[40] = paths[7] // a file may be given twice
	d := described(t)
	var want []string
	alone := random(t, d, 1)
	empty := 0
	for _, path := range paths {
		want = append(want, transcripts(t, alone, path)...)
		if want[len(want)-1] == "" {
			empty++
		}
	}
	if empty > 10 {
		t.Errorf("%d of %d texts are empty: this test says little", empty, len(want))
	}
	for i, part := range map[int]string{5: "not a format that is read", 30: "no such file", 31: paths[31] + ": it is too short for a single feature frame"} {
		if !strings.HasPrefix(want[i], "error: ") {
			t.Errorf("file %d: %q", i, want[i])
		}
		testkit.MustContain(t, want[i], part, paths[i])
	}
	for _, workers := range []int{1, 2, 3} {
		if got := transcripts(t, random(t, d, workers), paths...); !slices.Equal(got, want) {
			t.Errorf("%d workers: %q\neach alone: %q", workers, got, want)
		}
	}
	if n := len(transcripts(t, alone)); n != 0 {
		t.Errorf("%d results of no file", n)
	}
}

// What a random network makes of the bundled example. It changes with any change of features, network or decoding.
func TestTranscribeGolden(t *testing.T) {
	var paths []string
	for i := range 5 {
		paths = append(paths, filepath.Join("..", "examples", "konkani_words", "wav", "v01", fmt.Sprintf("%02d.wav", i+1)))
	}
	got := transcripts(t, random(t, described(t), 2), paths...)
	want := []string{"chc", "c", "c", "c", "chc"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What is odd in a file is said, once for each time that it is read.
func TestTranscribeWarns(t *testing.T) {
	_, paths := speak(t, babble(3, 1))
	whole, err := os.ReadFile(paths[1])
	if err != nil {
		t.Fatal(err)
	}
	write(t, paths[1], string(whole[:len(whole)-1000]))
	m := random(t, described(t), 1)
	var said bytes.Buffer
	m.log = &said
	transcripts(t, m, paths...)
	testkit.MustContain(t, said.String(), "WARNING: "+paths[1]+": cut off")
	if n := strings.Count(said.String(), "WARNING"); n != 1 {
		t.Errorf("%d warnings:\n%s", n, said.String())
	}
}

func TestTranscribeStops(t *testing.T) {
	_, paths := speak(t, babble(40, 1))
	m := random(t, described(t), 1)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := m.Transcribe(ctx, paths, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after a stop: %v", err)
	}
	// In the middle: what came out before is whole and in order, and nothing comes after.
	ctx, stop = context.WithCancel(t.Context())
	n := 0
	err := m.Transcribe(ctx, paths, func(Transcript) error {
		if n++; n == 3 {
			stop()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 3 {
		t.Errorf("%d results after a stop at the third: %v", n, err)
	}
	full := errors.New("disk full")
	n = 0
	err = m.Transcribe(t.Context(), paths, func(Transcript) error { n++; return full })
	if !errors.Is(err, full) || n != 1 {
		t.Errorf("%d results, %v", n, err)
	}
	broken := errors.New("broken")
	m.recognizer.run = failing(broken)
	if err := m.Transcribe(t.Context(), paths, nil); !errors.Is(err, broken) {
		t.Errorf("a pass that breaks: %v", err)
	}
}

// slow is a replica whose pass ends when it is told to.
type slow struct {
	update.Replica
	began, end chan struct{}
}

func (s *slow) Run(p *engine.Pass[update.Variant]) error {
	close(s.began)
	<-s.end
	return s.Replica.Run(p)
}

// A stop doesn't wait for a long file. The replica is freed when its pass has ended, and not before.
func TestStopInTheMiddleOfAPass(t *testing.T) {
	manifest, paths := speak(t, babble(2, 1))
	calls := map[string]func(*Model, context.Context) error{
		"Transcribe": func(m *Model, ctx context.Context) error { return m.Transcribe(ctx, paths, nil) },
		"Evaluate": func(m *Model, ctx context.Context) error {
			_, _, err := m.Evaluate(ctx, manifest, EvaluateOptions{})
			return err
		},
	}
	for name, call := range calls {
		d, dev := described(t), device.NewHost()
		r := &slow{newReplica(t, d, 1, 1, dev), make(chan struct{}), make(chan struct{})}
		m := newModel("slow", d, r, io.Discard)
		ctx, stop := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		go func() {
			<-r.began
			stop(why)
		}()
		if err := call(m, ctx); !errors.Is(err, why) {
			t.Errorf("%s: %v", name, err)
		}
		// The replica is busy: whoever comes next waits, as long as he wants to.
		late, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if err := call(m, late); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s while the replica is busy: %v", name, err)
		}
		cancel()
		m.Close()
		if dev.Usage().Buffers == 0 {
			t.Errorf("%s: memory was freed below a pass", name)
		}
		close(r.end)
		for wait := time.Now(); dev.Usage().Buffers > 0; time.Sleep(time.Millisecond) {
			if time.Since(wait) > 10*time.Second {
				t.Fatalf("%s: %+v is never freed", name, dev.Usage())
			}
		}
		m.Close() // does nothing
	}
}

// Memory doesn't grow with the number of files.
func TestTranscribeMemoryDoesNotGrow(t *testing.T) {
	_, paths := speak(t, babble(40, 1))
	m := random(t, described(t), 2)
	transcripts(t, m, paths...)
	before := m.replica.Usage()
	for len(paths) < 800 {
		paths = append(paths, paths[:40]...)
	}
	transcripts(t, m, paths...)
	if after := m.replica.Usage(); after != before {
		t.Errorf("%+v after 40 files, %+v after %d", before, after, len(paths))
	}
}
