package data

import (
	"fmt"
	"strings"
	"testing"

	"konkanitrain/data/text"
)

// A summary names the first lines of a kind, what is skipped before what is used, and what concerns the whole.
func TestReportString(t *testing.T) {
	r := &Report{Path: "x.jsonl", Lines: 20, StartsWithMark: 2, Warnings: []string{"odd"}}
	for i := range named + 1 {
		r.Notes = append(r.Notes, Note{TooLong, "x.jsonl", i + 1, "u", "long", true})
	}
	r.Notes = append(r.Notes,
		Note{AudioWarning, "x.jsonl", 15, "v", "silence", false},
		Note{Unmatched, "k/wav.scp", 3, "w", "not in text", true},
		Note{AudioWarning, "x.jsonl", 16, "v", "silence", false})
	v, err := text.NewVocabulary([]rune("a"))
	if err != nil {
		t.Fatal(err)
	}
	v.Encode("ab", &r.Unknown)
	want := "x.jsonl: 0 of 20 utterances used\n" +
		"  1 skipped, in one file of the folder only: w in wav.scp, line 3: not in text\n" +
		"  9 skipped, longer than max_duration:" + lineNotes(1, named, "long") + "\n    and 1 more\n" +
		"  2 used, audio warning:" + lineNotes(15, 16, "silence") + "\n" +
		"  2 texts start with a combining mark; they are used as they are\n" +
		"  1 of 2 letters (50.00 %) are outside the vocabulary: \"b\" x 1\n" +
		"  warning: odd"
	if got := r.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	r.Notes = r.Notes[1:] // as many as are named
	if got := r.String(); strings.Contains(got, "more") {
		t.Errorf("%s", got)
	}
}

// lineNotes is what a summary says of the lines from one to another.
func lineNotes(from, to int, reason string) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "\n    line %d: %s", i, reason)
	}
	return b.String()
}

// Every kind is printed, and in one place.
func TestKinds(t *testing.T) {
	seen := map[Kind]bool{}
	for _, k := range kinds {
		if seen[k] || k == "" {
			t.Errorf("%q stands twice", k)
		}
		seen[k] = true
		r := &Report{Notes: []Note{{k, "", 1, "u", "because", true}}}
		if !strings.Contains(r.String(), string(k)) {
			t.Errorf("%q isn't printed", k)
		}
	}
	for _, k := range []Kind{
		Broken, Unmatched, Missing, Unreadable, Silent, PastEnd, EmptyText, TooShort, TooLong, TextTooLong, CTCTooShort, CTCTooFast,
		WrongDuration, RepeatedKey, AudioWarning, NoMemory, RepeatedSource,
	} {
		if !seen[k] {
			t.Errorf("%q isn't in the list of kinds", k)
		}
	}
	for _, k := range []Kind{Broken, Unmatched, Missing, Unreadable, Silent, PastEnd} {
		if !k.Bad() {
			t.Errorf("%q isn't bad", k)
		}
	}
	for _, k := range []Kind{EmptyText, TooShort, TooLong, TextTooLong, CTCTooShort, CTCTooFast, WrongDuration, RepeatedKey, AudioWarning, RepeatedSource} {
		if k.Bad() {
			t.Errorf("%q is bad", k)
		}
	}
}
