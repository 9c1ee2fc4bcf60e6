package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// file makes the bytes of a file of a header text and a number of data bytes.
func file(head string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	return append(append(b, head...), make([]byte, data)...)
}

func TestDamagedFilesAreRefused(t *testing.T) {
	entry := func(dtype, shape, offsets string) string {
		return `"t":{"dtype":"` + dtype + `","shape":` + shape + `,"data_offsets":` + offsets + `}`
	}
	second := `,"u":{"dtype":"U8","shape":[1],"data_offsets":`
	for _, c := range []struct {
		what string
		data []byte
	}{
		{"shortest", []byte("short")},
		{"announced", file("{}", 0)[:9]},
		{`not a safetensors file: it begins with "RIFF\x00\x01\x02\x03", and no header`, []byte("RIFF\x00\x01\x02\x03WAVEfmt ")},
		{"announced", append(binary.LittleEndian.AppendUint64(nil, math.MaxUint64), "{}"...)},
		{"doesn't start", file("", 0)},
		{"doesn't start", file(" {}", 0)},
		{"UTF-8", file("{\"\xff\":1}", 0)},
		{"unexpected EOF", file(`{"t":{`, 0)},
		{"after the closing", file(`{} {}`, 0)},
		{"file has 4 bytes", file(`{}`, 4)},
		{"unknown dtype", file(`{`+entry("F31", "[1]", "[0,4]")+`}`, 4)},
		{"doesn't take", file(`{`+entry("F32", "[2]", "[0,4]")+`}`, 4)},
		{"doesn't take", file(`{`+entry("F32", "[4294967296,4294967296,4]", "[0,4]")+`}`, 4)},
		{"not a size", file(`{`+entry("F32", "[-1]", "[0,4]")+`}`, 4)},
		{"not a size", file(`{`+entry("F32", "[1.0]", "[0,4]")+`}`, 4)},
		{"where a number", file(`{`+entry("F32", "[null]", "[0,4]")+`}`, 4)},
		{"where a number", file(`{`+entry("F32", `["1"]`, "[0,4]")+`}`, 4)},
		{"belongs", file(`{`+entry("F32", "null", "[0,4]")+`}`, 4)},
		{"don't lie within", file(`{`+entry("F32", "[1]", "[0,8]")+`}`, 4)},
		{"don't lie within", file(`{`+entry("F32", "[1]", "[4,0]")+`}`, 4)},
		{"don't lie within", file(`{`+entry("F32", "[1]", "[0]")+`}`, 4)},
		{"more than 32", file(`{`+entry("F32", "["+strings.Repeat("1,", 40)+"1]", "[0,4]")+`}`, 4)},
		{"overlaps", file(`{`+entry("U8", "[4]", "[0,4]")+second+`[3,4]}}`, 4)},
		{"gap before", file(`{`+entry("U8", "[2]", "[0,2]")+second+`[3,4]}}`, 4)},
		{"take 2 bytes", file(`{`+entry("U8", "[1]", "[0,1]")+second+`[1,2]}}`, 4)},
		{"occurs twice", file(`{`+entry("U8", "[4]", "[0,4]")+`,`+entry("U8", "[4]", "[0,4]")+`}`, 4)},
		{"unknown key", file(`{"t":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"x":1}}`, 4)},
		{"wants the keys", file(`{"t":{"dtype":"U8","shape":[4]}}`, 4)},
		{"where a string", file(`{"__metadata__":{"a":1}}`, 0)},
		{`header: "__metadata__": [ where '{' belongs`, file(`{"__metadata__":[]}`, 0)},
		{`header: "t": [ where '{' belongs`, file(`{"t":[]}`, 0)},
		{`header: "t": 5 where '{' belongs`, file(`{"t":5}`, 0)},
		{`header: invalid character '5'`, file(`{5:1}`, 0)},
		{`header: "t": "shape": { where '[' belongs`, file(`{"t":{"shape":{}}}`, 0)},
		{`header: "t": "shape": null where '[' belongs`, file(`{"t":{"shape":null}}`, 0)},
		{`header: "t": "shape": [ where a number belongs`, file(`{"t":{"shape":[[1]]}}`, 0)},
		{`header: "t": "shape": invalid character '}'`, file(`{"t":{"shape":[1}`, 0)},
		{`header: "t": "dtype": { where a string belongs`, file(`{"t":{"dtype":{}}}`, 0)},
		{`header: unexpected EOF`, file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`, 0)},
		{`header: "t": invalid character ']'`, file(`{"t":{"dtype":"U8"]`, 0)},
		{"9223372036854775808 is not a size", file(`{"t":{"shape":[9223372036854775808]}}`, 0)},
		{`1234567890123456789012345678901234567890 where`, file(`{"t":{"shape":"`+strings.Repeat("1234567890", 5)+`"}}`, 0)},
	} {
		path := filepath.Join(t.TempDir(), "bad.safetensors")
		if err := os.WriteFile(path, c.data, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err == nil {
			f.Close()
			t.Errorf("%q: opened", c.data)
		} else if !strings.Contains(err.Error(), c.what) || !strings.Contains(err.Error(), "bad.safetensors") {
			t.Errorf("%q: want an error with %q, got %v", c.data, c.what, err)
		}
	}
	if _, err := New("spaces", bytes.NewReader(file("{}   ", 0)), 13); err != nil {
		t.Errorf("padding with spaces: %v", err)
	}
}

// A description of some thousand entries goes through a file; a header beyond the limit is refused before it is read,
// however long the file is.
func TestHeaderLimits(t *testing.T) {
	entries := make([]string, 20_000)
	for i := range entries {
		entries[i] = `"` + strings.Repeat("क", i%10) + strconv.Itoa(i) + `"`
	}
	text := "[" + strings.Join(entries, ",") + "]"
	var buf bytes.Buffer
	if _, err := Write(&buf, nil, map[string]string{"vocabulary": text}); err != nil {
		t.Fatal(err)
	}
	f, err := New("memory", bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil || f.Metadata()["vocabulary"] != text {
		t.Errorf("a vocabulary of %d bytes: %v", len(text), err)
	}
	for extra, want := range []string{"doesn't start", "is announced"} { // a header of spaces: just short enough, and too long
		announced := binary.LittleEndian.AppendUint64(nil, uint64(MaxHeader+extra))
		_, err := New("memory", spaces{announced}, 1<<40)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a header of the limit + %d: %v", extra, err)
		}
	}
	// As much metadata as a header can hold is written, and one byte more is refused.
	room := MaxHeader - len(`{"__metadata__":{"k":""}}`)
	for extra, ok := range []bool{true, false} {
		_, err := Write(io.Discard, nil, map[string]string{"k": strings.Repeat("x", room+extra)})
		if (err == nil) != ok {
			t.Errorf("metadata of the limit + %d: %v", extra, err)
		}
	}
}

// spaces is a very long file of spaces behind a beginning.
type spaces struct{ start []byte }

func (s spaces) ReadAt(p []byte, off int64) (int, error) {
	for i := range p {
		p[i] = ' '
		if at := off + int64(i); at < int64(len(s.start)) {
			p[i] = s.start[at]
		}
	}
	return len(p), nil
}

// A file in memory needs no closing, and may be closed.
func TestCloseInMemory(t *testing.T) {
	if f, err := New("memory", bytes.NewReader(file("{}", 0)), 10); err != nil || f.Close() != nil {
		t.Error(err)
	}
}

func TestOpenNames(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "none.safetensors"))
	if !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder was opened as a file")
	}
}

func FuzzHeader(f *testing.F) {
	python, err := os.ReadFile("testdata/python.safetensors")
	if err != nil {
		f.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(python)
	f.Add(python[8:8+n], len(python)-8-int(n))
	f.Add([]byte(`{"t":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"__metadata__":{"a":"b"}}  `), 8)
	f.Add([]byte(`{}`), 0)
	f.Fuzz(func(t *testing.T, text []byte, data int) {
		if data < 0 || data > 1<<16 {
			t.Skip()
		}
		b := file(string(text), data)
		f, err := New("fuzz", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		total := int64(0)
		for _, name := range f.Names() {
			info, ok := f.Info(name)
			count := 1
			for _, d := range info.Shape {
				count *= d
			}
			if !ok || count != info.Len() {
				t.Fatalf("%q: shape %v for %d elements", name, info.Shape, info.Len())
			}
			total += info.Bytes
			_, _, err := floats(f, name)
			if is := slices.Contains([]DType{F64, F32, F16, BF16}, info.DType); is != (err == nil) {
				t.Fatalf("%q (%s): %v", name, info.DType, err)
			}
		}
		if total != int64(data) {
			t.Fatalf("the tensors take %d of %d bytes", total, data)
		}
	})
}
