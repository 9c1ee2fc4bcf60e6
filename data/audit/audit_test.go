package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"konkanitrain/data"
	"konkanitrain/data/text"
	"konkanitrain/internal/testkit"
)

const rate = 8000

// line is an utterance of a set that a test makes.
type line struct {
	Sound   string `json:"audio_filepath"`
	Text    string `json:"text"`
	Speaker string `json:"speaker,omitempty"`

	samples []int
}

// sentences are different, of three to eight words.
func sentences(n int) []string {
	random := rand.New(rand.NewPCG(7, 7))
	syllables := strings.Fields("का मी तो हें जा ळय नव रा सु गे पू बो दे ली चा वा शी णे कों फा")
	out := make([]string, n)
	for i := range out {
		var words []string
		for range 3 + random.IntN(6) {
			word := ""
			for range 1 + random.IntN(4) {
				word += syllables[random.IntN(len(syllables))]
			}
			words = append(words, word)
		}
		out[i] = strings.Join(words, " ")
	}
	return out
}

// clean is a set of 60 utterances of four people to train on, and one of 20 of two other people. In neither is anything
// wrong.
func clean() (train, test []line) {
	sets := cleanOnce()
	train, test = slices.Clone(sets[0]), slices.Clone(sets[1])
	for i := range train {
		train[i].samples = slices.Clone(train[i].samples)
	}
	for i := range test {
		test[i].samples = slices.Clone(test[i].samples)
	}
	return train, test
}

var cleanOnce = sync.OnceValue(func() (sets [2][]line) {
	for i, s := range sentences(80) {
		voice := i % 4
		if i >= 60 {
			voice = 4 + i%2
		}
		l := line{Sound: fmt.Sprintf("%d.wav", i), Text: s, Speaker: fmt.Sprintf("voice%d", voice), samples: testkit.Babble(s, uint64(voice), rate)}
		sets[i/60] = append(sets[i/60], l)
	}
	return sets
})

// longest is the line with the longest text.
func longest(lines []line) line {
	return slices.MaxFunc(lines, func(x, y line) int { return len(x.Text) - len(y.Text) })
}

