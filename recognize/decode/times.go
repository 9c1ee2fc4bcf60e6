package decode

import "unicode/utf8"

// Unit is a word, or a character, of a token sequence.
type Unit struct {
	Text       string
	From, To   int     // the tokens that write it: from From up to, and without, To
	Start, End float64 // seconds from the start of the utterance
}

// Characters are the characters that tokens write, code points in their order, spaces left out. Each is written by one
// token, or where a token is a part of a character by several. spans are those of the tokens, and a frame has so many
// seconds: the hop of the features times the network's subsampling.
//
// The characters of one token share its span evenly: CTC says nothing of where in it they are.
func (v *Vocabulary) Characters(tokens []int32, spans []Span, frame float64) []Unit {
	chars, _ := v.characters(tokens, spans, frame)
	return chars
}

// Words are the words that tokens write, separated by spaces, from the start of the first character to the end of the
// last.
func (v *Vocabulary) Words(tokens []int32, spans []Span, frame float64) []Unit {
	chars, begins := v.characters(tokens, spans, frame)
	var words []Unit
	for i, c := range chars {
		if begins[i] {
			words = append(words, c)
			continue
		}
		w := &words[len(words)-1]
		w.Text += c.Text
		w.To, w.End = c.To, c.End
	}
	return words
}

// characters also says which of them begin a word.
func (v *Vocabulary) characters(tokens []int32, spans []Span, frame float64) (chars []Unit, begins []bool) {
	var text []byte
	var from []int // the token of each byte
	for i, id := range tokens[:min(len(tokens), len(spans))] {
		for _, b := range []byte(v.piece(id).text) {
			text, from = append(text, b), append(from, i)
		}
	}
	shares := make([]int, len(tokens)) // characters that begin in a token
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
