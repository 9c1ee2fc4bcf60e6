package recognize

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/audio"
	"konkanitrain/data/text"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/recognize/transcript"
	"konkanitrain/update"
)

// Long sound gives the text of the words that it is made of, cut at its pauses, and joined where there is none.
func TestLongIsTheSumOfItsWords(t *testing.T) {
	const rate = 8000
	m := local(t, rate)
	for _, pause := range []string{" | ", " |", " "} {
		words := babbled(120, 5)
		r := soundOf(t, rate, chant(strings.Join(words, pause), 0.3, rate))
		want := strings.Join(words, " ")
		for _, seconds := range []float64{2.5, 4, 7, 600} {
			got, _, _ := cutInto(t, m, r, seconds, 0)
			if got.Text() != want {
				t.Errorf("pauses %q, pieces of %g s: %q, want %q", pause, seconds, got.Text(), want)
			}
			if n := len(got.Segments); (n > 1) != (seconds < 600) {
				t.Errorf("pauses %q, pieces of %g s: %d segments", pause, seconds, n)
			}
			inOrder(t, got.Segments)
		}
	}
}

// Words of the bundled example, one after the other without pauses, give in pieces what they give as a whole; with
// pauses they are the pieces, and give what each gives alone, but for where a network's frames lie in them.
func TestLongWordsOfTheExample(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "examples", "konkani_words", "wav", "v01", "*.wav"))
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d words, %v", len(paths), err)
	}
	rate := 0
	for _, pause := range []float64{0, 0.5} {
		var all []int
		var bounds []float64
		for _, path := range paths[:20] {
			bounds = append(bounds, float64(len(all))/float64(max(rate, 1)))
			info, x, err := new(audio.Reader).Read(audio.File(path), nil, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			rate = info.Rate
			for _, v := range x {
				all = append(all, int(v*32768))
			}
			all = append(all, make([]int, int(pause*float64(rate)))...)
		}
		m := local(t, rate)
		r := soundOf(t, rate, all)
		whole, _, _ := cutInto(t, m, r, 600, 4)
		if len(strings.ReplaceAll(whole.Text(), " ", "")) < 50 {
			t.Fatalf("this test says little: %q", whole.Text())
		}
		if pause > 0 {
			apart, _, _ := cutInto(t, m, r, 5, 0)
			inPauses(t, apart.Segments, bounds, pause)
			var alone []string
			for _, path := range paths[:20] {
				word, _, _ := cutInto(t, m, FileRecording(path), 600, 4)
				alone = append(alone, word.Text())
			}
			var score text.Score
			if score.Add(strings.ReplaceAll(strings.Join(alone, ""), " ", ""), strings.ReplaceAll(apart.Text(), " ", "")); score.CER() > 0.25 {
				t.Errorf("pieces: %q\nalone: %q", apart.Text(), strings.Join(alone, " "))
			}
			continue
		}
		for _, seconds := range []float64{2, 3, 5} {
			if got, _, _ := cutInto(t, m, r, seconds, 0); strings.Join(strings.Fields(got.Text()), "") != strings.Join(strings.Fields(whole.Text()), "") {
				t.Errorf("pauses of %g s, pieces of %g s: %q\nas a whole: %q", pause, seconds, got.Text(), whole.Text())
			}
		}
	}
}

// inPauses fails where a word, which begins at one of these times, is cut in two: segments start in a pause, or soon
// behind one, as words begin softly.
func inPauses(t testing.TB, segments []transcript.Segment, begins []float64, pause float64) {
	t.Helper()
	for _, s := range segments {
		near := math.Inf(1)
		for _, b := range begins {
			if d := s.Start - b; d > -pause {
				near = min(near, d)
			}
		}
		if near > 0.25 {
			t.Errorf("segment %q starts %.2f s behind the begin of a word", s.Text, near)
		}
	}
	if len(segments) < len(begins)/3 { // words of half a second come together
		t.Errorf("%d words are in %d pieces", len(begins), len(segments))
	}
}

