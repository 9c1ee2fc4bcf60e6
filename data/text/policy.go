// Package text turns transcripts into token ids and back, and counts recognition errors.
//
// One Policy says how a transcript is written; the same Policy is applied in training, scoring and
// transcription, and it is stored with the model. A Vocabulary lists the characters of the training texts.
// Combining marks (Unicode category M: vowel signs, virama, nukta, anusvara) are letters like all others and
// are never removed.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Policy says how a transcript is normalized. Two policies are the same when they are equal with ==. The zero
// value is the default: joiners are stripped, all else stays as written. NFC, the collapsing of spaces and the
// removal of invisible characters are part of every policy.
type Policy struct {
	// KeepJoiners keeps U+200D (zero width joiner) and U+200C (zero width non-joiner), which change how a
	// conjunct is drawn and not how it is spoken.
	KeepJoiners bool
	// FoldDigits writes the decimal digits of every script (Devanagari ०-९ among them) as ASCII 0-9.
	FoldDigits bool
	// RemovePunctuation writes a space for each character of the Unicode categories P and S: full stop and danda,
	// quotation marks and dashes, also those inside of words, signs and emoji. An apostrophe between two letters stays,
	// as U+0027. Marks are never removed, and neither is U+FFFD, which stands for a character that is not known.
	RemovePunctuation bool
	// LowerCase writes letters in lower case, as Unicode has it for no language in particular.
	LowerCase bool
	// AllowedCharacters lists the characters that texts may have beside the space, as [ParseCharacters] reads them; ""
	// allows all. Others are removed; for one of categories P and S there is a space.
	AllowedCharacters string
}

// Normalize returns s in the one form that training, scoring and transcription use: invisible characters and
// (unless kept) joiners removed, digits folded if asked for, NFC, every run of white space one U+0020, none at
// either end; then what the other rules ask for. Bytes that are not UTF-8 become U+FFFD. Normalize is idempotent.
func (p Policy) Normalize(s string) string { return p.normalize(s, nil) }

// normalize calls changed, which may be nil, with each character that a rule changes. A character that two rules would
// change is the first one's.
func (p Policy) normalize(s string, changed func(Rule, rune)) string {
	allowed := charactersOf(p.AllowedCharacters)
	if p.isNormal(s, allowed) {
		return s
	}
	if changed == nil {
		changed = func(Rule, rune) {}
	}
	s = norm.NFC.String(p.visible(s, changed))
	if p.LowerCase {
		s = norm.NFC.String(lower(s, changed))
	}
	for p.RemovePunctuation || allowed != nil { // what comes together may compose, and what is alone is no apostrophe
		kept := s
		if p.RemovePunctuation {
			kept = withoutPunctuation(kept, changed)
		}
		if allowed != nil {
			kept = norm.NFC.String(allowed.keep(kept, changed))
		}
		if kept == s {
			break
		}
		s = kept
	}
	return strings.Join(strings.FieldsFunc(s, isSpace), " ")
}

// visible drops what has no shape, and writes spaces and digits in one way.
func (p Policy) visible(s string, changed func(Rule, rune)) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch {
		case isSpace(r):
			b.WriteByte(' ')
		case isInvisible(r):
		case isJoiner(r) && !p.KeepJoiners:
			changed(Joiners, r)
		case p.FoldDigits && r >= utf8.RuneSelf && unicode.Is(unicode.Nd, r):
			changed(FoldDigits, r)
			b.WriteByte('0' + digitValue(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isNormal says that s is ASCII words with single spaces, which the policy doesn't change. It keeps the common case of
// Latin text free of allocation.
func (p Policy) isNormal(s string, allowed *characters) bool {
	space := true
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf || c < ' ' || c == 0x7f || c == ' ' && space {
			return false
		}
		space = c == ' '
		if p.LowerCase && 'A' <= c && c <= 'Z' || p.RemovePunctuation && isPunctuation(rune(c)) || allowed != nil && !allowed.has(rune(c)) {
			return false
		}
	}
	return !space || s == ""
}

// StartsWithMark says whether the first character of s is a combining mark: a sign without the letter it
// belongs to, which recognizer output has now and then. Such a text is used as it is; an audit counts it.
func StartsWithMark(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && unicode.Is(unicode.M, r)
}

// isSpace is true for all that separates words: Unicode white space (no-break space, tab, em space, CR, LF)
// and the other control characters.
func isSpace(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// isInvisible is true for format characters with neither a sound nor a shape: byte-order mark, zero width
// space, word joiner, soft hyphen, and the marks and brackets of writing direction.
func isInvisible(r rune) bool {
	switch {
	case r == '\ufeff', r == '\u200b', r == '\u2060', r == '\u00ad', r == '\u061c',
		r == '\u200e', r == '\u200f', r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
		return true
	}
	return false
}

// digitValue is the value 0..9 of a decimal digit. Unicode encodes each set of decimal digits as ten code
// points in order, so every range of category Nd starts with a zero and its length is a multiple of ten.
func digitValue(r rune) byte {
	for _, x := range unicode.Nd.R16 {
		if lo, hi := rune(x.Lo), rune(x.Hi); r >= lo && r <= hi {
			return byte((r - lo) % 10)
		}
	}
	for _, x := range unicode.Nd.R32 {
		if lo, hi := rune(x.Lo), rune(x.Hi); r >= lo && r <= hi {
			return byte((r - lo) % 10)
		}
	}
	return 0
}
