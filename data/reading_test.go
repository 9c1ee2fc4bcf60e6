package data

import (
	"bytes"
	"context"
	"testing"
)

// listed is what a manifest has in it, before any sound is looked for.
type listed struct {
	entries []entry
	notes   []string
}

// listWith reads a manifest line by line.
func listWith(read func(l *listing) error) (listed, error) {
	var got listed
	l := listing{ctx: context.Background(), prepare: func(*entry) {}, take: func(e *entry) { got.entries = append(got.entries, *e) }}
	err := read(&l)
	got.notes = l.notes
	return got, err
}

func listPath(path string) (listed, error) {
	return listWith(func(l *listing) error { return l.read(path) })
}

// listBytes reads a manifest that is one file with the content b.
func listBytes(path string, b []byte) (listed, error) {
	return listWith(func(l *listing) error {
		t, err := newText(path, bytes.NewReader(b))
		if err != nil {
			return err
		}
		return l.readText(t)
	})
}

// some yields copies of the utterances of a set from one place to before another.
func some(s *Set, from, to int) []*Utterance {
	var out []*Utterance
	for i := from; i < to; i++ {
		out = append(out, s.At(i))
	}
	return out
}

// unpacked is a Set of the same utterances, which can be changed.
func unpacked(s *Set) *Set { return NewSet(s.Path, s.SampleRate, some(s, 0, s.Len())...) }

// A packed line is what was packed, whatever is in it.
func TestRows(t *testing.T) {
	r := &rows{letters: new(letters)}
	var many []byte
	for c := rune(' '); c < 700; c++ {
		many = append(many, string(c)...)
	}
	entries := []entry{
		{audio: "a.wav", text: "वाट 😀", file: "x", line: 1},
		{audio: "a.wav", text: string(many), file: "x", line: 300, part: true, offset: 1.25, speaker: "s"},
		{audio: "b.wav", text: string(bytes.Repeat(many, 1000)), file: "y", line: 2, id: "u1", part: true},
		{file: "x", line: 4, kind: Broken, reason: "no"},
		{audio: "b.wav", text: "a", file: "x", line: 1 << 30, odd: "1,5", twice: []string{"text", "a"}, speaker: "t"},
	}
	for i := range entries {
		if n := r.add(&entries[i]); n != i {
			t.Fatalf("row %d at %d", i, n)
		}
	}
	for i, e := range entries {
		p := r.at(i)
		speaker, audio := "", ""
		if p.speaker > 0 {
			speaker = r.speakers.list[p.speaker-1]
		}
		if r.sounds[i] >= 0 {
			audio = r.paths.list[r.sounds[i]]
		}
		if audio != e.audio || r.letters.unpack(p.text) != e.text || r.files.list[p.file] != e.file || p.line != e.line || string(p.id) != e.id ||
			p.part != e.part || p.offset != e.offset || speaker != e.speaker || p.odd != e.odd || (p.unfit > 0) != (e.kind != "") {
			t.Errorf("row %d: %+v of %+v", i, p, e)
		}
	}
	if p := r.at(3); kinds[p.unfit-1] != Broken {
		t.Errorf("%+v", p)
	}
	if p := r.at(4); p.twice != "text\x00a" {
		t.Errorf("%+v", p)
	}
}

func FuzzLetters(f *testing.F) {
	f.Add("वाट", "a\u0301 😀\x00\ufffd")
	f.Fuzz(func(t *testing.T, a, b string) {
		var l letters
		a, b = string([]rune(a)), string([]rune(b)) // texts are UTF-8
		x, y := l.pack(nil, a), l.pack(nil, b)
		if l.unpack(x) != a || l.unpack(y) != b {
			t.Fatalf("%q and %q came back as %q and %q", a, b, l.unpack(x), l.unpack(y))
		}
	})
}
