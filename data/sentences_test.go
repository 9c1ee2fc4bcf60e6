package data

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/text"
	"konkanitrain/internal/testkit"
)

// sentencesOf reads content as a file of this name, or as standard input.
func sentencesOf(t *testing.T, name, content string) (got []string, r *SentencesReport, err error) {
	t.Helper()
	path := name
	if name != Stdin {
		path = filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r, err = Sentences(t.Context(), path, strings.NewReader(content), text.Policy{LowerCase: true}, func(s string) error {
		got = append(got, s)
		return nil
	})
	return got, r, err
}

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		name, content string
		want          []string
		said          string
	}{
		{"a.txt", "Ek  don\r\n\n\u200b\ntin", []string{"ek don", "tin"}, "a.txt: 1 line without a text"},
		{Stdin, "\ufeffEk\ndon", []string{"ek", "don"}, ""},
		{Stdin, `{"text": "Ek"}` + "\n" + `{"sentence": "don", "audio": "x.wav"}`, []string{"ek", "don"}, ""},
		{"utf16.txt", "\xff\xfeE\x00k\x00\n\x00", []string{"ek"}, "utf16.txt is UTF-16"},
		{"a.jsonl", `{"text": "Ek"}` + "\n" + `{"text": ""}` + "\n" + `{"text": "don", "audio_filepath": "not/there.wav"}`, []string{"ek", "don"}, "a.jsonl: 1 line without a text"},
		{"a.tsv", "id\tsource\ttext\n1\tx\tEk \"don\n2\ty\ttin\n", []string{`ek "don`, "tin"}, ""},
		{"a.csv", "text,path\n\"Ek, don\",a.wav\ntin,\n", []string{"ek, don", "tin"}, ""},
		{"bad.txt", "Ek\n\xff\ndon\n", []string{"ek", "don"}, "bad.txt: 1 line left out that can't be read: line 2: byte 1 (0xFF) is not UTF-8"},
		{"bars.txt", "path|text\nEk|don\n", []string{"path|text", "ek|don"}, ""}, // a text, whatever its first line
	} {
		got, r, err := sentencesOf(t, c.name, c.content)
		if err != nil || !slices.Equal(got, c.want) || !strings.Contains(r.String(), c.said) || c.said == "" && r.String() != "" {
			t.Errorf("%s: %q, %v, %v; want %q, %s", c.name, got, r, err, c.want, c.said)
		}
	}
}

func TestSentencesThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		want    string
	}{
		"empty.txt":  {" \n", "no text in it, only empty lines or none"},
		"latin1.txt": {strings.Repeat("caf\xe9\n", 20), "20 of 20 lines can't be read, more than 5 %: line 1: byte 4 (0xE9) is not UTF-8"},
		"a.txt":      {"\x1f\x8b\x08 packed", "compressed with gzip"},
		"a.jsonl":    {`{"audio": "x.wav"}`, "no line has the key text"},
		"a.tsv":      {"id\tsource\n1\tx\n", "one for the text"},
	} {
		_, _, err := sentencesOf(t, name, c.content)
		testkit.MustFail(t, err, c.want)
	}
	_, err := Sentences(t.Context(), filepath.Join(t.TempDir(), "none.txt"), nil, text.Policy{}, nil)
	testkit.MustFail(t, err, "none.txt")
}

// Whoever has enough ends the reading, and so does the context.
func TestSentencesEnd(t *testing.T) {
	content, enough, n := strings.Repeat("Ek\n", 200_000), errors.New("enough"), 0
	_, err := Sentences(t.Context(), Stdin, strings.NewReader(content), text.Policy{}, func(string) error {
		n++
		return enough
	})
	if !errors.Is(err, enough) || n != 1 {
		t.Errorf("%v after %d", err, n)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err = Sentences(ctx, Stdin, strings.NewReader(content), text.Policy{}, func(string) error { n++; return nil })
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("%v after %d", err, n)
	}
}
