package decode

import "unicode/utf8"

// stand is where models and hotwords are behind a prefix.
type stand struct {
	words, tokens standing
	decoder       standing
	open          bool    // the prefix ends within a word
	letters       int32   // of this word, the lexicon's state
	hot           int32   // the automaton's state
	hotwords      float64 // of those that are complete, in nats
}

// unit is what a token, or a character of one, is for the model of tokens.
type unit struct {
	id    int32
	known bool
}

// numberTokens asks the model of tokens for its numbers, once.
func (b *Beam) numberTokens() {
	if b.o.Tokens == nil {
		return
	}
	b.units = make([][]unit, b.v.Size())
	var buf []byte
	for id := range b.units {
		if int32(id) == b.v.blank {
			continue
		}
		for _, s := range b.split(b.v.pieces[id].text) {
			buf = buf[:0]
			for i := range len(s) {
				if s[i] == ' ' {
					buf = append(buf, Space...)
				} else {
					buf = append(buf, s[i])
				}
			}
			u := unit{known: true}
			if b.o.Tokens.asks() {
				u.id, u.known = b.o.Tokens.Model.ID(buf)
			}
			b.units[id] = append(b.units[id], u)
		}
	}
}

// split cuts what a token writes into what the model of tokens has: characters, or nothing smaller.
func (b *Beam) split(s string) (units []string) {
	if !b.o.Characters {
		return []string{s}
	}
	for len(s) > 0 {
		_, n := utf8.DecodeRuneInString(s)
		units, s = append(units, s[:n]), s[n:]
	}
	return units
}

// gain bounds what a token adds to a score beside its log-probability: models and hotwords that were begun are no
// reason to look at more of a frame's tokens than can still be among the best.
func (b *Beam) gain(id int) float64 {
	p, ends, units := &b.v.pieces[id], 0, 0
	if p.space {
		ends = len(p.inner) + 1 // the word before it
	}
	if b.units != nil {
		units = len(b.units[id])
	}
	return b.o.Words.mostGain(ends) + b.o.Tokens.mostGain(units) + b.o.Decoder.mostGain(1) + b.o.Hotwords.mostGain(len(p.text))
}

// begin is the stand of the empty prefix.
func (b *Beam) begin() stand {
	return stand{words: b.o.Words.begin(), tokens: b.o.Tokens.begin(), decoder: b.o.Decoder.begin(), hot: b.o.Hotwords.begin()}
}

// grow is the stand of n with a token behind it.
func (b *Beam) grow(n *node, token int32) stand {
	s, p := n.stand, b.v.piece(token)
	if b.o.Decoder != nil {
		b.o.Decoder.add(&s.decoder, token, true)
	}
	if b.o.Tokens != nil && int(token) < len(b.units) {
		for _, u := range b.units[token] {
			b.o.Tokens.add(&s.tokens, u.id, u.known)
		}
	}
	if b.o.Words != nil {
		b.growWords(&s, n, p)
	}
	if b.o.Hotwords != nil {
		s.hot, s.hotwords = b.o.Hotwords.write(s.hot, s.hotwords, s.open, p.text)
	}
	letters := p.head // of the last word
	if p.space {
		s.open, s.letters, letters = false, 0, p.tail
	}
	if b.o.Words != nil && b.o.Words.Lexicon != nil {
		s.letters = b.o.Words.Lexicon.step(s.letters, letters)
	}
	s.open = s.open || letters != ""
	return s
}

// growWords tells the model of words which ones end by what p writes behind n.
func (b *Beam) growWords(s *stand, n *node, p *piece) {
	if !p.space {
		return
	}
	switch {
	case p.head != "":
		s.words = b.endWord(n, p.head)
	case n.open:
		s.words = b.wordEnded(n)
	}
	for _, w := range p.inner {
		b.word = append(b.word[:0], w...)
		b.addWord(&s.words)
	}
}

// wordEnded is where the model of words is if n's last word ends with n. It is asked once for each prefix.
func (b *Beam) wordEnded(n *node) standing {
	if !n.ended {
		n.last, n.ended = b.endWord(n, ""), true
	}
	return n.last
}

// endWord is where the model of words is if n's last word ends with these letters behind it.
func (b *Beam) endWord(n *node, letters string) standing {
	b.path, b.word = b.path[:0], b.word[:0]
	for m := n; m.open; m = b.tree.at(m.parent) {
		b.path = append(b.path, m.token)
		if b.v.piece(m.token).space {
			break // the word begins in this token
		}
	}
	for i := len(b.path) - 1; i >= 0; i-- {
		p := b.v.piece(b.path[i])
		if p.space {
			b.word = append(b.word, p.tail...)
		} else {
			b.word = append(b.word, p.head...)
		}
	}
	b.word = append(b.word, letters...)
	s := n.stand.words
	b.addWord(&s)
	return s
}

// addWord tells the model that b.word is the next one.
func (b *Beam) addWord(s *standing) {
	id, known := int32(0), true
	if b.o.Words.asks() {
		id, known = b.o.Words.Model.ID(b.word)
	}
	b.o.Words.add(s, id, known)
}

// end is the stand of n as a whole sentence.
func (b *Beam) end(n *node) stand {
	s := n.stand
	if b.o.Hotwords != nil {
		_, s.hotwords = b.o.Hotwords.write(s.hot, s.hotwords, s.open, " ")
		s.hot = nowhere
	}
	if b.o.Words != nil {
		if s.open {
			s.words = b.wordEnded(n)
		}
		b.o.Words.end(&s.words)
		s.open = false
	}
	if b.o.Tokens != nil {
		b.o.Tokens.end(&s.tokens)
	}
	if b.o.Decoder != nil {
		b.o.Decoder.end(&s.decoder)
	}
	return s
}

// value is what models and hotwords add to a score.
func (b *Beam) value(s *stand) float64 {
	begun := 0.0
	if s.open {
		begun = b.o.Words.begun(s.letters)
	}
	return begun + b.o.Words.value(&s.words.Part) + b.o.Tokens.value(&s.tokens.Part) + b.o.Decoder.value(&s.decoder.Part) + s.hotwords + b.o.Hotwords.begun(s.hot)
}
