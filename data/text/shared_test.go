package text

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

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

func codes(s string) string {
	var out []string
	for _, r := range s {
		out = append(out, fmt.Sprintf("%04X", r))
	}
	return strings.Join(out, " ")
}

func TestTextCases(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "cases", "text")
	var p Policy
	eachJSON(t, filepath.Join(dir, "nfc_pairs.jsonl"), func(c struct {
		A, B string
		Want string `json:"nfc_codes"`
	}) {
		if a, b := codes(p.Normalize(c.A)), codes(p.Normalize(c.B)); a != c.Want || b != c.Want {
			t.Errorf("%s, %s, want %s", a, b, c.Want)
		}
	})
	joiners := map[string]string{}
	eachJSON(t, filepath.Join(dir, "joiners.jsonl"), func(c struct{ ID, Text string }) { joiners[c.ID] = c.Text })
	plain, atEnd := p.Normalize(joiners["plain"]), p.Normalize(joiners["zwj_at_end"])
	if p.Normalize(joiners["zwj"]) != plain || p.Normalize(joiners["zwnj"]) != plain || p.Normalize(joiners["eyelash_letter"]) == plain || atEnd != "वाट" {
		t.Error("joiners are not stripped")
	}
	v, err := Build(slices.Values([]string{Policy{KeepJoiners: true}.Normalize(joiners["zwj"] + joiners["zwnj"])}), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range "\u200c\u200d" {
		if _, ok := v.ID(r); !ok {
			t.Errorf("%U is kept, but not in the vocabulary", r)
		}
	}
	eachJSON(t, filepath.Join(dir, "digits.jsonl"), func(c struct {
		Ref, Hyp string
		Kept     int `json:"word_errors_kept"`
		Folded   int `json:"word_errors_folded"`
		Words    int
	}) {
		for fold, want := range map[bool]int{false: c.Kept, true: c.Folded} {
			p := Policy{FoldDigits: fold}
			var s Score
			if s.Add(p.Normalize(c.Ref), p.Normalize(c.Hyp)); s.Words.Errors() != want || s.Words.Ref != c.Words {
				t.Errorf("%s, %s: %v", c.Ref, c.Hyp, &s)
			}
		}
	})
	v = devanagari(t)
	eachJSON(t, filepath.Join(dir, "marks.jsonl"), func(c struct {
		Text   string
		Points int `json:"code_points"`
		Words  int
		Starts bool `json:"starts_with_mark"`
	}) {
		var s Score
		s.Add(c.Text, v.Decode(v.Encode(p.Normalize(c.Text), nil)))
		if s.Chars != (Counts{Ref: c.Points}) || s.Words != (Counts{Ref: c.Words}) || StartsWithMark(c.Text) != c.Starts {
			t.Errorf("%s: %v", c.Text, &s)
		}
	})
	eachJSON(t, filepath.Join(dir, "mixed_script.jsonl"), func(c struct {
		Text    string
		Outside int `json:"codes_not_in_vocab"`
		Letters int
		Top     [][2]any
	}) {
		var u Unknown
		v.Encode(p.Normalize(c.Text), &u)
		got := fmt.Sprint(u.Outside, u.Letters)
		for _, x := range u.Top(0) {
			got += fmt.Sprint(x.Char, x.Count)
		}
		want := fmt.Sprint(c.Outside, c.Letters)
		for _, x := range c.Top {
			want += fmt.Sprint(x[0], x[1])
		}
		if got != want {
			t.Errorf("%s: %s, want %s", c.Text, got, want)
		}
	})
	eachJSON(t, filepath.Join(dir, "spaces.jsonl"), func(c struct{ Text, Normalised string }) {
		if got := p.Normalize(c.Text); got != c.Normalised {
			t.Errorf("%+q -> %+q", c.Text, got)
		}
	})
}

// 4100 real pairs: the integers of each pair and in total.
func TestScoresOfAnotherRecognizer(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "data", "asr_scores")
	f, err := os.Open(filepath.Join(dir, "pairs.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join(dir, "per_pair.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(table)) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
		want[id] = rest
	}
	var total Score
	for _, row := range rows[1:] {
		var s Score
		s.Add(row[1], row[2])
		var got []string
		for _, n := range []int{s.Words.Errors(), s.Words.Ref, s.Chars.Errors(), s.Chars.Ref} {
			got = append(got, strconv.Itoa(n))
		}
		if g := strings.Join(got, "\t"); g != want[row[0]] {
			t.Errorf("pair %s: %s, want %s", row[0], g, want[row[0]])
		}
		total.Merge(&s)
	}
	if total.Words.Errors() != 10538 || total.Words.Ref != 47277 || total.Chars.Errors() != 17246 || total.Chars.Ref != 309163 || total.Utterances != 4100 || total.Exact != 986 {
		t.Errorf("%v, %d exact", &total, total.Exact)
	}
	t.Log(&total)
}
