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

	"konkanitrain/data"
	"konkanitrain/data/audio"
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

// A file that changes between the look at its header and its reading is an error of that file.
func TestTranscribeFileThatChanges(t *testing.T) {
	_, paths := speak(t, babble(60, 1))
	m := random(t, described(t), 1)
	i := 0
	err := m.Transcribe(t.Context(), paths, func(r Transcript) error {
		err := r.Err
		if i == 0 { // the last batch is not being read yet
			write(t, paths[55], "no sound")
			tone(t, paths[56], spoken{samples: 4000}, 1)
		}
		switch i {
		case 55:
			testkit.MustFail(t, err, paths[55], "not a format that is read")
		case 56:
			testkit.MustFail(t, err, paths[56], "it was changed")
			if err != nil && strings.Contains(err.Error(), "line 0") {
				t.Errorf("a line of no manifest: %v", err)
			}
		default:
			if err != nil {
				t.Errorf("file %d: %v", i, err)
			}
		}
		i++
		return nil
	})
	if err != nil || i != len(paths) {
		t.Errorf("%d results, %v", i, err)
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

// A file that takes long is named before it does.
func TestLongFilesAreNamed(t *testing.T) {
	said := longFiles([]*data.Example{
		{Utt: &data.Utterance{Recording: &data.Recording{Source: audio.File("short.wav")}, Duration: 599.99}}, {Utt: &data.Utterance{Recording: &data.Recording{Source: audio.File("long.wav")}, Duration: 600}},
		{Utt: &data.Utterance{Recording: &data.Recording{Source: audio.File("gone.wav")}, Duration: 1200}, Err: os.ErrNotExist},
	})
	if len(said) != 1 {
		t.Fatalf("%q", said)
	}
	testkit.MustContain(t, said[0], "long.wav: 10 minutes")
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
	// Between two batches of which all headers are read.
	_, many := speak(t, babble(70, 1))
	ctx, stop = context.WithCancel(t.Context())
	n = 0
	err = m.Transcribe(ctx, many, func(Transcript) error {
		if n++; n == filesPerWorker {
			stop()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != filesPerWorker {
		t.Errorf("%d results after a stop at the end of a batch: %v", n, err)
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

// limited is memory in which no buffer is larger than most.
type limited struct {
	*device.Host
	most int64
}

func (l limited) Alloc(size int64, what string) (device.Buffer, error) {
	if size > l.most {
		return nil, &device.OutOfMemory{What: what, Size: size, Limit: l.most}
	}
	return l.Host.Alloc(size, what)
}

// A file that is too long for the memory is named, alone; one that is short enough is recognized though it doesn't fit
// beside the long ones.
func TestTranscribeOutOfMemory(t *testing.T) {
	lines := babble(12, 1)
	lines[3].samples, lines[8].samples, lines[9].samples = 60*16000, 90*16000, 20*16000
	_, paths := speak(t, lines)
	d := described(t)
	roomy := random(t, d, 2)
	want := transcripts(t, roomy, paths...)
	arena := func(path string) int64 {
		m := random(t, d, 2)
		transcripts(t, m, path)
		return m.replica.Usage().Arenas / 2
	}
	most := arena(paths[3]) - 1
	if most < arena(paths[9]) {
		t.Fatal("20 s take as much memory as 60 s")
	}
	m := newModel("limited", d, newReplica(t, d, 1, 2, limited{device.NewHost(), most}), io.Discard)
	got := transcripts(t, m, paths...)
	for i := range paths {
		if i == 3 || i == 8 {
			testkit.MustContain(t, got[i], fmt.Sprintf("error: %s: %d s of sound are too long", paths[i], 60+30*(i/8)), "out of memory", "cut the file into pieces")
			continue
		}
		if got[i] != want[i] {
			t.Errorf("file %d: %q, want %q", i, got[i], want[i])
		}
	}
	err := m.Transcribe(t.Context(), paths[3:4], func(r Transcript) error { return r.Err })
	var short *device.OutOfMemory
	if !errors.As(err, &short) {
		t.Errorf("the error of a long file doesn't wrap that of the memory: %v", err)
	}
}

// spy notes what each worker is given, in floating-point operations, and computes nothing.
type spy struct {
	update.Replica
	t      *testing.T
	total  float64
	busy   float64 // the sum over passes of what the worker with most to do has
	passes int
}

func (s *spy) Run(p *engine.Pass[update.Variant]) error {
	loads := make([]float64, s.Wishes().Workers)
	for _, b := range p.Batches {
		prices, err := s.Prices([]update.Variant{b.Key})
		if err != nil {
			s.t.Error(err)
		}
		loads[b.Worker] += prices[0].FLOPs
		s.total += prices[0].FLOPs
	}
	s.busy += slices.Max(loads)
	s.passes++
	return nil
}

// Work is shared so that two workers are nearly twice as fast as one, among short files and where some are long. It is
// counted in operations, as no test can rely on time.
func TestTranscribeSharesTheWork(t *testing.T) {
	short := func(n int, seed uint64) []spoken {
		r := testkit.Rand(seed)
		lines := make([]spoken, n)
		for i := range lines {
			lines[i].samples = 8000 + r.IntN(48000) // 0.5 to 3.5 s
		}
		return lines
	}
	long := short(200, 2)
	long[10].samples = 60 * 16000 // as long as all 30 short ones
	pair := short(40, 3)
	pair[4].samples, pair[5].samples = 60*16000, 60*16000
	for _, c := range []struct {
		name    string
		lines   []spoken
		workers int
		speedup float64
	}{
		{"200 short files", short(200, 1), 2, 1.9},
		{"200 short files", short(200, 1), 4, 3.6},
		{"one long file", long, 2, 1.8},
		{"two long files", pair, 2, 1.8},
	} {
		_, paths := speak(t, c.lines)
		d := described(t)
		r := &spy{Replica: newReplica(t, d, 1, c.workers, device.NewHost()), t: t}
		transcripts(t, newModel("spied on", d, r, io.Discard), paths...)
		if got := r.total / r.busy; !(got >= c.speedup) {
			t.Errorf("%s: %d workers are %.2f times as fast as one (%d passes), want %g", c.name, c.workers, got, r.passes, c.speedup)
		}
	}
}

// batches takes a queue apart; how many files are in each batch.
func batches(t testing.TB, q *queue) (sizes []int) {
	t.Helper()
	for {
		files, err := q.next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			return sizes
		}
		sizes = append(sizes, len(files))
		if len(q.probed) > filesProbed {
			t.Errorf("%d files are kept beside the batch", len(q.probed))
		}
	}
}

// unread is a file of this length, in feature frames, that nobody reads.
func unread(frames int) data.File {
	return data.File{Path: "long", Utterance: &data.Utterance{Frames: frames}}
}

// Batches are bounded: a list of any length is read piece by piece.
func TestQueueIsBounded(t *testing.T) {
	_, one := speak(t, []spoken{{samples: 16000}})
	d := described(t)
	q := &queue{net: d.Network, sampleRate: 16000, workers: 2}
	for i := range 1000 {
		q.paths = append(q.paths, one[0])
		if i%4 == 0 {
			q.paths = append(q.paths, "nowhere.wav")
		}
	}
	sizes := batches(t, q)
	sum := 0
	for i, n := range sizes {
		if sum += n; n != 32 && i != len(sizes)-1 {
			t.Errorf("%d files in a batch, want 16 for each worker", n)
		}
	}
	if sum != 1250 {
		t.Errorf("%d files of 1250", sum)
	}
	// A minute is 1500 encoder frames, a second 25: 1500 (64 + 1500) / (25 (64 + 25)) = 1054.4 of these.
	q.probed = []data.File{unread(6000)}
	for range 3000 {
		q.probed = append(q.probed, unread(100))
	}
	files, err := q.next(t.Context())
	if err != nil || len(files) != 1056 {
		t.Errorf("%d files in the batch of a long one, want as much work beside it: 1055 (%v)", len(files), err)
	}
	// Not all of what a very long one could do with, but one such for each worker.
	q.probed = []data.File{unread(180_000), unread(180_000), unread(180_000)}
	if sizes := batches(t, q); !slices.Equal(sizes, []int{2, 1}) {
		t.Errorf("very long files come in batches of %d, want one for each worker", sizes)
	}
	q.probed = []data.File{unread(150_000)}
	for range 1000 {
		q.probed = append(q.probed, unread(1000))
	}
	if files, err := q.next(t.Context()); err != nil || len(files) != 151 {
		t.Errorf("%d files in a batch beside one of 25 min (%v), want no more than %d frames beside it", len(files), err, 300_000-150_000)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := (&queue{paths: one, net: d.Network, sampleRate: 16000, workers: 1}).next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after a stop: %v", err)
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