// load writes lines as manifests with their sound, and reads them.
func load(t *testing.T, train, test []line) []Part {
	t.Helper()
	dir := t.TempDir()
	var sets []Part
	for name, lines := range map[string][]line{"train": train, "test": test} {
		var manifest strings.Builder
		for _, l := range lines {
			if l.samples != nil {
				x := make([]float32, len(l.samples))
				for i, v := range l.samples {
					x[i] = float32(v) / 32768
				}
				if err := os.WriteFile(filepath.Join(dir, l.Sound), EncodeWAV(x, rate), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			b, err := json.Marshal(l)
			if err != nil {
				t.Fatal(err)
			}
			manifest.Write(append(b, '\n'))
		}
		path := filepath.Join(dir, name+".jsonl")
		if err := os.WriteFile(path, []byte(manifest.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"train", "test"} {
		set, err := data.Load(t.Context(), filepath.Join(dir, name+".jsonl"), data.Options{SampleRate: rate, SkipBadLines: true, BadLimit: 1})
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, Part{set, map[string]Role{"train": Train, "test": HeldOut}[name]})
	}
	v, err := text.Build(sets[0].Set.Texts(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range sets {
		if err := p.Set.Tokenize(v, data.TokenOptions{Factor: 4, UnknownLimit: 1}); err != nil {
			t.Fatal(err)
		}
	}
	return sets
}

func look(t *testing.T, sets []Part, o Options) *Report {
	t.Helper()
	r, err := Run(t.Context(), sets, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// found is each finding with the lines of its items: "train:4".
func found(r *Report) map[string][]string {
	out := map[string][]string{}
	for _, f := range r.Findings {
		for _, x := range f.Items {
			out[f.Kind] = append(out[f.Kind], fmt.Sprintf("%s:%d", strings.TrimSuffix(filepath.Base(x.File), ".jsonl"), x.Line))
		}
		slices.Sort(out[f.Kind])
	}
	return out
}

// In a clean set nothing is found.
func TestClean(t *testing.T) {
	train, test := clean()
	r := look(t, load(t, train, test), Options{})
	for _, f := range r.Findings {
		t.Errorf("%s: %s: %+v", f.Kind, f.Title, f.Items)
	}
	if r.Findings == nil || r.Notes == nil || r.Overlaps[0].Speakers == nil {
		t.Error("null in the JSON")
	}
}

// Each fault that is planted in a clean set is found where it is, and no other.
func TestPlanted(t *testing.T) {
	louder := func(x []int, num, den int) []int {
		y := make([]int, len(x))
		for i, v := range x {
			y[i] = min(max(v*num/den, -32768), 32767)
		}
		return y
	}
	silence := func(seconds float64) []int { return make([]int, int(seconds*rate)) }
	noise := func(seconds float64, loud float64) []int {
		random := rand.New(rand.NewPCG(3, 3))
		x := silence(seconds)
		for i := range x {
			x[i] = int(loud * random.NormFloat64())
		}
		return x
	}
	for name, c := range map[string]struct {
		plant func(train, test []line)
		want  map[string][]string
	}{
		"texts of a long and a short utterance are swapped": {func(train, test []line) {
			slices.SortStableFunc(train, func(x, y line) int { return len(x.samples) - len(y.samples) })
			train[0].Text, train[59].Text = train[59].Text, train[0].Text
		}, map[string][]string{"too_fast": {"train:1"}, "too_slow": {"train:60"}, "too_short_for_ctc": {"train:1"}}},
		"silence, and nearly": {func(train, test []line) {
			train[3].samples = silence(2)
			train[8].samples = noise(2, 3)
		}, map[string][]string{"silent": {"train:4", "train:9"}}},
		"noise without speech": {func(train, test []line) { train[3].samples = noise(float64(len(train[3].samples))/rate, 3000) },
			map[string][]string{"steady": {"train:4"}}},
		"overdriven": {func(train, test []line) { train[3].samples = louder(train[3].samples, 8, 1) },
			map[string][]string{"clipped": {"train:4"}}},
		"long silence": {func(train, test []line) { train[3].samples = append(silence(2.5), train[3].samples...) },
			map[string][]string{"long_silence": {"train:4"}}},
		"very quiet": {func(train, test []line) { train[3].samples = louder(train[3].samples, 1, 100) },
			map[string][]string{"quiet": {"train:4"}}},
		"direct current": {func(train, test []line) {
			for i := range train[3].samples {
				train[3].samples[i] += 3000
			}
		}, map[string][]string{"offset": {"train:4"}}},
		"a sound twice": {func(train, test []line) { train[9].samples, train[9].Text = train[3].samples, train[3].Text },
			map[string][]string{"same_sound": {"train:10"}}},
		"a sound with two texts": {func(train, test []line) { train[9].samples, train[9].Text = train[3].samples, train[3].Text+" का" },
			map[string][]string{"same_sound_other_text": {"train:10"}}},
		"a sound twice, at another level": {func(train, test []line) {
			train[9].samples, train[9].Text = louder(train[3].samples, 1, 3), train[3].Text
		},
			map[string][]string{"near_sound": {"train:10"}}},
		"a sound at another level with another text": {func(train, test []line) {
			train[9].samples, train[9].Text = louder(train[3].samples, -1, 2), train[3].Text+" का"
		}, map[string][]string{"near_sound_other_text": {"train:10"}}},
		"a sound in training and held out": {func(train, test []line) { test[9].samples, test[9].Text = longest(train).samples, longest(train).Text },
			map[string][]string{"sound_in_both": {"test:10"}, "text_in_both": {"test:10"}}},
		"a long text in training and held out": {func(train, test []line) {
			test[9].Text = longest(train).Text
			test[9].samples = testkit.Babble(test[9].Text, 5, rate)
		}, map[string][]string{"text_in_both": {"test:10"}}},
		"a speaker in training and held out": {func(train, test []line) { test[9].Speaker = "voice2" },
			map[string][]string{"speaker_in_both": {"test:10"}}},
		"a Latin letter in a Devanagari word": {func(train, test []line) { train[3].Text += "ा काoजा" },
			map[string][]string{"mixed_scripts": {"train:4"}, "rare_characters": {"train:4"}, "other_scripts": {"train:4"}}},
		"a Cyrillic letter in a Latin word": {func(train, test []line) {
			for i := range train {
				train[i].Text = "some latin words of a kind that is long"
				train[i].samples = testkit.Babble(train[i].Text, uint64(i), rate)
			}
			for i := range test {
				test[i].Text = "other latin words of a kind that is long"
				test[i].samples = testkit.Babble(test[i].Text, uint64(100+i), rate)
			}
			train[3].Text = "some lаtin words of a kind that is long"
		}, map[string][]string{"mixed_scripts": {"train:4"}, "rare_characters": {"train:4"}, "other_scripts": {"train:4"}}},
		"a colon for visarga, and a line for danda": {func(train, test []line) {
			train[3].Text += " दु:ख"
			train[5].Text += " |"
		}, map[string][]string{"lookalikes": {"train:4", "train:6"}, "rare_characters": {"train:4", "train:4", "train:6"}}},
		"a mark without its letter": {func(train, test []line) { train[3].Text += " ाका" }, map[string][]string{"lone_marks": {"train:4"}}},
		"text in a wrong encoding": {func(train, test []line) {
			train[3].Text += " à¤•"
			train[5].Text += " \ufffd"
		}, map[string][]string{"damaged_text": {"train:4", "train:6"}}},
		"a character that training hasn't": {func(train, test []line) { test[3].Text += " ठा" },
			map[string][]string{"unseen_characters": {"test:4"}}},
		"digits of two scripts": {func(train, test []line) {
			for i := range 6 {
				train[i].Text += " ५"
				train[10+i].Text += " 5"
			}
		}, map[string][]string{"two_digits": {"train:1", "train:11"}}},
		"lines that can't be used": {func(train, test []line) {
			train[3].Sound, train[3].samples = "nowhere.wav", nil
			train[5].Text = ""
		}, map[string][]string{"bad_lines": {"train:4"}, "left_out": {"train:6"}}},
	} {
		t.Run(name, func(t *testing.T) {
			train, test := clean()
			c.plant(train, test)
			got := found(look(t, load(t, train, test), Options{}))
			for _, kind := range []string{"rare_characters", "other_scripts", "unseen_characters"} { // what comes with damaged texts
				if name == "text in a wrong encoding" {
					delete(got, kind)
				}
			}
			if g, w := fmt.Sprint(got), fmt.Sprint(c.want); g != w {
				t.Errorf("found  %s\nwanted %s", g, w)
			}
		})
	}
}

// The report is the same to the last byte with any number of workers.
func TestWorkers(t *testing.T) {
	train, test := clean()
	train[9].samples = train[3].samples
	sets := load(t, train, test)
	var first []byte
	for _, n := range []int{1, 2, 7} {
		b, err := json.Marshal(look(t, sets, Options{Workers: n}))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b
		}
		if string(b) != string(first) {
			t.Errorf("%d workers: another report", n)
		}
	}
}

// Without sound, what it would tell is said to be unknown, and texts are looked at all the same.
func TestSkipSound(t *testing.T) {
	train, test := clean()
	train[3].samples = make([]int, rate)
	train[5].Text += " |"
	r := look(t, load(t, train, test), Options{SkipSound: true})
	got := found(r)
	if got["silent"] != nil || got["lookalikes"] == nil || len(r.Notes) != 1 || r.Sets[0].Heard != 0 || r.Sets[0].Level.Count != 0 {
		t.Errorf("%v, %v", got, r.Notes)
	}
}

// A file that is cut short after its header was read is a finding.
func TestUnreadable(t *testing.T) {
	train, test := clean()
	sets := load(t, train, test)
	if err := os.Truncate(sets[0].Set.At(3).Path(), 20); err != nil {
		t.Fatal(err)
	}
	if got := found(look(t, sets, Options{})); fmt.Sprint(got) != "map[unreadable:[train:4]]" {
		t.Error(got)
	}
}

// An audit ends with its context.
func TestEnds(t *testing.T) {
	train, test := clean()
	sets := load(t, train, test)
	why := errors.New("enough")
	ctx, stop := context.WithCancelCause(t.Context())
	_, err := Run(ctx, sets, Options{Workers: 1, Progress: func(done, total int) {
		if total != 80 || done > 20 {
			t.Errorf("%d of %d", done, total)
		}
		if done == 5 {
			stop(why)
		}
	}})
	if !errors.Is(err, why) {
		t.Errorf("error %v, want %v", err, why)
	}
}

// TestNotesOfFiles wants what was odd about whole manifests among the notes.
func TestNotesOfFiles(t *testing.T) {
	path := filepath.Join("..", "..", "examples", "konkani_words", "validation.jsonl")
	set, err := data.Load(t.Context(), path, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := text.Build(set.Texts(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Tokenize(v, data.TokenOptions{Factor: 4, UnknownLimit: 1}); err != nil {
		t.Fatal(err)
	}
	set.Report.Warnings = []string{"a shard is missing"}
	if r := look(t, []Part{{set, Train}}, Options{}); !slices.Equal(r.Notes, set.Report.Warnings) {
		t.Errorf("notes %q", r.Notes)
	}
}

// A line with two notes is one line, whose item tells both; the title counts lines, and each kind of note.
func TestLinesAreCounted(t *testing.T) {
	train, test := clean()
	sets := load(t, train, test)
	s := sets[0].Set
	for i, notes := range map[int]int{3: 2, 7: 3, 9: 1} {
		u := s.At(i)
		for k := range notes {
			s.Report.Add(data.Note{Kind: data.AudioWarning, File: u.File, Line: u.Line, ID: u.ID, Reason: fmt.Sprintf("odd %d", k)})
		}
	}
	u := s.At(9)
	s.Report.Add(data.Note{Kind: data.WrongDuration, File: u.File, Line: u.Line, ID: u.ID, Reason: "9 s"})
	r := look(t, sets, Options{})
	if len(r.Findings) != 1 {
		t.Fatalf("%+v", r.Findings)
	}
	f := r.Findings[0]
	if f.Count != 3 || len(f.Items) != 3 || !strings.HasPrefix(f.Title, "3 lines are doubtful, and used: ") || !strings.Contains(f.Title, "3 audio warning, 1 stated duration is wrong") && !strings.Contains(f.Title, "1 stated duration is wrong, the audio's own is used, 3 audio warning") {
		t.Errorf("%s: %+v", f.Title, f.Items)
	}
	if d := f.Items[0].Detail; f.Items[0].Line != 4 || d != "audio warning: odd 0; audio warning: odd 1" {
		t.Errorf("line %d: %s", f.Items[0].Line, d)
	}
}

// A level that is the same is 0.0 dB away.
func TestTenths(t *testing.T) {
	for v, want := range map[float32]string{-0.01: "0.0", 0.04: "0.0", -0.06: "-0.1", 2.25: "2.3", -13: "-13.0"} {
		if got := fmt.Sprintf("%.1f", tenths(v)); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}
