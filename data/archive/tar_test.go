package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTarNames(t *testing.T) {
	long := strings.Repeat("long/", 60) + "म्हजें.wav"
	for _, format := range []tar.Format{tar.FormatPAX, tar.FormatGNU} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, m := range []pair{{"a.wav", wav(1, 700)}, {long, wav(2, 10)}} {
			w.WriteHeader(&tar.Header{Name: m.name, Size: int64(len(m.content)), Format: format})
			w.Write([]byte(m.content))
		}
		w.Close()
		path := write(t, filepath.Join(t.TempDir(), "x.tar"), b.Bytes())
		r, err := NewIndex("").tar(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.members) != 2 || r.members[1].name != long || content(t, r.source(&r.members[1])) != wav(2, 10) {
			t.Errorf("%v: %+v", format, r.members)
		}
	}
}

func TestTarDamaged(t *testing.T) {
	b := makeTar(t, pair{"a.txt", "one"}, pair{"a.wav", wav(1, 5000)}, pair{"b.txt", "two"}, pair{"b.wav", wav(2, 5000)})
	dir := t.TempDir()
	l := mustOpen(t, write(t, dir+"/cut.tar", b[:len(b)-8000]), NewIndex(""))
	checkRows(t, l, "a|one|", "b|two|b: no member is sound; it has .txt")
	noted(t, l.Notes, "cut off in b.wav")
	l = mustOpen(t, write(t, dir+"/zeros.tar", append(bytes.Clone(b[:11776+512]), bytes.Repeat([]byte{7}, 5000)...)), NewIndex(""))
	if len(l.Rows) == 0 || len(l.Notes) == 0 {
		t.Errorf("%+v", l)
	}
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write(b)
	w.Close()
	refused(t, write(t, dir+"/x.tar.gz", z.Bytes()), "gzip", "gunzip -k")
	refused(t, write(t, dir+"/x.tar", []byte("no tar")), "not a tar")
	refused(t, write(t, dir+"/empty.tar", makeTar(t)), "nothing is in it")
}

func TestTarSparse(t *testing.T) {
	b := makeTar(t, pair{"a.wav", "x"})
	var p bytes.Buffer
	w := tar.NewWriter(&p)
	w.WriteHeader(&tar.Header{Name: "a.wav", Size: 1, PAXRecords: map[string]string{"COMMENT.x": "1"}})
	w.Close()
	if sparse(&tar.Header{PAXRecords: map[string]string{"COMMENT.x": "1"}}) {
		t.Error("any record makes a sparse file")
	}
	b[156] = 'S' // the member's type
	sum := 0
	copy(b[148:156], "        ")
	for _, c := range b[:512] {
		sum += int(c)
	}
	copy(b[148:], []byte{byte('0' + sum>>15&7), byte('0' + sum>>12&7), byte('0' + sum>>9&7), byte('0' + sum>>6&7), byte('0' + sum>>3&7), byte('0' + sum&7), 0, ' '})
	refused(t, write(t, t.TempDir()+"/s.tar", b), "s.tar")
}

func TestWebDataset(t *testing.T) {
	l := mustOpen(t, write(t, filepath.Join(t.TempDir(), "x.tar"), makeTar(t,
		pair{"v1/a.json", `{"transcript": "from json", "speaker": 3, "duration": 0.25}`}, pair{"v1/a.FLAC", "fLaC"},
		pair{"v1/b.wav", "RIFF"}, pair{"v1/b.txt", "from text\n"}, pair{"v1/b.json", `{"text": "not this"}`},
		pair{"v2/b.wav", "RIFF"}, pair{"v2/b.cls", "7"},
		pair{"c.left.wav", "RIFF"}, pair{"c.right.wav", "RIFF"}, pair{"c.txt", "two"},
		pair{"d.mic.wav", "RIFF"}, pair{"d.normalized_text", "mic"},
		pair{"e.wav", "RIFF"}, pair{"e.json", `["no"]`},
		pair{"f.wav", "RIFF"}, pair{"f.txt", strings.Repeat("x", mostText+1)},
		pair{"README", "x"},
	)), NewIndex(""))
	for i := range l.Rows { // the part that encoding/json words
		l.Rows[i].Wrong, _, _ = strings.Cut(l.Rows[i].Wrong, " (json:")
	}
	checkRows(t, l, "v1/a|from json|", "v1/b|from text|",
		"v2/b||v2/b: no text; it has .cls, .wav (.cls is the number of a class: write the word as .txt)",
		"c|two|c: 2 members are sound (.left.wav, .right.wav, .txt), and one is needed", "d|mic|",
		"e||e.json: not a JSON object", "f||f.txt: 65537 bytes, too long for a transcript")
	if r := l.Rows[0]; r.Speaker != "3" || r.Stated != "0.25" || r.Line != 1 || l.Rows[2].Line != 6 {
		t.Errorf("%+v", r)
	}
	noted(t, l.Notes, `1 member without a name with an ending left out, the first is "README"`)
	noted(t, l.Notes, `for 1 sample the text in .json is another than that of the member beside it, which counts; the first: v1/b.txt has "from text", v1/b.json "not this"`)
}

