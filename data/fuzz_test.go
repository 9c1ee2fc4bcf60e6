package data

import (
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

// checkListing holds what every listing promises, whatever the bytes were.
func checkListing(t *testing.T, l listed, err error, lines int) {
	if err != nil {
		return
	}
	for _, e := range l.entries {
		if e.line < 1 || e.line > lines {
			t.Fatalf("an entry on line %d of %d", e.line, lines)
		}
		if (e.kind == "") != (e.reason == "") {
			t.Fatalf("line %d: kind %q, reason %q", e.line, e.kind, e.reason)
		}
		if e.kind != "" {
			continue
		}
		if e.audio == "" || !utf8.ValidString(e.audio) || !utf8.ValidString(e.text) || e.part && !(e.offset >= 0 && e.duration >= 0) {
			t.Fatalf("line %d is taken for good: %+v", e.line, e)
		}
	}
}

func newlines(b []byte) int {
	n := 1
	for _, c := range b {
		if c == '\n' {
			n++
		}
	}
	return n
}

func FuzzListFile(f *testing.F) {
	for _, name := range []string{"x.jsonl", "x.tsv", "x.csv", "x.txt", "7-1.trans.txt"} {
		f.Add(name, []byte(lineA+"\r\n"+lineB[:30]+"\n"+lineC))
		f.Add(name, []byte("\ufeffpath,text,offset\na.wav,\"b\nc\",1\n\"d\"e,f,g\n"))
		f.Add(name, []byte("path\ttext\tduration\na.wav\t\"b\t1e9\nc\n\td\t\n"))
		f.Add(name, []byte(utf16le(lineA+lineB)))
		f.Add(name, []byte(`{"audio_filepath": "a", "offset": 1e308, "duration": 1e308, "id": {}}`))
		f.Add(name, []byte("[{}"))
		f.Add(name, []byte("a|b|c\nd|e\n|\n"))
		f.Add(name, []byte("ID,duration,wav,start,stop,spk_id,wrd\nx,1,y,8000,16000,s,t\n"))
		f.Add(name, []byte("7-1-0 A\n\n7-1-1\n"))
		f.Add(name, []byte{0, '{'})
	}
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		l, err := listBytes(name, b)
		if b2, _, err2 := decode(name, b); err2 == nil {
			checkListing(t, l, err, newlines(b2))
		}
	})
}

func FuzzListKaldi(f *testing.F) {
	f.Add([]byte("u1 a\nu2\n"), []byte("r1 x.wav\n"), []byte("u1 r1 0 1\nu2 r1 1 -1\n"))
	f.Add([]byte("u1 a\nu1 b\n"), []byte("u1 x.wav |\n"), []byte(""))
	f.Add([]byte("\xff\xfeu\x00"), []byte("\t \n"), []byte("u r NaN Inf\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text, scp, segments []byte) {
		for name, b := range map[string][]byte{"text": text, "wav.scp": scp, "segments": segments} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if len(segments) == 0 {
			os.Remove(filepath.Join(dir, "segments"))
		}
		l, err := listPath(dir)
		checkListing(t, l, err, max(newlines(text), newlines(scp), newlines(segments))+len(text)+len(segments))
	})
}

func FuzzPathMap(f *testing.F) {
	f.Add("/a=b", "/a/c.wav")
	f.Add(`D:\x=y`, `D:\x\z.wav`)
	f.Fuzz(func(t *testing.T, mapping, path string) {
		maps, err := ParsePathMap([]string{mapping})
		if err != nil {
			return
		}
		m := maps[0]
		if again, err := ParsePathMap([]string{m.From + "=" + m.To}); err != nil || again[0] != m {
			t.Fatalf("%q -> %v -> %v, %v", mapping, m, again, err)
		}
		for _, c := range (&resolver{base: "base", maps: []Mapping{m}, places: tablePlaces, parents: true}).candidates(path) {
			if path != "" && c == "" {
				t.Fatalf("%q with %v stands for nothing", path, m)
			}
		}
	})
}
