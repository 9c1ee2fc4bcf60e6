package ngram

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"konkanitrain/internal/words"
)

// MaxOrder is the highest order that is estimated.
const MaxOrder = 10

// Options say what is estimated.
type Options struct {
	Unit  Unit // Words where it is ""
	Order int  // the most words of an n-gram, 1 to MaxOrder
	// Prune leaves n-grams out that were seen at most so many times, by order, from 1 on; the last number is for all
	// orders above too, and none is 0. What is left out keeps its count in the estimate of what is kept. Words that are
	// left out are unknown. Numbers must not fall from one order to the next: an n-gram needs those within it.
	Prune []int
	// Limit is the most bytes to take; 0 is no limit.
	Limit int64
}

// Validate names every value that makes no sense.
func (o Options) Validate() error {
	var problems []error
	if o.Unit != "" && o.Unit != Words && o.Unit != Characters {
		problems = append(problems, fmt.Errorf("units %q: want %s or %s", o.Unit, Words, Characters))
	}
	if o.Order < 1 || o.Order > MaxOrder {
		problems = append(problems, fmt.Errorf("order %d: want 1 to %d", o.Order, MaxOrder))
	}
	if len(o.Prune) > o.Order && o.Order > 0 {
		problems = append(problems, fmt.Errorf("prune has %s, and the order is %d: give one for each order at most", words.Count(len(o.Prune), "number"), o.Order))
	}
	for i, n := range o.Prune {
		if n < 0 || int64(n) >= math.MaxUint32 {
			problems = append(problems, fmt.Errorf("prune %d: want 0 (nothing is left out) or more", n))
		}
		if i > 0 && n < o.Prune[i-1] {
			problems = append(problems, fmt.Errorf("prune %d for order %d is below the %d for order %d: an n-gram needs those within it, so the numbers must not fall",
				n, i+1, o.Prune[i-1], i))
		}
	}
	return errors.Join(problems...)
}

// threshold is the most times that an n-gram of an order was seen which is left out.
func (o Options) threshold(order int) uint32 {
	if len(o.Prune) == 0 {
		return 0
	}
	return uint32(o.Prune[min(order, len(o.Prune))-1])
}

// chunk is how many words are kept in one piece while texts come in.
const chunk = 1 << 18

// bytesPerWord is what a word of the texts takes in the end: its number, and its place twice while places are sorted.
const bytesPerWord = 12

// Counter takes in texts for an estimate.
type Counter struct {
	options    Options
	vocabulary *Vocabulary // in the order in which words were met
	chunks     [][]uint32  // <s>, words, </s> of all sentences
	report     Report
}

// NewCounter is a counter without texts. The error is that of Validate.
func NewCounter(o Options) (*Counter, error) {
	if o.Unit == "" {
		o.Unit = Words
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Counter{options: o, vocabulary: newVocabulary()}, nil
}

// Add takes in a text with single spaces as one sentence; one without words is passed over. Words that are written as
// <s>, </s> or <unk> can't be told from these marks: they are left out of the sentence, and counted. The error says
// that the limit doesn't allow any more.
func (c *Counter) Add(text string) error {
	begun := false
	for part := range c.options.Unit.Split(text) {
		w, _, err := add(c.vocabulary, part)
		if err != nil {
			return err
		}
		if w < Word(len(marks)) {
			c.report.Marks++
			continue
		}
		if !begun {
			c.put(Start)
			begun = true
		}
		c.put(w)
		c.report.Words++
	}
	if !begun {
		return nil
	}
	c.put(End)
	c.report.Sentences++
	return c.room()
}

func (c *Counter) put(w Word) {
	last := len(c.chunks) - 1
	if last < 0 || len(c.chunks[last]) == chunk {
		c.chunks = append(c.chunks, make([]uint32, 0, chunk))
		last++
	}
	c.chunks[last] = append(c.chunks[last], uint32(w))
}

// tokens is the number of words with the marks around sentences.
func (c *Counter) tokens() int { return c.report.Words + 2*c.report.Sentences }

// room is an error where what is known to be needed is more than is allowed.
func (c *Counter) room() error {
	if c.tokens() >= math.MaxUint32 {
		return &TooLarge{fmt.Sprintf("more than %d words can't be counted at once", math.MaxUint32)}
	}
	return c.options.allow(bytesPerWord*int64(c.tokens())+2*c.vocabulary.Bytes(), fmt.Sprintf("the first %s (%s) of the texts",
		words.Count(c.report.Sentences, "sentence"), words.Count(c.report.Words, c.options.Unit.Noun())))
}

// allow is an error where need bytes, for what, are more than the limit.
func (o Options) allow(need int64, what string) error {
	if o.Limit <= 0 || need <= o.Limit {
		return nil
	}
	return &TooLarge{fmt.Sprintf("%s need %s of memory, and %s are allowed", what, words.Binary(need), words.Binary(o.Limit))}
}

// TooLarge is the error of texts that take more memory than there is.
type TooLarge struct{ what string }

// Error says how much is needed, and what helps.
func (e *TooLarge) Error() string {
	return e.what + ": give fewer texts (a part of them, each sentence once), a lower order, or more memory (memory_limit)"
}

// take is the texts as the numbers of words in alphabetical order, in one piece. The counter has none of them
// afterwards.
func (c *Counter) take() (v *Vocabulary, tokens []uint32) {
	v, became := c.vocabulary.sorted(nil)
	tokens = make([]uint32, 0, c.tokens())
	for i, part := range c.chunks {
		for _, w := range part {
			tokens = append(tokens, became[w])
		}
		c.chunks[i] = nil
	}
	c.chunks, c.vocabulary = nil, newVocabulary()
	return v, slices.Clip(tokens)
}
