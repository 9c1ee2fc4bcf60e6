package ngram

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// edited is the small model with a change.
func edited(old, new string) string {
	if !strings.Contains(small, old) {
		panic("nothing to change: " + old)
	}
	return strings.Replace(small, old, new, 1)
}

func TestARPAErrors(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(strings.Repeat(small, 100)))
	_ = z.Close()
	for name, c := range map[string]struct{ text, want string }{
		"empty":             {"", `lm.arpa is no ARPA file: it has no line \data\ (0 lines)`},
		"text":              {"क ख\nग\n", `no line \data\ (2 lines)`},
		"binary":            {"abc\x00", "byte 4 is 0, so it is no text"},
		"kenlm":             {"mmap lm http://kheafield.com/code format version 5\n\x00", "a binary of kenlm"},
		"UTF-16":            {"\xff\xfe\\\x00", "UTF-16: save it as UTF-8"},
		"xz":                {"\xfd7zXZ\x00", "compressed with xz"},
		"a long line":       {strings.Repeat("a", 1<<20+1), "lm.arpa:1: the line has more than 1048576 bytes"},
		"half a gzip":       {packed.String()[:packed.Len()/2], "the file was cut: it ends in the middle of what gzip compressed"},
		"no gzip":           {"\x1f\x8b\x00 other", "it begins as a gzip file, and is none"},
		"no counts":         {"\\data\\\n\\1-grams:\n", `lm.arpa:2: behind \data\ there is no line "ngram 1="`},
		"counts by a colon": {"\\data\\\nngram 1:5\n", `lm.arpa:2: "ngram 1:5", want "ngram 1=" and a number`},
		"an order twice":    {edited("ngram 2=4", "ngram 1=4"), `"ngram 1=4", want "ngram 2=" and a number`},
		"counts below 0":    {edited("ngram 2=4", "ngram 2=-4"), `"ngram 2=-4"`},
		"order 33":          {"\\data\\\n" + promises(33), "lm.arpa:34: an order of more than 32"},
		"only counts":       {"\\data\\\nngram 1=5\n", "behind the numbers of n-grams"},
		"no section":        {edited("\\1-grams:\n", ""), `lm.arpa:7: "-1\t<unk>", want \1-grams:`},
		"a section skipped": {edited("\\2-grams:", "\\3-grams:"), `lm.arpa:14: "\\3-grams:" behind the 1-grams: want \2-grams: or \end\`},
		"a section too many": {edited("\\end\\", "\\4-grams:\n-1 a b a b\n\\end\\"),
			`"\\4-grams:" behind the 3-grams: a next order is not promised at the file's start`},
		"no number":        {edited("-0.4\ta", "a\ta"), `lm.arpa:11: log10 probability "a" is no number`},
		"NaN":              {edited("-0.4\ta", "nan\ta"), "lm.arpa:11: log10 probability is nan"},
		"infinite":         {edited("-0.4\ta", "+inf\ta"), "log10 probability is +inf"},
		"above 1":          {edited("-0.4\ta", "0.4\ta"), "lm.arpa:11: log10 probability 0.4 is above 0"},
		"weight NaN":       {edited("a\t-0.3", "a\tnan"), "back-off weight is nan"},
		"weight no number": {edited("a\t-0.3", "a\tb"), `back-off weight "b" is no number`},
		"a word too many":  {edited("a b\t-0.25", "a b\t-0.25 a"), `lm.arpa:16: "a" behind a 2-gram and its back-off weight`},
		"a word missing":   {edited("a b\t-0.25", "a"), "lm.arpa:16: 1 word where a 2-gram has 2"},
		"a number alone":   {edited("-0.4\ta\t-0.3", "-0.4"), "0 words where a 1-gram has 1"},
		"unknown word":     {edited("<s> a b", "<s> a x"), `lm.arpa:21: the word "x" is not among the 1-grams`},
		"a word twice":     {edited("-0.6\tb", "-0.6\ta"), "lm.arpa:12: the 1-gram of line 11 stands there again"},
		"<s> twice":        {edited("-0.6\tb", "-0.6\t<s>"), "lm.arpa:12: the 1-gram of line 9 stands there again"},
		"an n-gram twice":  {edited("b b </s>", "<s> a b"), "lm.arpa:23: the 3-gram of line 21 stands there again"},
		"no history":       {edited("-0.5\ta b\t-0.25\n", ""), "lm.arpa:21: the first 2 words of this 3-gram are no 2-gram of the file"},
		"no <s>":           {edited("-99\t<s>\t-0.5\n", ""), "lm.arpa: no 1-gram <s>: without a start"},
		"no <s> at all":    {"\\data\\\nngram 1=1\n\\1-grams:\n-1 a\n\\end\\\n", "lm.arpa: no 1-gram <s>"},
		"no </s>":          {"\\data\\\nngram 1=2\n\\1-grams:\n-1 a\n-1 <s>\n\\end\\\n", "lm.arpa: no 1-gram </s>"},
		"cut in an order":  {small[:strings.Index(small, "-0.9")], "the file was cut: it ends at line 17, behind 3 of 4 2-grams"},
		"cut between":      {small[:strings.Index(small, "\\3")], "behind 4 of 4 2-grams, without a line \\end\\"},
	} {
		_, _, err := ReadARPA("lm.arpa", strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	_, _, err := Read("testdata/none.arpa")
	testkit.MustFail(t, err, "testdata/none.arpa")
}

func promises(orders int) string {
	var s strings.Builder
	for k := range orders {
		fmt.Fprintf(&s, "ngram %d=1\n", k+1)
	}
	return s.String()
}

// What can be read in one way only is read, and said, with how often it occurs.
func TestARPAWarnings(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"fewer n-grams":  {edited("ngram 2=4", "ngram 2=7"), "lm.arpa: it promises 7 2-grams at its start, and has 4"},
		"more n-grams":   {edited("ngram 3=3", "ngram 3=1"), "lm.arpa: it promises 1 3-gram at its start, and has 3"},
		"no <unk>":       {edited("-1\t<unk>\n", ""), "lm.arpa: it promises 5 1-grams at its start, and has 4; lm.arpa: no 1-gram <unk>: unknown words get the log10 probability -100, as kenlm gives them (1 line; the first: line 13)"},
		"-inf":           {edited("-99\t<s>", "-inf\t<s>"), "lm.arpa: log10 probability -inf is taken as -99 (1 line; the first: line 9)"},
		"weights on top": {edited("<s> a b", "<s> a b\t-1"), "lm.arpa: n-grams of the highest order have back-off weights, which are passed over (1 line; the first: line 21)"},
		"no end":         {edited("\\end\\\n", ""), `lm.arpa: it has no line \end\, but all n-grams that it promises`},
		"text behind":    {small + "more\nand more\n", `lm.arpa: there is text behind \end\ (2 lines; the first: line 26)`},
		"<UNK>":          {edited("<unk>", "<UNK>"), ""},
		"0 weights":      {edited("<s> a b", "<s> a b\t0"), ""},
		"no 3-grams":     {edited("\\3-grams:\n-0.2\t<s> a b\n-0.35\ta b a\n-0.45\tb b </s>\n", ""), "lm.arpa: it promises 3 3-grams at its start, and has 0"},
	} {
		m, warnings := read(t, c.text)
		if got := strings.Join(warnings, "; "); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
		if s := m.Sentence("a b a c", Words); s.Unknown != 1 || math.IsNaN(s.Nats) || math.IsInf(s.Nats, 0) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
