package ngram

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"konkanitrain/internal/words"
)

// mostOrder is the highest order that is read.
const mostOrder = 32

// missing is the log10 probability of unknown words where a file has no <unk>: kenlm's.
const missing = -100

// Read reads an ARPA file, which may be compressed with gzip, whatever its name: see [ReadARPA].
func Read(path string) (m *Model, warnings []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return ReadARPA(path, f)
}

// ReadARPA reads an ARPA file, which may be compressed with gzip. Fields may be separated by spaces or tabs, line ends
// may have a \r, the n-grams of an order may have any order, and back-off weights may be missing.
//
// An error names file and line: of what can't be parsed, probabilities above 1, an n-gram that stands twice, or whose
// words are not among the 1-grams, or whose history is no n-gram, a file without <s> or </s>, one that was cut. kenlm
// refuses the same. Warnings say what was odd, with how many lines it concerns: numbers of n-grams that are not those
// at the file's start, probabilities of 0 (taken as 10^-99), no <unk> (taken as 10^-100), weights of n-grams of the
// highest order (passed over), text behind the end. An n-gram may be there without the shorter one that it ends with,
// as SRILM writes them. While an order is read it takes 24 bytes an n-gram beside the model.
func ReadARPA(name string, r io.Reader) (m *Model, warnings []string, err error) {
	l, err := newLines(name, r)
	if err != nil {
		return nil, nil, err
	}
	a := &arpa{lines: l, vocabulary: newVocabulary(), tree: newTree()}
	if err := a.read(); err != nil {
		return nil, nil, err
	}
	a.vocabulary.fit()
	m = a.tree.model(a.vocabulary)
	m.spelled = a.spelled
	return m, a.warnings(), nil
}

// arpa is an ARPA file that is being read.
type arpa struct {
	*lines
	promised   []int // n-grams of each order
	found      []int
	vocabulary *Vocabulary
	tree       *tree
	odd        []oddity
	cut        bool // there is no \end\
	spelled    bool // a comment says that words are characters
}

// oddity is something odd and on how many lines it is.
type oddity struct {
	what        string
	count, line int // of the first
}

// note counts something odd on this line.
func (a *arpa) note(what string) {
	for i := range a.odd {
		if a.odd[i].what == what {
			a.odd[i].count++
			return
		}
	}
	a.odd = append(a.odd, oddity{what, 1, a.number})
}

func (a *arpa) warnings() (list []string) {
	for i, n := range a.found {
		if n != a.promised[i] {
			list = append(list, fmt.Sprintf("%s: it promises %s at its start, and has %d", a.name, words.Count(a.promised[i], fmt.Sprintf("%d-gram", i+1)), n))
		}
	}
	for _, o := range a.odd {
		list = append(list, fmt.Sprintf("%s: %s (%s; the first: line %d)", a.name, o.what, words.Count(o.count, "line"), o.line))
	}
	if a.cut {
		list = append(list, a.name+`: it has no line \end\, but all n-grams that it promises`)
	}
	return list
}

// read reads all of it.
func (a *arpa) read() error {
	if err := a.start(); err != nil {
		return err
	}
	for order := 1; order <= len(a.promised); order++ {
		var grams []gram
		if string(a.text) == section(order) {
			var err error
			if grams, err = a.section(order); err != nil {
				return err
			}
		}
		a.found = append(a.found, len(grams))
		if order == 1 {
			var err error
			if grams, err = a.unigrams(grams); err != nil {
				return err
			}
		}
		if err := a.tree.add(len(grams), slices.Values(grams), order == len(a.promised)); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
	}
	return a.finish()
}

func section(order int) string { return fmt.Sprintf(`\%d-grams:`, order) }

