package data

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/internal/frames"
	"konkanitrain/internal/testkit"
)

func eachJSON[T any](t *testing.T, path string, use func(T)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		use(v)
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
}

func TestManifestCases(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "cases", "manifests")
	type want struct {
		File, Error string
		Kept        int
		Reported    []int `json:"reported_lines"`
		Durations   []float64
		Seconds     float64
		Texts, IDs  []string
		Audio       []string `json:"audio_without_text"`
		Text        []string `json:"text_without_audio"`
	}
	eachJSON(t, filepath.Join(dir, "expected.jsonl"), func(w want) {
		t.Run(w.File, func(t *testing.T) {
			s, err := Load(context.Background(), filepath.Join(dir, w.File), Options{})
			switch {
			case w.File == "utf16.jsonl": // reading it is as right as naming it
				if err != nil || s.Len() != 3 || !strings.Contains(s.Report.String(), "UTF-16") {
					t.Errorf("%v", err)
				}
				return
			case w.Error != "" || w.Kept == 0:
				if err == nil {
					t.Fatalf("read, want an error: %s", w.Error)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			if s.Len() != w.Kept {
				t.Errorf("%d kept, want %d", s.Len(), w.Kept)
			}
			if got := s.Report.reported(Broken, Missing, Unreadable, EmptyText, WrongDuration, TooLong, AudioWarning); w.File != "kaldi" && !slices.Equal(got, w.Reported) {
				t.Errorf("lines %v reported, want %v", got, w.Reported)
			}
			if w.Durations != nil && !slices.Equal(durations(s), w.Durations) || w.Texts != nil && !slices.Equal(texts(s), w.Texts) || w.IDs != nil && !slices.Equal(ids(s), w.IDs) {
				t.Errorf("%v %q %q", durations(s), texts(s), ids(s))
			}
			if w.Seconds != 0 && s.Seconds() != w.Seconds {
				t.Errorf("%v s, want %v", s.Seconds(), w.Seconds)
			}
			for _, id := range slices.Concat(w.Audio, w.Text) {
				if !strings.Contains(s.Report.String(), " "+id+" in ") {
					t.Errorf("%s isn't named: %v", id, s.Report)
				}
			}
		})
	})

	s := mustLoad(t, filepath.Join(dir, "lying_duration.jsonl"), Options{MaxDuration: 1.2})
	if s.Len() != 2 || !slices.Equal(s.Report.reported(TooLong), []int{3}) {
		t.Errorf("real durations and a limit: %v", s.Report)
	}
	s = mustLoad(t, filepath.Join(dir, "foreign_paths.jsonl"), Options{PathMap: []Mapping{{"/Volumes/data&proj/konkani/my set", "audio"}}})
	if s.Len() != 3 {
		t.Errorf("mapped: %v", s.Report)
	}
	s = mustLoad(t, filepath.Join(dir, "broken_line.jsonl"), Options{SkipBadLines: true})
	if s.Len() != 4 || !slices.Equal(s.Report.reported(Broken), []int{3}) {
		t.Errorf("skipping: %v", s.Report)
	}
	if _, err := Load(context.Background(), filepath.Join(dir, "missing_file.jsonl"), Options{BadLimit: 0.1}); err == nil || !strings.Contains(err.Error(), "1 of 5") {
		t.Errorf("a lower limit: %v", err)
	}
	s = mustLoad(t, filepath.Join(dir, "long_and_short.jsonl"), Options{MaxDuration: 30})
	if s.Len() != 100 || !slices.Equal(s.Report.reported(TooLong), []int{51}) {
		t.Errorf("a long one: %v", s.Report)
	}
	s = mustLoad(t, filepath.Join(dir, "long_and_short.jsonl"), Options{})
	if u := s.At(s.Longest()); u.ID != "long" || u.Duration != 60 || u.Frames != 6000 || frames.Subsampled(u.Frames, 4) != 1500 {
		t.Errorf("the longest: %+v", u)
	}
	if got := Overlap(mustLoad(t, filepath.Join(dir, "good.jsonl"), Options{}), mustLoad(t, filepath.Join(dir, "same_in_train_and_val.jsonl"), Options{})); !strings.HasPrefix(got, "1 of 1 ") {
		t.Errorf("overlap: %q", got)
	}
}

// Files with nothing in them beside a good one: one is used, four are named.
func TestEmptyFilesInAManifest(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "cases", "audio")
	var b strings.Builder
	for _, name := range []string{"empty", "riff_only", "header_only", "no_fmt", "base16"} {
		fmt.Fprintf(&b, `{"audio_filepath": %q, "text": "a"}`+"\n", filepath.Join(dir, name+".wav"))
	}
	path := filepath.Join(t.TempDir(), "x.jsonl")
	os.WriteFile(path, []byte(b.String()), 0o644)
	s := mustLoad(t, path, Options{})
	if s.Len() != 1 || !slices.Equal(s.Report.reported(Unreadable), []int{1, 2, 3, 4}) {
		t.Errorf("%v", s.Report)
	}
	reasons := map[string]bool{}
	for _, n := range s.Report.Notes {
		reasons[n.Reason[strings.LastIndex(n.Reason, ".wav"):]] = true
	}
	if len(reasons) != 4 {
		t.Errorf("four faults, %d messages: %v", len(reasons), s.Report)
	}
}

