package train

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"konkanitrain/data"
	"konkanitrain/data/text"
	"konkanitrain/internal/words"
)

// The values of the setting tokenizer that are no file.
const (
	tokenizerCharacters = "characters"
	tokenizerBPE        = "bpe"
)

// TokenizerFile is the file of the tokenizer, "" where it needs none.
func (c DataConfig) TokenizerFile() string {
	if c.Tokenizer == tokenizerCharacters || c.Tokenizer == tokenizerBPE {
		return ""
	}
	return c.Tokenizer
}

// makeTokenizer makes what the setting tokenizer says, of the training texts or of a file.
func (c Config) makeTokenizer(texts iter.Seq[string]) (text.Tokenizer, error) {
	switch c.Data.Tokenizer {
	case tokenizerCharacters:
		return text.Build(texts, c.Data.MinCharCount)
	case tokenizerBPE:
		t, err := text.TrainBPE(texts, c.Model.VocabSize, c.Data.MinCharCount)
		if err != nil {
			return nil, fmt.Errorf("tokenizer bpe, vocab_size %d: %w", c.Model.VocabSize, err)
		}
		return t, nil
	}
	t, err := text.ReadPieces(c.Data.Tokenizer)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	return t, nil
}

// describeTokens says what the texts of a training set are cut into, what of it is too rare to be learned, and which
// texts their tokens don't write as they were.
func describeTokens(t text.Tokenizer, p text.Policy, set *data.Set) []string {
	lines := append([]string{"vocabulary: " + shownTokens(t, set)}, rareCharacters(set)...)
	if _, ok := text.Bare(t).(*text.Vocabulary); ok {
		return lines
	}
	return append(lines, changedTexts(t, p, set)...)
}

// tokensShown is how many characters of a vocabulary are shown, far more than an alphabet has, and piecesShown how
// many pieces.
const (
	tokensShown = 500
	piecesShown = 30
)

// shownTokens is the size of a vocabulary with its characters, or some of its pieces and what they save.
func shownTokens(t text.Tokenizer, set *data.Set) string {
	shown := text.Shown(t)
	list := func(most int) string {
		if len(shown) <= most {
			return strings.Join(shown, " ")
		}
		return fmt.Sprintf("%s and %d more", strings.Join(shown[:most], " "), len(shown)-most)
	}
	if _, ok := text.Bare(t).(*text.Vocabulary); ok {
		return fmt.Sprintf("%v, with blank, sos/eos and unk: %s", t, list(tokensShown))
	}
	characters, tokens := 0, 0
	for i := range set.Len() {
		characters += utf8.RuneCountInString(set.Text(i))
		tokens += set.Tokens(i)
	}
	return fmt.Sprintf("%v, with blank, sos/eos and unk, %.2f characters a token: %s", t, float64(characters)/float64(max(tokens, 1)), list(piecesShown))
}

// A character that is seldomer than this in the training texts is hardly learned. The first rareShown are named.
const (
	seldom    = 5
	rareShown = 20
)

// rareCharacters names the characters of training texts that are too rare to be learned, with the lines they are in.
func rareCharacters(set *data.Set) []string {
	rare := slices.DeleteFunc(text.CountCharacters(set.Texts()), func(c text.CharCount) bool { return c.Count >= seldom })
	if len(rare) == 0 {
		return nil
	}
	slices.SortStableFunc(rare, func(a, b text.CharCount) int { return cmp.Compare(a.Count, b.Count) })
	places := placesOf(rare[:min(len(rare), rareShown)], set)
	named := make([]string, len(rare))
	for i, c := range rare {
		named[i] = fmt.Sprintf("%s x %d (%s)", text.Show(c.Char), c.Count, strings.Join(places[c.Char], "; "))
	}
	return []string{fmt.Sprintf("  %s seen fewer than %d times, too seldom to be learned well: %s",
		words.Count(len(rare), "character"), seldom, words.List(named, rareShown))}
}

// placesOf finds the lines in which some characters are.
func placesOf(some []text.CharCount, set *data.Set) map[string][]string {
	left := 0
	characters := ""
	for _, c := range some {
		left += c.Count
		characters += c.Char
	}
	places := map[string][]string{}
	for i := 0; left > 0 && i < set.Len(); i++ {
		s := set.Text(i)
		if !strings.ContainsAny(s, characters) {
			continue
		}
		u := set.At(i)
		place := set.Report.Place(text.Place{File: u.File, Line: u.Line})
		for _, c := range some {
			if n := strings.Count(s, c.Char); n > 0 {
				left -= n
				places[c.Char] = append(places[c.Char], place)
			}
		}
	}
	return places
}

// textsTried is how many texts are turned into tokens and back.
const textsTried = 10000

// changedTexts counts the texts that their tokens write otherwise: what a model that makes no mistake is charged with.
func changedTexts(t text.Tokenizer, p text.Policy, set *data.Set) []string {
	n, first := 0, ""
	tried := min(set.Len(), textsTried)
	for i := range tried {
		s := set.Text(i)
		if back := p.Normalize(t.Decode(t.Encode(s, nil))); back != s {
			if n++; n == 1 {
				u := set.At(i)
				first = fmt.Sprintf("%s, %q becomes %q", set.Report.Place(text.Place{File: u.File, Line: u.Line}), s, back)
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("  WARNING: the tokens of %d of %s write another text than they are made of, and the difference counts as errors: %s",
		n, words.Count(tried, "text"), first)}
}
