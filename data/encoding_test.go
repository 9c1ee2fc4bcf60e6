package data

import (
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"konkanitrain/internal/philox"
)

func TestEncodings(t *testing.T) {
	all := lineA + lineB + lineC
	checkAll(t, []loadCase{
		{
			name:    "byte-order mark, CRLF, empty line, no newline at the end",
			content: "\ufeff" + strings.ReplaceAll(lineA+lineB+"\n"+strings.TrimSpace(lineC), "\n", "\r\n"),
			options: Options{MaxDuration: 1},
			texts:   threeTexts[:2],
			notes:   []int{4},
		},
		{name: "CR alone", content: strings.ReplaceAll(lineA+"\n"+lineB+strings.TrimSpace(lineC), "\n", "\r"), options: Options{MaxDuration: 1}, texts: threeTexts[:2], notes: []int{4}},
		{name: "CR alone in a table", file: "x.csv", content: "path,text\raudio/a.wav,वाट\raudio/b.wav,बीं\r", texts: threeTexts[:2]},
		{name: "CR alone in UTF-16", content: utf16le(strings.ReplaceAll(all, "\n", "\r")), texts: threeTexts},
		{name: "UTF-16", content: utf16le(all), texts: threeTexts},
		{name: "UTF-16 without a mark", content: utf16le(all)[2:], texts: threeTexts},
		{name: "UTF-16, cut", content: utf16le(lineA + lineB)[:101], err: []string{"UTF-16", "101", "UTF-8"}},
		{name: "one byte", content: "{", err: []string{"line 1", "not a whole JSON object"}},
		{name: "a sound file", content: string(wav(100, 16000)), err: []string{"byte 6 is 0", "not a text file"}},
		{name: "a sound file as a table", file: "x.csv", content: string(wav(100, 16000)), err: []string{"byte 6 is 0", "not a text file"}},
		{name: "a table behind zeros", file: "x.csv", content: "\x00\x00path,text\n", err: []string{"byte 1 is 0", "not a text file"}},
		{name: "zeros alone", content: string(make([]byte, 100)), err: []string{"byte 1 is 0", "not a text file"}},
	})
}

func TestUTF16Order(t *testing.T) {
	little, big := binary.ByteOrder(binary.LittleEndian), binary.ByteOrder(binary.BigEndian)
	for s, want := range map[string]binary.ByteOrder{
		"": nil, "{": nil, "{}": nil, "\x00\x00": nil, "\xff\xff": nil,
		"\xff\xfe": little, "{\x00": little, "\xfe\xff": big, "\x00{": big,
	} {
		if got := utf16Order([]byte(s)); got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
}

// Blocks of zeros that a crash left are a matter of their lines, wherever they are and however long the list is.
func TestZeros(t *testing.T) {
	zeros := string(make([]byte, 600))
	many := ""
	for i := range 20 {
		many += with(lineA, fmt.Sprintf(`"id": "u%d"`, i))
	}
	for _, c := range []struct {
		name, file, content string
		line, kept          int
	}{
		{"behind a short list", "x.jsonl", lineA + lineB + zeros, 3, 2},
		{"behind a long list", "x.jsonl", many + zeros, 21, 20},
		{"in the middle, joined to a line", "x.jsonl", lineA + zeros + lineB + lineC, 2, 2},
		{"behind the only line", "x.jsonl", strings.TrimSpace(lineA) + zeros + "\n" + lineB, 1, 1},
		{"at the start", "x.jsonl", zeros + "\n" + lineA, 1, 1},
		{"in a table", "x.tsv", "path\ttext\naudio/a.wav\tवाट\n" + "audio/b.wav\tबीं\n" + zeros, 4, 2},
		{"in a table with quotes", "x.csv", "path,text\naudio/a.wav,वाट\n" + "audio/b.wav,बीं\n" + zeros + "\naudio/c.wav,a\n", 4, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(corpus(t, map[string]string{c.file: c.content}), c.file)
			want := fmt.Sprintf("line %d: ", c.line)
			_, err := Load(context.Background(), path, Options{})
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "is NUL (0)") {
				t.Errorf("%v; want %s", err, want)
			}
			s, err := Load(context.Background(), path, Options{SkipBadLines: true})
			if err != nil {
				t.Fatal(err)
			}
			if s.Len() != c.kept || !slices.Equal(s.Report.reported(Broken), []int{c.line}) {
				t.Errorf("%v", s.Report)
			}
		})
	}
}

// A note says in which order the bytes of a UTF-16 file are.
func TestNoteOfUTF16(t *testing.T) {
	little := []byte(utf16le(lineA))
	big := slices.Clone(little)
	for i := 0; i < len(big); i += 2 {
		big[i], big[i+1] = big[i+1], big[i]
	}
	for order, content := range map[string][]byte{"little-endian": little, "big-endian": big} {
		dir := corpus(t, map[string]string{"x.jsonl": string(content)})
		s, err := Load(context.Background(), filepath.Join(dir, "x.jsonl"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(s.Report); !strings.Contains(text, "x.jsonl is UTF-16 ("+order+")") {
			t.Errorf("%s: %s", order, text)
		}
	}
}

// It is what unicode/utf16 makes of the same units, halves of pairs among them.
func TestFromUTF16(t *testing.T) {
	for n := range 2000 {
		var b []byte
		var units []uint16
		for i := range n % 9 {
			u := uint16(philox.Key(uint64(n), uint64(i)))
			if i%2 == 0 || n%3 == 0 {
				u = 0xd800 | u&0x7ff
			}
			units = append(units, u)
			b = binary.BigEndian.AppendUint16(b, u)
		}
		if got, want := string(fromUTF16(b, binary.BigEndian)), string(utf16.Decode(units)); got != want {
			t.Fatalf("%x: %q, want %q", units, got, want)
		}
	}
}