// unheard is a set of which no sound is looked for: its durations are those stated.
func unheard(t *testing.T, path string) *Set {
	t.Helper()
	l, err := listPath(path)
	if err != nil {
		t.Fatal(err)
	}
	var us []*Utterance
	for i := range l.entries {
		e := &l.entries[i]
		if (Options{}).checkText(e); e.kind == "" {
			us = append(us, &Utterance{Text: e.text, Duration: e.duration})
		}
	}
	s := NewSet(path, 16000, us...)
	s.Report.Lines = len(l.entries)
	return s
}

// The manifests of an earlier trainer: real, dirty, without audio.
func TestManifestsWithoutAudio(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "data", "konkanivani_manifests")
	_, err := Load(context.Background(), filepath.Join(dir, "train.json"), Options{})
	if err == nil || !strings.Contains(err.Error(), "0 of 2549 audio files found") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	marks, seconds := 0, 0.0
	var train *Set
	for _, name := range []string{"train.json", "val.json", "test.json"} {
		s := unheard(t, filepath.Join(dir, name))
		marks += s.Report.StartsWithMark
		seconds += s.Seconds()
		for u := range s.Texts() {
			if strings.Contains(u, "  ") {
				t.Fatalf("two spaces: %q", u)
			}
		}
		if train == nil {
			train = s
		}
		v, err := text.Build(train.Texts(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Tokenize(v, TokenOptions{UnknownLimit: 0.001}); err != nil {
			t.Error(err)
		}
	}
	if marks != 294 || fmt.Sprintf("%.2f", seconds/3600) != "25.91" {
		t.Errorf("%d texts start with a mark, %.2f h", marks, seconds/3600)
	}
	chars := 0
	for _, u := range train.All() {
		chars += len(u.Tokens)
	}
	if chars != 375691 {
		t.Errorf("%d characters", chars)
	}
}

// Spoken digits, subsampled by 4: eight times "three" has 5 frames where 6 are needed.
func TestDigitsTooShortForCTC(t *testing.T) {
	path := filepath.Join(testkit.Shared(t), "data", "fsdd", "all.jsonl")
	s := mustLoad(t, path, Options{})
	if s.Len() != 3000 || len(s.Report.Notes) != 0 {
		t.Errorf("%v", s.Report)
	}
	v, err := text.Build(s.Texts(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for factor, want := range map[int][]string{2: nil,
		4: {"3_george_20", "3_george_39", "3_nicolas_13", "3_nicolas_16", "3_nicolas_17", "3_nicolas_19", "3_theo_17", "3_theo_34"}} {
		if err := s.Tokenize(v, TokenOptions{Factor: factor}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range s.Report.Notes {
			got = append(got, strings.TrimSuffix(filepath.Base(n.ID), ".wav"))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("factor %d: %q", factor, got)
		}
		s.Report.Notes = nil
	}
}

func TestFrameCases(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "cases", "numbers")
	type count struct {
		Samples int `json:"samples_16k"`
		Frames  int `json:"feature_frames"`
	}
	eachJSON(t, filepath.Join(dir, "frames.jsonl"), func(c count) {
		if got := frames.Count(c.Samples, 16000); got != c.Frames {
			t.Errorf("%d samples are %d frames, want %d", c.Samples, got, c.Frames)
		}
	})
	type length struct {
		Frames int `json:"feature_frames"`
		X2     int
		X4     int
		X8     int
	}
	eachJSON(t, filepath.Join(dir, "lengths.jsonl"), func(c length) {
		for factor, want := range map[int]int{2: c.X2, 4: c.X4, 8: c.X8} {
			if got := frames.Subsampled(c.Frames, factor); got != want {
				t.Errorf("%d frames by %d: %d, want %d", c.Frames, factor, got, want)
			}
		}
	})
	type feasible struct {
		Text       string
		Need       int `json:"least_encoder_frames"`
		X2, X4, X8 count
	}
	eachJSON(t, filepath.Join(dir, "feasible.jsonl"), func(c feasible) {
		v, err := text.Build(slices.Values([]string{c.Text}), 1)
		if err != nil {
			t.Fatal(err)
		}
		tokens := v.Encode(c.Text, nil)
		if got := frames.CTCNeed(tokens); got != c.Need {
			t.Errorf("%q needs %d frames, want %d", c.Text, got, c.Need)
		}
		for factor, least := range map[int]count{2: c.X2, 4: c.X4, 8: c.X8} {
			if frames.Count(least.Samples, 16000) != least.Frames || frames.Count(least.Samples-1, 16000) != least.Frames-1 {
				t.Errorf("%q by %d: %d samples", c.Text, factor, least.Samples)
			}
			if !frames.Feasible(least.Frames, factor, tokens) || frames.Feasible(least.Frames-1, factor, tokens) {
				t.Errorf("%q by %d: the least is not %d frames", c.Text, factor, least.Frames)
			}
		}
	})
}

// Manifests that were tried on the program: what is used and what is said.
func TestTriedManifests(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "cases", "tried")
	skip := Options{SkipBadLines: true}
	for _, c := range []struct {
		file    string
		options Options
		kept    int      // 0: an error
		say     []string // parts of the report or of the error
	}{
		{"duration-types/types.jsonl", Options{}, 5, []string{"stated duration is wrong"}},
		{"file-name-forms/names.jsonl", Options{}, 12, []string{"3 used, file found under another name"}},
		{"manifest-keys/keys.jsonl", Options{}, 5, []string{"key twice in one line, the last is used: line 4: text"}},
		{"manifest-messages/indented.jsonl", Options{}, 0, []string{"the object that starts on line 1 goes over several lines", "jq -c ."}},
		{"manifest-messages/cr_only.jsonl", Options{}, 3, nil},
		{"manifest-messages/other_key.jsonl", Options{}, 3, nil},
		{"nul-bytes/short.jsonl", Options{}, 0, []string{"line 4: byte 1 is NUL"}},
		{"nul-bytes/longer.jsonl", Options{}, 0, []string{"line 13: byte 1 is NUL"}},
		{"nul-bytes/middle.jsonl", Options{}, 0, []string{"line 4: byte 1 is NUL"}},
		{"nul-bytes/short.jsonl", skip, 3, []string{"line 4"}},
		{"nul-bytes/longer.jsonl", skip, 12, []string{"line 13"}},
		{"nul-bytes/middle.jsonl", skip, 11, []string{"line 4"}},
		{"part-past-end/parts.jsonl", Options{}, 2, []string{"1 skipped, part that ends behind its recording: line 2: past: ends at 3.378 s", "has 1.397 s"}},
		{"wav-subformat/files.jsonl", Options{}, 1, []string{"2 skipped, audio can't be read", "ambisonic"}},
		{"wav-more-behind-data/files.jsonl", Options{}, 4, []string{"3 used, audio warning"}},
	} {
		s, err := Load(context.Background(), filepath.Join(dir, c.file), c.options)
		var said string
		switch {
		case c.kept == 0 && err != nil:
			said = err.Error()
		case err != nil || s.Len() != c.kept:
			t.Errorf("%s: %v, %v", c.file, s, err)
			continue
		default:
			said = s.Report.String()
		}
		for _, part := range c.say {
			if !strings.Contains(said, part) {
				t.Errorf("%s: %q isn't in: %s", c.file, part, said)
			}
		}
	}
	s := mustLoad(t, filepath.Join(dir, "part-past-end", "kaldi"), Options{})
	if !strings.Contains(s.Report.String(), "part that ends behind its recording") {
		t.Errorf("%v", s.Report)
	}
	// Texts of 25 letters on 25 encoder frames: at speed 1.1 there are 23.
	s = mustLoad(t, filepath.Join(dir, "speed-and-ctc", "tight.jsonl"), Options{})
	v, err := text.Build(s.Texts(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Tokenize(v, TokenOptions{Factor: 4, Speeds: []float64{0.9, 1, 1.1}}); err != nil || s.Report.Count(CTCTooFast) != 8 {
		t.Errorf("%v, %v", err, s.Report)
	}
}

// Files that are bad behind their header: each is named once and counted, and global statistics leave it out.
func TestTriedBadSamples(t *testing.T) {
	path := filepath.Join(testkit.Shared(t), "cases", "tried", "bad-samples", "mixed.jsonl")
	s := mustLoad(t, path, Options{})
	l := newLoader(t, s, LoaderOptions{Window: 8, Feature: feature.Default()})
	for range 2 {
		if n := runEpoch(t, l); n != 16 {
			t.Errorf("%d of 16 can't be used", n)
		}
	}
	if news := s.News(); len(news) != 16 {
		t.Errorf("%d are named", len(news))
	}
	if r := s.Outcome(); r.Kept != 4 || r.Count(Unreadable) != 16 {
		t.Errorf("%v", r)
	}
	if err := s.TooManyBad(); err == nil || !strings.Contains(err.Error(), "16 of 20 lines are bad") {
		t.Errorf("%v", err)
	}
	s = mustLoad(t, path, Options{BadLimit: 1})
	if stats, err := Statistics(context.Background(), s, feature.Default(), 2); err != nil || stats.Frames == 0 {
		t.Errorf("%v", err)
	}
}
