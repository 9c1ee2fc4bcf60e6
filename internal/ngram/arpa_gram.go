package ngram

import (
	"fmt"
	"math"
	"strconv"

	"konkanitrain/internal/words"
)

// gram reads a line with an n-gram.
func (a *arpa) gram(order int) (g gram, err error) {
	first, rest := field(a.text)
	if g.prob, err = a.weight(first, "log10 probability"); err != nil {
		return g, err
	}
	if g.prob > 0 {
		return g, a.errorf("log10 probability %s is above 0, and no probability is above 1; are these natural logarithms with their signs, or no logarithms?", first)
	}
	for k := range order {
		var word []byte
		if word, rest = field(rest); len(word) == 0 {
			return g, a.errorf("%s where a %d-gram has %d, and perhaps a back-off weight behind", words.Count(k, "word"), order, order)
		}
		if k > 0 {
			if g.parent, err = a.parent(g, order, k); err != nil {
				return g, err
			}
		}
		if g.word, err = a.word(order, word); err != nil {
			return g, err
		}
	}
	if last, more := field(rest); len(last) > 0 {
		if more, _ := field(more); len(more) > 0 {
			return g, a.errorf("%.40q behind a %d-gram and its back-off weight", more, order)
		}
		if g.backoff, err = a.weight(last, "back-off weight"); err != nil {
			return g, err
		}
		if g.backoff != 0 && order == len(a.promised) {
			a.note("n-grams of the highest order have back-off weights, which are passed over")
			g.backoff = 0
		}
	}
	return g, nil
}

// parent is the node of the first words of an n-gram.
func (a *arpa) parent(g gram, order, k int) (uint32, error) {
	if n := a.tree.child(g.parent, g.word); n != 0 {
		return n, nil
	}
	return 0, a.errorf("the first %s of this %d-gram are no %d-gram of the file, so nothing could back off from them (kenlm refuses such a file too)",
		words.Count(k, "word"), order, k)
}

// word is the number of a word as it is written.
func (a *arpa) word(order int, written []byte) (uint32, error) {
	if string(written) == "<UNK>" { // SRILM can be told to write it so
		written = []byte(marks[Unknown])
	}
	if order == 1 {
		w, _, err := add(a.vocabulary, written)
		if err != nil {
			err = fmt.Errorf("%s: %w", a.name, err)
		}
		return uint32(w), err
	}
	w, known := find(a.vocabulary, written)
	if !known {
		return 0, a.errorf("the word %.60q is not among the 1-grams", written)
	}
	return uint32(w), nil
}

// weight reads a number in log10.
func (a *arpa) weight(text []byte, what string) (float32, error) {
	x, err := strconv.ParseFloat(string(text), 32)
	switch {
	case math.IsInf(x, -1):
		a.note(what + " -inf is taken as -99")
		return never, nil
	case err != nil:
		return 0, a.errorf("%s %.40q is no number", what, text)
	case math.IsNaN(x) || math.IsInf(x, 0):
		return 0, a.errorf("%s is %s", what, text)
	}
	return float32(x), nil
}
