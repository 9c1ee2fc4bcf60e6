package decode

import "unicode/utf8"

// Unit is a word, or a character, of a token sequence.
type Unit struct {
	Text       string
	From, To   int     // the tokens that write it: from From up to, and without, To
	Start, End float64 // seconds from the start of the utterance
}

// Units are the words and the characters that tokens write. texts are what each of them writes, as [Vocabulary.Texts]
// gives it, and spans where; a frame has so many seconds: the hop of the features times the network's subsampling.
//
// Characters are code points in their order, spaces left out. Each is written by one token, or where a token is a part
// of a character by several. Those of one token share its span evenly: CTC says nothing of where in it they are. Words
// are separated by spaces, and go from the start of their first character to the end of the last.
func Units(texts []string, spans []Span, frame float64) (words, characters []Unit) {
	characters, begins := charactersOf(texts, spans, frame)
	for i, c := range characters {
		if begins[i] {
			words = append(words, c)
			continue
		}
		w := &words[len(words)-1]
		w.Text += c.Text
		w.To, w.End = c.To, c.End
	}
	return words, characters
}

// Texts are what tokens write, with ' ' for each space: nothing where an id is none.
func (v *Vocabulary) Texts(tokens []int32) []string {
	texts := make([]string, len(tokens))
	for i, id := range tokens {
		texts[i] = v.piece(id).text
	}
	return texts
}

// charactersOf are the characters, and which of them begin a word.
func charactersOf(texts []string, spans []Span, frame float64) (chars []Unit, begins []bool) {
	var text []byte
	var from []int // the token of each byte
	for i, s := range texts[:min(len(texts), len(spans))] {
		for _, b := range []byte(s) {
			text, from = append(text, b), append(from, i)
		}
	}
	shares := make([]int, len(texts)) // characters that begin in a token
	each(text, func(at, _ int) { shares[from[at]]++ })
	token, nth, behind := -1, 0, 0 // of the character at hand: where it begins, the how many-th there, and where the one before ends
	each(text, func(at, size int) {
		first, last := from[at], from[at+size-1]
		if first != token {
			token, nth = first, 0
		}
		start, end := spans[first], spans[last]
		place := func(n int) float64 {
			width := float64(start.End - start.Start)
			return frame * (float64(start.Start) + width*float64(n)/float64(shares[first]))
		}
		u := Unit{Text: string(text[at : at+size]), From: first, To: last + 1, Start: place(nth), End: place(nth + 1)}
		if last != first {
			u.End = frame * float64(end.End)
		}
		nth++
		chars, begins = append(chars, u), append(begins, at > behind || behind == 0)
		behind = at + size
	})
	return chars, begins
}

// each calls f for each character of a text that is no space.
func each(text []byte, f func(at, size int)) {
	for at := 0; at < len(text); {
		_, size := utf8.DecodeRune(text[at:])
		if text[at] != ' ' {
			f(at, size)
		}
		at += size
	}
}
