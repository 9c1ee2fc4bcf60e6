package decode

import (
	"errors"
	"fmt"
	"math"
	"unsafe"
)

// Aligner finds where in an utterance a token sequence was said: that of a hypothesis, or of a text that is given. One
// goroutine uses it at a time.
//
// It goes over the states of the sequence in CTC (Graves et al. 2006, section 4.1): U tokens with a blank before,
// between and behind them. From frame to frame a path stays in its state, goes to the next, or passes over a blank
// between tokens that differ.
type Aligner struct {
	blank int32
	score []float64 // [2U+1] log-probability of the best path to each state, or of all
	moves []uint8   // [T, 2U+1] how the best path came to each state: two bits each
	spans []Span
}

// NewAligner aligns with this id for the blank.
func NewAligner(blank int32) *Aligner { return &Aligner{blank: blank} }

// Alignment is a path that writes a token sequence.
type Alignment struct {
	Spans   []Span  // of each token
	LogProb float64 // of the path, its blanks included, in nats
}

// TooShortError says that a token sequence can't be said in the frames of an utterance.
type TooShortError struct {
	Tokens  int
	Repeats int // tokens equal to the one before, which a blank has to keep apart
	Frames  int // that there are
}

// Error says what doesn't fit.
func (e *TooShortError) Error() string {
	return fmt.Sprintf("%d tokens take %d frames at least, one each and one between equal neighbors, and there are %d: "+
		"the text isn't that of this sound, or the sound is cut short", e.Tokens, e.Tokens+e.Repeats, e.Frames)
}

// Align finds the likeliest path (Viterbi). Of equally likely ones it takes the one that is at the later tokens the
// earliest. The spans are valid until the next call. An error is a *TooShortError, or says what is no token.
func (a *Aligner) Align(f Frames, tokens []int32) (Alignment, error) {
	if err := a.check(f, tokens); err != nil {
		return Alignment{}, err
	}
	a.start(f, tokens)
	states := len(a.score)
	a.moves = grown(a.moves, (f.T()*states+3)/4)
	clear(a.moves)
	for t := 1; t < f.T(); t++ {
		row := f.Row(t)
		for s := states - 1; s >= 0; s-- {
			best, move := a.score[s], uint8(0)
			for m := 1; m <= a.farthest(tokens, s); m++ {
				if x := a.score[s-m]; x > best {
					best, move = x, uint8(m)
				}
			}
			a.score[s] = best + a.logProb(row, tokens, s)
			at := t*states + s
			a.moves[at/4] |= move << (at % 4 * 2)
		}
	}
	return a.trace(f, tokens), nil
}

// LogProb is the log-probability of a labelling, the sum over its paths (the forward algorithm, Graves et al. 2006,
// section 4.1), in nats: -Inf where it doesn't fit into the frames, or has what is no token.
func (a *Aligner) LogProb(f Frames, tokens []int32) float64 {
	if a.check(f, tokens) != nil {
		return math.Inf(-1)
	}
	a.start(f, tokens)
	for t := 1; t < f.T(); t++ {
		row := f.Row(t)
		for s := len(a.score) - 1; s >= 0; s-- {
			sum := a.score[s]
			for m := 1; m <= a.farthest(tokens, s); m++ {
				sum = logAdd(sum, a.score[s-m])
			}
			a.score[s] = sum + a.logProb(row, tokens, s)
		}
	}
	sum := a.score[len(a.score)-1]
	if len(tokens) > 0 {
		sum = logAdd(sum, a.score[len(a.score)-2])
	}
	if sum < impassable/2 {
		return math.Inf(-1)
	}
	return sum
}

func (a *Aligner) check(f Frames, tokens []int32) error {
	repeats := 0
	for i, id := range tokens {
		if id < 0 || int(id) >= f.V || id == a.blank {
			return fmt.Errorf("token %d of %d has the id %d: want one of %d, without the blank, %d", i+1, len(tokens), id, f.V, a.blank)
		}
		if i > 0 && id == tokens[i-1] {
			repeats++
		}
	}
	if a.blank < 0 || f.V > 0 && int(a.blank) >= f.V {
		return errors.New("the blank is none of the tokens")
	}
	if len(tokens)+repeats > f.T() {
		return &TooShortError{len(tokens), repeats, f.T()}
	}
	return nil
}

// start sets the states to those of the first frame; without frames there is the one of an empty sequence.
func (a *Aligner) start(f Frames, tokens []int32) {
	a.score = grown(a.score, 2*len(tokens)+1)
	for s := range a.score {
		a.score[s] = math.Inf(-1)
	}
	if f.T() == 0 {
		a.score[0] = 0
		return
	}
	for s := range min(2, len(a.score)) {
		a.score[s] = a.logProb(f.Row(0), tokens, s)
	}
}

// farthest is how many states back a path may come from to s.
func (a *Aligner) farthest(tokens []int32, s int) int {
	if s%2 == 1 && s > 1 && tokens[s/2] != tokens[s/2-1] {
		return 2
	}
	return min(s, 1)
}

// impassable is what a log-probability of -Inf counts as: -Inf itself is that of a state which no path has come to.
const impassable = -1e10

// logProb is that of the state s in a frame, [V].
func (a *Aligner) logProb(row []float32, tokens []int32, s int) float64 {
	id := a.blank
	if s%2 == 1 {
		id = tokens[s/2]
	}
	if p := float64(row[id]); p > impassable {
		return p
	}
	return impassable
}

// trace follows the best path back from its end.
func (a *Aligner) trace(f Frames, tokens []int32) Alignment {
	a.spans = grown(a.spans, len(tokens))
	clear(a.spans)
	states := len(a.score)
	s := states - 1
	if s > 0 && a.score[s-1] >= a.score[s] {
		s--
	}
	sum := 0.0
	for t := f.T() - 1; t >= 0; t-- {
		row := f.Row(t)
		if s%2 == 1 {
			span := &a.spans[s/2]
			if span.End == 0 {
				span.End = int32(t) + 1
			}
			span.Start = int32(t)
			span.LogProb += float64(row[tokens[s/2]])
			sum += float64(row[tokens[s/2]])
		} else {
			sum += float64(row[a.blank])
		}
		at := t*states + s
		s -= int(a.moves[at/4] >> (at % 4 * 2) & 3)
	}
	return Alignment{Spans: a.spans, LogProb: sum}
}

// Bytes is the most that aligning so many tokens in so many frames makes it hold.
func (a *Aligner) Bytes(frames, tokens int) int64 {
	states := int64(2*tokens + 1)
	return (int64(frames)*states+3)/4 + 8*states + int64(tokens)*int64(unsafe.Sizeof(Span{}))
}

// grown is x with n elements, of any values.
func grown[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}