// A transcription that goes on from where an earlier one said that it can gives the segments that follow there.
func TestLongGoesOn(t *testing.T) {
	const rate = 8000
	m := local(t, rate)
	for name, samples := range map[string][]int{
		"pauses":    chant(strings.Join(babbled(60, 7), " | "), 0.3, rate),
		"no pauses": chant(strings.Join(babbled(60, 7), " "), 0, rate),
		"silence":   make([]int, 20*rate),
	} {
		r := soundOf(t, rate, samples)
		whole, rests, after := cutInto(t, m, r, 3, 0)
		joined := 0
		for i, rest := range rests {
			written, err := json.Marshal(rest)
			again := r
			if err = errors.Join(err, json.Unmarshal(written, &again.From)); err != nil {
				t.Fatal(err)
			}
			got, _, _ := cutInto(t, m, again, 3, 0)
			if fmt.Sprint(got.Segments) != fmt.Sprint(whole.Segments[after[i]:]) {
				t.Errorf("%s: from %s: %v\nwant %v", name, written, got.Segments, whole.Segments[after[i]:])
			}
			if rest.Joined > 0 {
				joined++
			}
		}
		if len(rests) < 5 || (joined < 5) != (name != "no pauses") {
			t.Errorf("%s: %d places to go on, %d of them where pieces overlap: this test says little", name, len(rests), joined)
		}
	}
}

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

