package recognize

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"konkanitrain/device"
	"konkanitrain/internal/testkit"
)

// The sound that is in hand doesn't grow with its length, nor with the number of files, nor does anything that is held;
// and what is held is what was said beforehand, to the byte.
func TestLongMemoryIsAsPlanned(t *testing.T) {
	path := saved(t, t.TempDir(), 1, described(t), 1, nil)
	minute := chant(strings.Repeat(strings.Join(babbled(30, 9), " |")+" | ", 3), 0.3, 16000)[:60*16000]
	var long []int
	for range 6 {
		long = append(long, minute...)
	}
	one, six := soundOf(t, 16000, minute), soundOf(t, 16000, long)
	small := soundOf(t, 16000, minute[:3*16000])
	for _, limit := range []int64{0, 30 << 20, 60 << 20} {
		for name, list := range map[string][]Recording{"a minute": {one}, "six minutes": {six}, "many": slices.Repeat([]Recording{small}, 100), "several long": {one, six, one}} {
			m := under(t, path, limit)
			var plan *TranscribePlan
			lines := 0
			o := TranscribeOptions{PieceSeconds: 5, Planned: func(p *TranscribePlan) { plan = p }, Batch: func(b BatchMemory) {
				lines++
				if b.Held != plan.Total() || b.Planned != plan.Total() {
					t.Errorf("limit %d, %s: %v", limit, name, b)
				}
				if most := plan.ahead + plan.window + plan.cut.Samples(); b.Ahead*16000 > float64(most) {
					t.Errorf("limit %d, %s: %v, want %d samples ahead at most", limit, name, b, most)
				}
			}}
			g := &gathering{paths: make([]string, len(list)), emit: func(x Transcript) error {
				if x.Err != nil {
					t.Error(x.Err)
				}
				return nil
			}}
			if err := m.TranscribeAll(t.Context(), list, o, g); err != nil {
				t.Fatal(err)
			}
			u := m.pools.Host.Usage()
			if lines == 0 || u.PeakReserved != plan.Total() || limit > 0 && plan.Total() > limit {
				t.Errorf("limit %d, %s: %d bytes were held, and planned %d: %v", limit, name, u.PeakReserved, plan.Total(), plan)
			}
			m.Close()
		}
	}
}

// Under any limit there is the same text of short files, or a word of why there is none; with more memory pieces don't
// become shorter.
func TestTranscribeKeepsToALimit(t *testing.T) {
	lines := babble(20, 1)
	lines[3].samples, lines[8].samples = 30*16000, 10*16000
	_, paths := speak(t, lines)
	path := saved(t, t.TempDir(), 1, described(t), 1, nil)
	want := transcripts(t, mustLoad(t, path, LoadOptions{Workers: 2}), paths...)
	refused, longest := 0, 0.0
	for limit := int64(1 << 20); limit < 200<<20; limit = limit * 3 / 2 {
		m := under(t, path, limit)
		var plan *TranscribePlan
		var got []string
		g := &gathering{paths: paths, emit: func(x Transcript) error {
			got = append(got, x.Text())
			return x.Err
		}}
		var list []Recording
		for _, path := range paths {
			list = append(list, FileRecording(path))
		}
		err := m.TranscribeAll(t.Context(), list, TranscribeOptions{Planned: func(p *TranscribePlan) { plan = p }}, g)
		if u := m.pools.Host.Usage(); plan != nil && u.PeakReserved > limit {
			t.Errorf("limit %d: %d bytes were held", limit, u.PeakReserved)
		}
		if plan == nil {
			var oom *device.OutOfMemory
			if !errors.As(err, &oom) || longest > 0 {
				t.Errorf("limit %d: %v", limit, err)
			}
			testkit.MustContain(t, err.Error(), "not enough memory", "short pieces", "memory_limit")
			refused++
			continue
		}
		if err != nil {
			t.Fatalf("limit %d: %v", limit, err)
		}
		for i := range paths {
			if i != 3 && i != 8 && got[i] != want[i] {
				t.Errorf("limit %d, file %d: %q, want %q", limit, i, got[i], want[i])
			}
		}
		if plan.PieceSeconds < longest {
			t.Errorf("limit %d: pieces of %g s, and of %g s with less", limit, plan.PieceSeconds, longest)
		}
		longest = plan.PieceSeconds
	}
	if refused == 0 || longest != DefaultPiece {
		t.Errorf("%d limits were too low, and at last pieces have %g s: this test says little", refused, longest)
	}
}

// limited is memory in which no buffer is larger than most; where it isn't nil, from the time on that armed says so.
type limited struct {
	*device.Host
	most  int64
	armed *bool
}

func (l limited) Alloc(size int64, what string) (device.Buffer, error) {
	if (l.armed == nil || *l.armed) && size > l.most {
		return nil, &device.OutOfMemory{What: what, Size: size, Limit: l.most}
	}
	return l.Host.Alloc(size, what)
}

// Where a pass finds less memory than was planned, pieces become shorter, which is said once, and nothing is lost.
func TestOutOfMemoryMakesPiecesShorter(t *testing.T) {
	r := soundOf(t, 16000, chant(strings.Join(babbled(80, 5), " "), 0, 16000)) // no pause
	d := described(t)
	armed := false
	m := newModel("limited", d, newReplica(t, d, 1, 1, limited{device.NewHost(), 300_000, &armed}), io.Discard)
	var said strings.Builder
	m.log = &said
	var got Transcript
	g := &gathering{paths: []string{r.Name}, emit: func(x Transcript) error { got = x; return nil }}
	err := m.TranscribeAll(t.Context(), []Recording{r}, TranscribeOptions{Planned: func(*TranscribePlan) {
		armed = true
		m.replica.Shrink(0)
	}}, g)
	if err != nil || got.Err != nil {
		t.Fatal(err, got.Err)
	}
	testkit.MustContain(t, said.String(), "NOTICE: ", "pieces have up to")
	if n := strings.Count(said.String(), "NOTICE"); n > 4 {
		t.Errorf("%d notices:\n%s", n, said.String())
	}
	end := 0.0
	for _, s := range got.Segments {
		end = s.End
	}
	if end < got.Duration-1 {
		t.Errorf("%d segments up to %.1f s of %.1f", len(got.Segments), end, got.Duration)
	}
	// Not even the shortest: an error of the file, and the next one goes on.
	armed = false
	m = newModel("limited", d, newReplica(t, d, 1, 1, limited{device.NewHost(), 20_000, &armed}), io.Discard)
	var errs []error
	g = &gathering{paths: []string{"a", "b"}, emit: func(x Transcript) error { errs = append(errs, x.Err); return nil }}
	err = m.TranscribeAll(t.Context(), []Recording{r, r}, TranscribeOptions{Planned: func(*TranscribePlan) { armed = true; m.replica.Shrink(0) }}, g)
	if err != nil || len(errs) != 2 {
		t.Fatal(err, errs)
	}
	for _, err := range errs {
		testkit.MustFail(t, err, r.Name, "out of memory", "not even 0.7 s")
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("several errors of one file:\n%v", err)
		}
	}
}
