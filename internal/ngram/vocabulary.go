package ngram

import (
	"errors"
	"hash/maphash"
	"math"
	"slices"
	"strings"
)

// Word is the number of a word in a vocabulary.
type Word uint32

// The words that every vocabulary begins with.
const (
	Unknown Word = iota // <unk>, every word that is not there
	Start               // <s>, in front of a sentence
	End                 // </s>, behind it
)

// marks are the written forms of these.
var marks = [...]string{"<unk>", "<s>", "</s>"}

// Vocabulary is the words of a model. Its words are one text, found by a hash table of their numbers: the letters, and
// 12 to 20 bytes, of a word. It never changes once a model has it.
type Vocabulary struct {
	text  []byte
	ends  []uint32 // of the words in text
	table []uint32 // a word's number and 1 at the place of its hash or behind it, 0 where there is none
	seed  maphash.Seed
}

func newVocabulary() *Vocabulary {
	v := &Vocabulary{table: make([]uint32, 16), seed: maphash.MakeSeed()}
	for _, s := range marks {
		_, _, _ = add(v, s)
	}
	return v
}

// Size is the number of words, <unk>, <s> and </s> included.
func (v *Vocabulary) Size() int { return len(v.ends) }

// ID finds a word; where it is not there the word is Unknown.
func (v *Vocabulary) ID(word string) (w Word, known bool) { return find(v, word) }

// IDOf is ID of letters.
func (v *Vocabulary) IDOf(word []byte) (w Word, known bool) { return find(v, word) }

// Text is the written form of a word; "" where there is no such word.
func (v *Vocabulary) Text(w Word) string { return string(v.at(w)) }

// Bytes is what the vocabulary takes.
func (v *Vocabulary) Bytes() int64 {
	return int64(cap(v.text)) + 4*int64(cap(v.ends)+len(v.table))
}

// at is the letters of a word.
func (v *Vocabulary) at(w Word) []byte {
	if int(w) >= len(v.ends) {
		return nil
	}
	from := uint32(0)
	if w > 0 {
		from = v.ends[w-1]
	}
	return v.text[from:v.ends[w]]
}

// letters is a word as it comes.
type letters interface{ ~string | ~[]byte }

func hash[T letters](v *Vocabulary, word T) uint64 {
	switch x := any(word).(type) {
	case []byte:
		return maphash.Bytes(v.seed, x)
	default:
		return maphash.String(v.seed, string(word))
	}
}

// place is where a word stands in the table, or would.
func place[T letters](v *Vocabulary, word T) int {
	mask := len(v.table) - 1
	i := int(hash(v, word)) & mask
	for v.table[i] != 0 && string(v.at(Word(v.table[i]-1))) != string(word) {
		i = (i + 1) & mask
	}
	return i
}

func find[T letters](v *Vocabulary, word T) (Word, bool) {
	if n := v.table[place(v, word)]; n != 0 {
		return Word(n - 1), true
	}
	return Unknown, false
}

// errWords is the error of a vocabulary that is too large.
var errWords = errors.New("the words take more than 4 GiB: these are hardly words; are there spaces between them?")

// add finds a word, or puts it at the end.
func add[T letters](v *Vocabulary, word T) (w Word, known bool, err error) {
	i := place(v, word)
	if n := v.table[i]; n != 0 {
		return Word(n - 1), true, nil
	}
	if len(v.text)+len(word) > math.MaxUint32 {
		return 0, false, errWords
	}
	v.text = append(v.text, word...)
	v.ends = append(v.ends, uint32(len(v.text)))
	v.table[i] = uint32(len(v.ends))
	if 2*len(v.ends) > len(v.table) {
		v.grow()
	}
	return Word(len(v.ends) - 1), false, nil
}

// grow doubles the table, which is never more than half full.
func (v *Vocabulary) grow() {
	v.table = make([]uint32, 2*len(v.table))
	for w := range v.ends {
		v.table[place(v, v.at(Word(w)))] = uint32(w + 1)
	}
}

// sorted is the vocabulary with the words behind the first ones in the order of their letters, without those that drop
// asks for, and what each word has become: Unknown where it was dropped.
func (v *Vocabulary) sorted(drop func(Word) bool) (*Vocabulary, []uint32) {
	order := make([]Word, 0, v.Size()-len(marks))
	for w := Word(len(marks)); int(w) < v.Size(); w++ {
		if drop == nil || !drop(w) {
			order = append(order, w)
		}
	}
	slices.SortFunc(order, func(a, b Word) int { return strings.Compare(string(v.at(a)), string(v.at(b))) })
	n, became := newVocabulary(), make([]uint32, v.Size())
	became[Start], became[End] = uint32(Start), uint32(End)
	for _, w := range order {
		id, _, _ := add(n, v.at(w)) // not larger than v
		became[w] = uint32(id)
	}
	n.fit()
	return n, became
}

// fit gives back what append has taken beyond need.
func (v *Vocabulary) fit() {
	v.text, v.ends = slices.Clip(slices.Clone(v.text)), slices.Clip(slices.Clone(v.ends))
}