// start reads the numbers of n-grams, and what stands in front of them, and goes to the line behind.
func (a *arpa) start() error {
	for string(a.text) != `\data\` {
		a.spelled = a.spelled || bytes.HasPrefix(a.text, []byte("# "+Characters.Heading()))
		if err := a.next(); err != nil {
			return err
		}
		if a.end {
			return fmt.Errorf(`%s is no ARPA file: it has no line \data\ (%s)`, a.name, words.Count(a.number, "line"))
		}
	}
	for {
		if err := a.next(); err != nil {
			return err
		}
		rest, ok := bytes.CutPrefix(a.text, []byte("ngram"))
		if !ok || a.end {
			break
		}
		order, count, _ := strings.Cut(string(rest), "=")
		n, err := strconv.Atoi(strings.TrimSpace(count))
		switch {
		case strings.TrimSpace(order) != strconv.Itoa(len(a.promised)+1) || err != nil || n < 0:
			return a.errorf("%.60q, want \"ngram %d=\" and a number", a.text, len(a.promised)+1)
		case len(a.promised) == mostOrder:
			return a.errorf("an order of more than %d: that is no language model", mostOrder)
		}
		a.promised = append(a.promised, n)
	}
	switch {
	case len(a.promised) == 0:
		return a.errorf(`behind \data\ there is no line "ngram 1=" with the number of words`)
	case a.end:
		return a.cutOff(`the numbers of n-grams`)
	case string(a.text) != section(1):
		return a.errorf(`%.60q, want %s`, a.text, section(1))
	}
	return nil
}

// cutOff is the error of a file that ends too early.
func (a *arpa) cutOff(behind string) error {
	return fmt.Errorf(`%s: the file was cut: it ends at line %d, behind %s, without a line \end\`, a.name, a.number, behind)
}

// section reads the n-grams of an order, and goes to the line behind them: that of another section, or the end. They
// are sorted.
func (a *arpa) section(order int) ([]gram, error) {
	grams := make([]gram, 0, min(a.promised[order-1], 1<<16))
	var at []uint32 // the lines of grams
	for {
		if err := a.next(); err != nil {
			return nil, err
		}
		if a.end || a.text[0] == '\\' {
			break
		}
		g, err := a.gram(order)
		if err != nil {
			return nil, err
		}
		grams, at = append(grams, g), append(at, uint32(a.number))
	}
	if a.end {
		if n := len(grams); n < a.promised[order-1] || order < len(a.promised) {
			return nil, a.cutOff(fmt.Sprintf("%d of %s", n, words.Count(a.promised[order-1], fmt.Sprintf("%d-gram", order))))
		}
		a.cut = true
	}
	if err := a.sorted(order, grams, at); err != nil {
		return nil, err
	}
	return grams, a.follows(order)
}

// follows is an error where what is behind a section is nothing that may be there.
func (a *arpa) follows(order int) error {
	want := "a next order is not promised at the file's start"
	if order < len(a.promised) {
		want = "want " + section(order+1) + ` or \end\`
	}
	if text := string(a.text); a.end || text == `\end\` || order < len(a.promised) && text == section(order+1) {
		return nil
	}
	return a.errorf(`%.60q behind the %d-grams: %s`, a.text, order, want)
}

// sorted sorts n-grams by their history and word, as a tree wants them. The error is that of one that stands twice.
func (a *arpa) sorted(order int, grams []gram, at []uint32) error {
	index := make([]uint32, len(grams))
	for i := range index {
		index[i] = uint32(i)
	}
	slices.SortFunc(index, func(i, k uint32) int {
		x, y := &grams[i], &grams[k]
		return cmp.Or(cmp.Compare(x.parent, y.parent), cmp.Compare(x.word, y.word), cmp.Compare(at[i], at[k]))
	})
	for i := 1; i < len(index); i++ {
		if x, y := &grams[index[i-1]], &grams[index[i]]; x.parent == y.parent && x.word == y.word {
			return fmt.Errorf("%s:%d: the %d-gram of line %d stands there again; remove one of them", a.name, at[index[i]], order, at[index[i-1]])
		}
	}
	permute(grams, index)
	return nil
}

// permute puts list[index[i]] at i, in place; index is used up.
func permute(list []gram, index []uint32) {
	for i := range index {
		first := list[i]
		at := uint32(i)
		for {
			from := index[at]
			index[at] = at
			if from == uint32(i) || from == at {
				list[at] = first
				break
			}
			list[at] = list[from]
			at = from
		}
	}
}

// unigrams makes the words a list without gaps: <unk>, <s> and </s> may be missing in front.
func (a *arpa) unigrams(grams []gram) ([]gram, error) {
	var there [len(marks)]bool
	for _, g := range grams[:min(len(grams), len(marks))] {
		if g.word < uint32(len(marks)) {
			there[g.word] = true
		}
	}
	switch {
	case !there[Start]:
		return nil, fmt.Errorf("%s: no 1-gram <s>: without a start of sentences this is no model of sentences; add <s> to the texts it is made of", a.name)
	case !there[End]:
		return nil, fmt.Errorf("%s: no 1-gram </s>: without an end of sentences this is no model of sentences; add </s> to the texts it is made of", a.name)
	case !there[Unknown]:
		a.odd = append(a.odd, oddity{"no 1-gram <unk>: unknown words get the log10 probability -100, as kenlm gives them", 1, a.number})
		grams = slices.Insert(grams, 0, gram{prob: missing})
	}
	return grams, nil
}

// finish looks at what stands behind the n-grams.
func (a *arpa) finish() error {
	for !a.end {
		if err := a.next(); err != nil {
			return err
		}
		if !a.end {
			a.note(`there is text behind \end\`)
		}
	}
	return nil
}
