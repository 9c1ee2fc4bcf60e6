package data

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// checkObject holds the scanner of plain objects to encoding/json: what it takes, that takes too, with the same
// members.
func checkObject(t *testing.T, line string) {
	t.Helper()
	if notText(line) != "" {
		return
	}
	o, plain := scanObject(line, nil)
	if !plain {
		return
	}
	var e entry
	want := e.decode(line)
	if e.kind != "" || len(e.twice) > 0 || len(want) != len(o) {
		t.Fatalf("%s is taken as %v; encoding/json: %v %v %s", line, o, want, e.twice, e.reason)
	}
	for _, m := range o {
		raw := want.get(m.key)
		if raw != m.value || unquote(m.value) != slow(raw) {
			t.Fatalf("%s: %s is taken as %s, which is %q; encoding/json: %s, %q", line, m.key, m.value, unquote(m.value), raw, slow(raw))
		}
	}
}

// slow is unquote by encoding/json alone.
func slow(raw string) string {
	var e entry
	values := e.decode(`{"x":` + raw + `}`)
	if len(values) != 1 || raw[0] != '"' {
		return raw
	}
	var s string
	_ = json.Unmarshal([]byte(raw), &s)
	return s
}

var objects = []string{
	`{}`, ` { "a" : 1 } `, `{"a":"b\u0915\n\"","c":[1,2,{"d":null}],"e":true,"f":false,"g":-1.5e+7}`, `{"a":"\ud83d\ude00"}`, `{"a":"\ud800"}`,
	`{"a":01}`, `{"a":1.}`, `{"a":1e}`, `{"a":-}`, `{"a":tru}`, `{"a":1,}`, `{,}`, `{"a" 1}`, `{"a":"\x"}`, `{"a":"\u12g4"}`, `{"a":1}x`, `{"a":[}`, `{"a":[1,]}`,
	`{"a":{"b":1,"b":2}}`, `{"a":1,"a":2}`, `{"\u0061":1,"a":2}`, "{\"a\":\"\t\"}", `{"a":""}`, `{"a":nul`, `{"a":"b`, `[]`, `1`, ``, `null`, `{"a":1e999}`,
	`{"a":"वाट"}`, lineA, lineB,
}

func TestObjects(t *testing.T) {
	for _, line := range objects {
		checkObject(t, line)
	}
	for _, line := range []string{lineA, objects[0], objects[1], objects[2]} {
		if _, plain := scanObject(line, nil); !plain {
			t.Errorf("%s isn't plain", line)
		}
	}
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	if _, plain := scanObject(`{"a":`+deep+`}`, nil); plain {
		t.Error("a hundred lists in each other are plain")
	}
}

func FuzzObject(f *testing.F) {
	for _, line := range objects {
		f.Add(line)
	}
	f.Fuzz(checkObject)
}

// Blocks of lines give what the lines give one by one, with their numbers, in any mixture of line ends.
func TestBlocks(t *testing.T) {
	var b strings.Builder
	var want []int
	for i := range 40_000 {
		switch {
		case i%7 == 3:
			b.WriteString(" \r\n")
			continue
		case i == 9000:
			b.WriteString(edit(lineA, "वाट", strings.Repeat("वाट", 100_000))) // longer than a block
		case i%5 == 0:
			b.WriteString(strings.ReplaceAll(lineA, "\n", "\r\n"))
		default:
			b.WriteString(lineB)
		}
		want = append(want, i+1)
	}
	l, err := listBytes("x.jsonl", []byte(strings.TrimRight(b.String(), "\n")))
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, e := range l.entries {
		if e.kind != "" {
			t.Fatalf("line %d: %s", e.line, e.reason)
		}
		got = append(got, e.line)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
}