func TestShards(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"000", "001"} {
		write(t, filepath.Join(dir, "s-"+n+".tar"), makeTar(t, pair{"a.wav", "RIFF"}, pair{"a.txt", n}))
	}
	for _, pattern := range []string{dir, dir + "/s-{000..001}.tar", dir + "/s-_OP_000..001_CL_.tar", dir + "/*.tar", dir + "/s-{000,001}.tar"} {
		checkRows(t, mustOpen(t, pattern, NewIndex("")), "s-000/a|000|", "s-001/a|001|")
	}
	refused(t, dir+"/s-{000..002}.tar", "s-002.tar")
	refused(t, dir+"/t-*.tar", "no file is there")
	refused(t, dir+"/s-{000..00x}.tar", "must be a range")
	refused(t, dir+"/s-{000.tar", "a { without a }")
	write(t, dir+"/tarred_audio_manifest.json", []byte("{}"))
	refused(t, dir, "2 tars and tarred_audio_manifest.json", "give the list")
	refused(t, dir+"/{s-000.tar,tarred_audio_manifest.json}", "neither a tar")
}

func TestBesideAManifest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b") // a folder's name is no pattern
	write(t, dir+"/audio_0.tar", makeTar(t, pair{"a.wav", "0a"}, pair{"b.wav", "0b"}))
	write(t, dir+"/audio_1.tar", makeTar(t, pair{"c.wav", "1c"}, pair{"b.wav", "1b"}))
	b, err := OpenBeside(t.Context(), dir, NewIndex(""))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a.wav": "0a", "a-sub1.wav": "0a", "c-sub12.wav": "1c"} {
		s, err := b.Find(name)
		if err != nil || s == nil || content(t, s) != want {
			t.Errorf("%v: %v, %v", name, s, err)
		}
	}
	if s, err := b.Find("x.wav"); s != nil || err != nil {
		t.Error(s, err)
	}
	if _, err := b.Find("b.wav"); err == nil || !strings.Contains(err.Error(), "must be unique") {
		t.Error(err)
	}
	if b, err := OpenBeside(t.Context(), os.TempDir()+"/none", NewIndex("")); b != nil || err != nil {
		t.Error(b, err)
	}
}

// TestTarInAnyOrder has members that share a key apart, as where they are sorted by kind, and those of macOS.
func TestTarInAnyOrder(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, write(t, dir+"/x.tar", makeTar(t,
		pair{"./._a.wav", "mac"}, pair{"./a.wav", wav(1, 5)}, pair{"./b.wav", wav(2, 5)}, pair{"./c.wav", "RIFF"},
		pair{"__MACOSX/a.txt", "mac"}, pair{"./._a.txt", "\x00\x01"}, pair{"./a.txt", "one"}, pair{"./b.txt", "two"}, pair{"./c.wav", "RIFF"},
	)), NewIndex(""))
	checkRows(t, l, "./a|one|", "./b|two|", "./c||./c.wav stands in the tar more than once")
	if len(l.Notes) > 0 || l.Rows[0].Line != 2 || content(t, l.Rows[1].Source) != wav(2, 5) {
		t.Errorf("%q, %+v", l.Notes, l.Rows)
	}
}

func TestTarLinks(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []*tar.Header{
		{Name: "a.wav", Typeflag: tar.TypeSymlink, Linkname: "wav/a.wav"}, {Name: "a.txt", Size: 1},
		{Name: "b.wav", Typeflag: tar.TypeLink, Linkname: "a.wav"}, {Name: "latest", Typeflag: tar.TypeSymlink, Linkname: "v1"},
	} {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		w.Write(make([]byte, h.Size))
	}
	w.Close()
	path := write(t, t.TempDir()+"/x.tar", b.Bytes())
	index := t.TempDir()
	for range 2 { // the second time from the index
		const how = " (write the tar with --dereference --hard-dereference)"
		checkRows(t, mustOpen(t, path, NewIndex(index)), "a|\x00|a: no member is sound; it has .txt, a.wav, a link to wav/a.wav"+how,
			"b||b: no member is sound; it has b.wav, a link to a.wav"+how)
	}
	beside, err := OpenBeside(t.Context(), filepath.Dir(path), NewIndex(""))
	if err != nil {
		t.Fatal(err)
	}
	if found, _ := beside.Find("a.wav"); found != nil {
		t.Error("a link is taken for sound")
	}
}

// TestTarEnd cuts a tar behind each member, and puts another behind its end.
func TestTarEnd(t *testing.T) {
	members := []pair{{"a.txt", "one"}, {"a.wav", string(make([]byte, 1024))}, {"b.txt", "two"}, {"b.wav", "RIFF"}}
	dir := t.TempDir()
	whole := makeTar(t, members...)
	for n := 1; n <= len(members); n++ {
		b := makeTar(t, members[:n]...)
		l := mustOpen(t, write(t, dir+"/x.tar", b), NewIndex(""))
		if len(l.Notes) > 0 {
			t.Errorf("a whole tar: %q", l.Notes)
		}
		l = mustOpen(t, write(t, dir+"/x.tar", b[:len(b)-1024]), NewIndex(""))
		noted(t, l.Notes, "it ends behind "+members[n-1].name+" without the mark of a tar's end")
	}
	l := mustOpen(t, write(t, dir+"/x.tar", append(bytes.Clone(whole), make([]byte, 9000)...)), NewIndex(""))
	if len(l.Notes) > 0 {
		t.Errorf("a tar that is filled up: %q", l.Notes)
	}
	l = mustOpen(t, write(t, dir+"/x.tar", append(bytes.Clone(whole), whole...)), NewIndex(""))
	checkRows(t, l, "a|one|", "b|two|")
	noted(t, l.Notes, "what lies behind is not read")
}
