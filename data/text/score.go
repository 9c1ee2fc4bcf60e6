package text

import (
	"fmt"
	"strings"
)

// Counts are the edits that turn references into hypotheses, summed over any number of pairs. Rates are taken
// from sums: a mean of rates would weigh a short utterance like a long one.
type Counts struct {
	Sub int `json:"sub"` // reference tokens replaced
	Del int `json:"del"` // reference tokens missing from the hypothesis
	Ins int `json:"ins"` // hypothesis tokens without a counterpart
	Ref int `json:"ref"` // reference tokens
}

// Errors is the edit distance: substitutions, deletions and insertions together.
func (c Counts) Errors() int { return c.Sub + c.Del + c.Ins }

// Rate is Errors over reference tokens; it passes 1 when there are many insertions. References without any
// token count as one, so that inventing words where nothing was said is an error rate and not a division by 0.
func (c Counts) Rate() float64 { return float64(c.Errors()) / float64(max(c.Ref, 1)) }

// Add adds the counts of further pairs.
func (c *Counts) Add(d Counts) {
	c.Sub += d.Sub
	c.Del += d.Del
	c.Ins += d.Ins
	c.Ref += d.Ref
}

// String is "12.50 % (1/8: 1 sub, 0 del, 0 ins)".
func (c Counts) String() string {
	return fmt.Sprintf("%.2f %% (%d/%d: %d sub, %d del, %d ins)", 100*c.Rate(), c.Errors(), c.Ref, c.Sub, c.Del, c.Ins)
}

// Score sums word and character errors. The zero value is ready for use.
type Score struct {
	Words      Counts `json:"words"`
	Chars      Counts `json:"chars"`
	Utterances int    `json:"utterances"`
	Exact      int    `json:"exact"`      // hypothesis equal to its reference
	EmptyHyps  int    `json:"empty_hyps"` // hypotheses without a word; all of them empty is the sign of a model stuck on blanks

	// Plain are the errors without punctuation, as remove_punctuation takes it out; nil where no reference has any.
	Plain *PlainScore `json:"without_punctuation,omitempty"`

	plain   PlainScore // what Plain is, or will be
	numbers numbering
}

// Add scores one pair as it is written: it normalizes nothing, so both must have gone through the same Policy.
// Words are split at white space; characters are code points, spaces included.
func (s *Score) Add(ref, hyp string) {
	r, h := s.numbers.split(ref, hyp)
	words, chars := Align(r, h), Align([]rune(ref), []rune(hyp))
	s.addPlain(ref, hyp, words, chars)
	s.Words.Add(words)
	s.Chars.Add(chars)
	s.Utterances++
	if ref == hyp {
		s.Exact++
	}
	if len(h) == 0 {
		s.EmptyHyps++
	}
}

// PlainScore are the errors of texts without punctuation.
type PlainScore struct {
	Words Counts `json:"words"`
	Chars Counts `json:"chars"`
}

// plain takes punctuation out of texts that are scored, and leaves all else.
var plain = Policy{KeepJoiners: true, RemovePunctuation: true}

// addPlain scores a pair without punctuation, which where neither has any is the score that it has. Plain is there from
// the first reference with punctuation on: a mark that only a hypothesis has is no question of how texts are written.
func (s *Score) addPlain(ref, hyp string, words, chars Counts) {
	marked := strings.ContainsFunc(ref, isPunctuation)
	if marked || strings.ContainsFunc(hyp, isPunctuation) {
		ref, hyp = plain.Normalize(ref), plain.Normalize(hyp)
		r, h := s.numbers.split(ref, hyp)
		words, chars = Align(r, h), Align([]rune(ref), []rune(hyp))
	}
	s.sumPlain(&PlainScore{words, chars}, marked)
}

// sumPlain adds to the sums without punctuation, and shows them if they are to be from now on.
func (s *Score) sumPlain(p *PlainScore, show bool) {
	s.plain.Words.Add(p.Words)
	s.plain.Chars.Add(p.Chars)
	if show || s.Plain != nil {
		sum := s.plain
		s.Plain = &sum
	}
}

// String is both rates in one line.
func (p *PlainScore) String() string { return fmt.Sprintf("WER %v, CER %v", p.Words, p.Chars) }

// Merge adds the sums of another score.
func (s *Score) Merge(o *Score) {
	s.sumPlain(&o.plain, o.Plain != nil)
	s.Words.Add(o.Words)
	s.Chars.Add(o.Chars)
	s.Utterances += o.Utterances
	s.Exact += o.Exact
	s.EmptyHyps += o.EmptyHyps
}

// WER is the word error rate, 1 = 100 %.
func (s *Score) WER() float64 { return s.Words.Rate() }

// CER is the character error rate, 1 = 100 %.
func (s *Score) CER() float64 { return s.Chars.Rate() }

// String is one line with both rates and their integers.
func (s *Score) String() string {
	return fmt.Sprintf("%d utterances, WER %v, CER %v", s.Utterances, s.Words, s.Chars)
}

// numbering numbers the words of one pair, so that alignment compares integers.
type numbering struct{ ids map[string]int32 }

func (w *numbering) split(ref, hyp string) (r, h []int32) {
	if w.ids == nil {
		w.ids = map[string]int32{}
	}
	clear(w.ids)
	return w.number(ref), w.number(hyp)
}

func (w *numbering) number(s string) []int32 {
	fields := strings.Fields(s)
	out := make([]int32, len(fields))
	for i, f := range fields {
		id, ok := w.ids[f]
		if !ok {
			id = int32(len(w.ids))
			w.ids[f] = id
		}
		out[i] = id
	}
	return out
}
