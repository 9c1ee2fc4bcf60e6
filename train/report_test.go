package train

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each set's report comes once and holds what is known only with the vocabulary: letters outside of it, and
// utterances that CTC can't align although a decoder keeps them.
func TestReportsAreComplete(t *testing.T) {
	lines := append(babble(8, 4, 1), spoken{id: "hasty", text: "abababab", samples: 2 * perLetter})
	val := append(babble(4, 4, 2), spoken{id: "odd", text: "abz"}, spoken{id: "quick", text: "abcdabcd", samples: 2 * perLetter})
	for decoder, kept := range []string{"8 of 9 utterances used", "9 of 9 utterances used"} {
		cfg := plain(tiny(t, speak(t, lines...)))
		cfg.Model.DecoderLayers, cfg.Data.ValManifest, cfg.Data.UnknownLimit = decoder, []string{speak(t, val...)}, 0.5
		var said bytes.Buffer
		run := start(t, cfg, &said)
		mustContainOnce(t, said.String(), kept, "6 of 6 utterances used", "hasty: needs 8", "quick: needs 8", `are outside the vocabulary: "z" x 1`)
		if decoder == 0 {
			continue
		}
		if err := run.ledger.save(true); err != nil {
			t.Fatal(err)
		}
		_, scored := mustScore(t, mustLoad(t, cfg.Run.CheckpointDir), cfg.Data.ValManifest[0])
		mustContainOnce(t, scored, "6 of 6 utterances used", "quick: needs 8", `are outside the vocabulary: "z" x 1`)
	}
}

// On a terminal a line is written over, with what is said above it, and the loss of each epoch stays.
func TestStatusLine(t *testing.T) {
	var out bytes.Buffer
	r := newReporter(&out)
	r.begin(pace{begun: 2, total: 10, epochs: 5})
	if r.status != nil {
		t.Fatal("a buffer is taken for a terminal")
	}
	r.status = &statusLine{out: &out, width: func() int { return 80 }}
	r.update(3, 2, nil)
	r.update(4, 2, &updateMetrics{Update: 4, Epoch: 2, Loss: 1.5, Seconds: 1})
	r.say("a word")
	r.epoch(4, 2, epochLosses{Loss: 6, CTC: 6, Utterances: 3}, 1e-3)
	r.epoch(4, 2, epochLosses{}, 1e-3) // without an update
	r.close()
	s := newScreen(80)
	s.write(out.Bytes())
	want := []string{"a word", "epoch 2/5  loss 2.0000  lr 1.00e-03  update 4  0:00 elapsed  0:00 left", ""}
	if got := s.lines(); !slices.Equal(got, want) || s.wrapped > 0 {
		t.Errorf("the screen shows %q, with %d lines wrapped; want %q", got, s.wrapped, want)
	}
	for _, part := range []string{"update 3/10  epoch 2/5", "update 4/10  epoch 2/5  loss 1.500  0:00 left  0:00 elapsed"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("no %q in %q", part, out.String())
		}
	}
	plain := newReporter(nil) // nobody
	plain.update(1, 1, &updateMetrics{})
	plain.close()
}

// Whatever the width, the line has fewer columns, with the most important parts; a wide terminal has room for a bar.
func TestStatusLineIsCut(t *testing.T) {
	l := &statusLine{parts: []string{"update 1200/30000", "epoch 3/60", "loss 31.415", "1:02:03 left"}, done: 0.5}
	for room, want := range map[int]string{
		0: "", 1: "u", 16: "update 1200/3000", 17: "update 1200/30000", 28: "update 1200/30000", 29: "update 1200/30000  epoch 3/60",
		56: "update 1200/30000  epoch 3/60  loss 31.415  1:02:03 left", 69: "update 1200/30000  epoch 3/60  loss 31.415  1:02:03 left",
		70:  "[=====     ]  update 1200/30000  epoch 3/60  loss 31.415  1:02:03 left",
		200: "[===============               ]  update 1200/30000  epoch 3/60  loss 31.415  1:02:03 left",
	} {
		if got := l.text(room); got != want {
			t.Errorf("%d columns: %q, want %q", room, got, want)
		}
	}
	for room := range 300 {
		if n := len(l.text(room)); n > room {
			t.Errorf("%d columns for %d", n, room)
		}
	}
}

// A terminal that becomes narrower has the next line cut to what it is then.
func TestStatusLineFollowsTheWidth(t *testing.T) {
	var out bytes.Buffer
	width := 100
	l := &statusLine{out: &out, width: func() int { return width }, parts: []string{strings.Repeat("x", 30), strings.Repeat("y", 30)}}
	l.draw()
	width = 40
	out.Reset()
	s := newScreen(width)
	l.draw()
	l.clear()
	s.write(out.Bytes())
	if s.wrapped > 0 || !slices.Equal(s.lines(), []string{""}) {
		t.Errorf("%d lines wrapped, on the screen is %q", s.wrapped, s.lines())
	}
}

// The time left is that of this session's pace.
func TestPace(t *testing.T) {
	now := time.Now()
	p := pace{start: now.Add(-time.Minute), begun: 900, total: 1000, sorted: 2}
	if _, known := p.left(900, 3, now); known {
		t.Error("a time is known before the first update")
	}
	if d, known := p.left(920, 3, now); !known || d != 4*time.Minute {
		t.Errorf("after 20 of 100 updates in a minute %v are left, want 4 minutes", d)
	}
	if d, _ := p.left(1010, 3, now); d != 0 {
		t.Errorf("behind the end %v are left", d)
	}
	if _, known := p.left(920, 2, now); known {
		t.Error("a time is known in a sorted epoch, whose first updates are the quickest")
	}
	for d, want := range map[time.Duration]string{0: "0:00", 65500 * time.Millisecond: "1:06", time.Hour - time.Second: "59:59", 30*time.Hour + 61*time.Second: "30:01:01"} {
		if got := clock(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}

// screen is a terminal so many columns wide.
type screen struct {
	columns, at int
	rows        [][]byte
	wrapped     int // rows that went on in the next one
}

func newScreen(columns int) *screen { return &screen{columns: columns, rows: [][]byte{nil}} }

func (s *screen) write(text []byte) {
	for _, c := range text {
		last := len(s.rows) - 1
		switch c {
		case '\r':
			s.at = 0
		case '\b':
			s.at = max(0, s.at-1)
		case '\n':
			s.rows, s.at = append(s.rows, nil), 0
		default:
			if s.at == s.columns {
				s.rows, s.at, s.wrapped = append(s.rows, nil), 0, s.wrapped+1
				last++
			}
			for len(s.rows[last]) <= s.at {
				s.rows[last] = append(s.rows[last], ' ')
			}
			s.rows[last][s.at] = c
			s.at++
		}
	}
}

// lines are the rows as a person sees them.
func (s *screen) lines() (lines []string) {
	for _, row := range s.rows {
		lines = append(lines, strings.TrimRight(string(row), " "))
	}
	return lines
}