// Work is shared so that two workers are nearly twice as fast as one, among short files and in long ones. It is counted
// in operations, as no test can rely on time.
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
	long[10].samples = 120 * 16000
	for _, c := range []struct {
		name    string
		lines   []spoken
		workers int
		speedup float64
	}{
		{"200 short files", short(200, 1), 2, 1.9},
		{"200 short files", short(200, 1), 4, 3.6},
		{"one long file among them", long, 2, 1.8},
		{"a long file", []spoken{{samples: 400 * 16000}}, 2, 1.9},
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

// What comes through a pipe gets the text that it gets as a file.
func TestTranscribePipe(t *testing.T) {
	r := soundOf(t, 16000, chant(strings.Join(babbled(60, 7), " | "), 0.3, 16000))
	m := random(t, described(t), 2)
	want, _, _ := cutInto(t, m, r, 3, 0)
	f, err := os.Open(r.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, _, _ := cutInto(t, m, Recording{Name: "-", Pipe: f}, 3, 0)
	if got.Text() != want.Text() || len(got.Segments) != len(want.Segments) {
		t.Errorf("%q, as a file %q", got.Text(), want.Text())
	}
}

// Pieces that overlap are joined so that each character is there once: at a place where both agree, between words if
// that can be.
func TestStitch(t *testing.T) {
	// spell is a segment with a character each 0.1 s from start on; a space takes as long.
	spell := func(start float64, text string) transcript.Segment {
		var s transcript.Segment
		at := start
		for _, c := range text {
			u := transcript.Unit{Text: string(c), Start: at, End: at + 0.06, Confidence: 0.5}
			if at += 0.1; c == ' ' {
				continue
			}
			s.Characters = append(s.Characters, u)
			if n := len(s.Words); n > 0 && u.Start-s.Words[n-1].End < 0.1 {
				s.Words[n-1].Text, s.Words[n-1].End = s.Words[n-1].Text+u.Text, u.End
			} else {
				s.Words = append(s.Words, u)
			}
		}
		s.Start, s.End, s.Text = start, at, sentence(s.Words)
		return s
	}
	for _, c := range []struct {
		name, a, b string
		start      float64 // of b
		want       string
	}{
		{"both right", "one two three four", "two three four five six", 0.4, "one two three four five six"},
		{"wrong at the edges", "one two three foxr", "xwo three four five six", 0.4, "one two three four five six"},
		{"cut off at the edges", "one two three fou", "o three four five six", 0.6, "one two three four five six"},
		{"nothing alike", "aaa bbb ccc ddd", "xxx yyy zzz www", 0.8, ""},
		{"one says nothing", "aaa bbb", "", 0.3, "aaa bbb"},
		{"the other says nothing", "", "aaa bbb", 0.3, ""},
		{"one long word", "abcdefghijklmnop", "ijklmnopqrst", 0.8, "abcdefghijklmnopqrst"},
	} {
		a, b := spell(0, c.a), spell(c.start, c.b)
		left, right := stitch(a, b, c.start, max(a.End, c.start+0.5))
		got := joined(left, right)
		if c.want == "" {
			if n := len(got.Characters); n < 3 || n > 18 {
				t.Errorf("%s: %q", c.name, got.Text)
			}
		} else if got.Text != c.want {
			t.Errorf("%s: %q, want %q", c.name, got.Text, c.want)
		}
		if !slices.IsSortedFunc(got.Characters, func(a, b transcript.Unit) int { return int(1000*a.Start) - int(1000*b.Start) }) {
			t.Errorf("%s: %+v", c.name, got.Characters)
		}
		if left.End != right.Start {
			t.Errorf("%s: %g and %g", c.name, left.End, right.Start)
		}
	}
}

// Whatever two pieces have, what is joined has the characters of one before a place and those of the other behind.
func TestStitchIsAPrefixAndASuffix(t *testing.T) {
	r := testkit.Rand(3)
	piece := func(from, to float64) (s transcript.Segment) {
		s.Start, s.End = from, to
		for at := from; at < to-0.1; {
			at += 0.02 + 0.2*r.Float64()
			u := transcript.Unit{Text: string(letters[r.IntN(3)]), Start: at, End: at + 0.02}
			at = u.End
			s.Characters = append(s.Characters, u)
			if n := len(s.Words); n > 0 && r.IntN(3) > 0 {
				s.Words[n-1].Text, s.Words[n-1].End = s.Words[n-1].Text+u.Text, u.End
			} else {
				s.Words = append(s.Words, u)
			}
		}
		s.Text = sentence(s.Words)
		return s
	}
	for range 300 {
		to := 1 + 3*r.Float64()
		from := to * r.Float64()
		a, b := piece(0, to), piece(from, to+2)
		left, right := stitch(a, b, from, to)
		n, k := len(left.Characters), len(right.Characters)
		all := joined(left, right).Characters
		ok := false
		for i := range len(all) + 1 {
			ok = ok || i <= len(a.Characters) && len(all)-i <= len(b.Characters) &&
				slices.Equal(all[:i], a.Characters[:i]) && slices.Equal(all[i:], b.Characters[len(b.Characters)-(len(all)-i):])
		}
		text := ""
		for _, c := range all {
			text += c.Text
		}
		if !ok || strings.ReplaceAll(left.Text+right.Text, " ", "") != text {
			t.Fatalf("%d and %d characters: %q %q of %q and %q", n, k, left.Text, right.Text, a.Text, b.Text)
		}
	}
}

// Letters keep their signs where pieces are joined: of two well-written pieces, however different, none comes that has a
// word which begins with a vowel sign or ends in a virama, or a letter with two vowel signs.
func TestStitchKeepsSigns(t *testing.T) {
	r := testkit.Rand(4)
	oneOf := func(list ...string) string { return list[r.IntN(len(list))] }
	piece := func(from, to float64) (s transcript.Segment) {
		s.Start, s.End = from, to
		for at := from; at < to-0.4; {
			syllable := oneOf("क", "त", "म")
			if r.IntN(3) == 0 {
				syllable += "्" + oneOf("र", "य")
			}
			syllable += oneOf("", "ा", "ि", "ो")
			begins := len(s.Words) == 0 || r.IntN(12) == 0
			if begins {
				s.Words = append(s.Words, transcript.Unit{Start: at})
			}
			w := &s.Words[len(s.Words)-1]
			for _, c := range syllable {
				s.Characters = append(s.Characters, transcript.Unit{Text: string(c), Start: at, End: at + 0.02})
				w.Text, w.End = w.Text+string(c), at+0.02
				at += 0.02 + 0.08*r.Float64()
			}
		}
		s.Text = sentence(s.Words)
		return s
	}
	for trial := range 500 {
		to := 2 + 2*r.Float64()
		from := to - 0.5
		a, b := piece(0, to), piece(from, to+2)
		left, right := stitch(a, b, from, to)
		for word := range strings.FieldsSeq(left.Text + " " + right.Text) {
			before := ' '
			for _, c := range word {
				sign := strings.ContainsRune("ािो", c)
				if (sign || c == '्') && (before == ' ' || before == '्' || strings.ContainsRune("ािो", before)) {
					t.Fatalf("%d: %q: %q %q of %q and %q", trial, word, left.Text, right.Text, a.Text, b.Text)
				}
				before = c
			}
			if before == '्' {
				t.Fatalf("%d: %q: %q %q of %q and %q", trial, word, left.Text, right.Text, a.Text, b.Text)
			}
		}
	}
}
