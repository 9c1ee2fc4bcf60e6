// Package cut takes long sound apart into pieces that a network hears one at a time: at pauses, and where there is none
// for as long as a piece may be, into pieces that overlap. Sound that is no longer than a piece stays as it is.
// Silence, of any length, is in no piece: a network that was trained on speech hears a letter even there.
//
// A network that normalizes what it hears piece by piece does best on pieces like those that it was trained on: phrases
// with little silence around them. So long sound is cut in each pause, and of a long pause most is left out, where it
// is steady noise.
//
// Where a piece ends depends on the sound of that piece alone: cutting that begins at the start of any piece gives the
// same pieces from there on.
package cut

import (
	"fmt"
	"math"
)

// Options say how long pieces are.
type Options struct {
	Rate    int     // samples a second
	Longest float64 // seconds of a piece at most: sound that is no longer is one piece
	Overlap float64 // seconds that two pieces share where there is no pause between them
	Step    int     // a piece that overlaps with the one before starts a multiple of so many frames of 10 ms behind its start, as a network's frames do; 0 is 1
}

// Bounds of Options, in seconds.
const (
	ShortestPiece = 1   // of Longest
	LongestPiece  = 600 // the same
	MostOverlap   = 0.5 // share of a piece
)

// Validate names what makes no sense.
func (o Options) Validate() error {
	switch {
	case o.Rate < 100:
		return fmt.Errorf("pieces of sound of %d samples a second: want 100 or more", o.Rate)
	case !(o.Longest >= ShortestPiece && o.Longest <= LongestPiece):
		return fmt.Errorf("pieces of %g s: want %d to %d", o.Longest, ShortestPiece, LongestPiece)
	case o.Step < 0:
		return fmt.Errorf("pieces that start at multiples of %d frames: want 0 or more", o.Step)
	case !(o.Overlap > 0 && o.Overlap <= MostOverlap*o.Longest):
		return fmt.Errorf("pieces of %g s that overlap by %g s: want more than 0 and at most half of a piece", o.Longest, o.Overlap)
	}
	return nil
}

// Samples is how many a piece has at most: whole steps.
func (o Options) Samples() int { return o.grid(o.Longest) }

// overlap is how many samples two pieces share.
func (o Options) overlap() int { return max(o.grid(o.Overlap), o.frame()*max(o.Step, 1)) }

// grid is about so many seconds in samples, of whole steps.
func (o Options) grid(seconds float64) int {
	step := max(o.Step, 1)
	return int(math.Round(100*seconds/float64(step))) * step * o.frame()
}

// frame is the samples of 10 ms, in which energy is measured.
func (o Options) frame() int { return o.Rate / 100 }

// Piece is a stretch of sound.
type Piece struct {
	Start  int       // the number of its first sample
	Wave   []float32 // valid until the function that got it returns
	Joined int       // samples at its start that the piece before has too; 0 where it begins in a pause, or with the sound
}

// Cutter cuts sound that comes part by part. One goroutine uses it.
type Cutter struct {
	o      Options
	wave   []float32 // from the start of the next piece on
	start  int       // its number
	joined int       // of the next piece
	sorted []float64 // energies
	energy []float64 // of each frame of a piece, in dB

	cutting bool // the sound is longer than a piece
}

// New is a Cutter for sound from its start on.
func New(o Options) (*Cutter, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Cutter{o: o}, nil
}

// Bytes is the most that a Cutter takes which is given up to n samples at a time, in bytes.
func (o Options) Bytes(n int) int64 {
	frames := int64(o.Samples() / o.frame())
	return 4*int64(o.Samples()+n) + 2*8*frames
}

// Skip has the Cutter begin at a sample: at the start of a piece, which shares so many samples with the one before, so
// that it and the others come out as they would have.
func (c *Cutter) Skip(start, joined int) {
	c.start, c.joined, c.cutting = start, joined, start > 0
}

// Shorten makes the pieces from now on no longer than so many seconds, with as large a share of overlap.
func (c *Cutter) Shorten(longest float64) {
	if longest < c.o.Longest {
		c.o.Overlap *= longest / c.o.Longest
		c.o.Longest = longest
	}
}

// Put takes the next samples and gives the pieces that are whole to emit, whose error ends it.
func (c *Cutter) Put(x []float32, emit func(Piece) error) error {
	if c.wave == nil {
		c.wave = make([]float32, 0, c.o.Samples()+len(x))
	}
	for c.wave = append(c.wave, x...); len(c.wave) > c.o.Samples(); {
		if err := c.cut(emit); err != nil {
			return err
		}
	}
	return nil
}

// End gives the last piece to emit.
func (c *Cutter) End(emit func(Piece) error) error {
	for len(c.wave) > c.o.Samples() { // it was shortened since
		if err := c.cut(emit); err != nil {
			return err
		}
	}
	end := len(c.wave)
	l := c.levels(c.wave)
	if len(l.energy) > 0 && l.nothing() {
		return nil
	}
	if c.cutting { // else the sound is one piece, as it is
		c.skip(c.leading(l))
		l = c.levels(c.wave)
		end = len(c.wave)
		if from := l.quietTail(); len(c.energy)-from > trailing && c.still(l.energy[from+trailing:]) {
			end = (from + trailing) * c.o.frame()
		}
	}
	if end == 0 {
		return nil
	}
	return emit(Piece{Start: c.start, Wave: c.wave[:end], Joined: c.joined})
}

// cut takes one piece off, or a pause before it.
func (c *Cutter) cut(emit func(Piece) error) error {
	c.cutting = true
	n := c.o.Samples()
	l := c.levels(c.wave[:n])
	if l.nothing() {
		c.skip(n)
		return nil
	}
	if quiet := c.leading(l); quiet > 0 {
		c.skip(quiet)
		return nil
	}
	end, next, joined := n, n-c.o.overlap(), c.o.overlap()
	if from, to, ok := c.pause(l); ok {
		end, next, joined = from, to, 0
	}
	err := emit(Piece{Start: c.start, Wave: c.wave[:end], Joined: c.joined})
	c.skip(next)
	c.joined = joined
	return err
}

// skip goes on behind so many samples.
func (c *Cutter) skip(samples int) {
	if samples > 0 {
		c.wave = c.wave[:copy(c.wave, c.wave[samples:])]
		c.start += samples
		c.joined = 0
	}
}

// leading is how many samples of a pause are left out at the start of a piece that shares nothing with another.
func (c *Cutter) leading(l levels) int {
	to, pause := l.run(0)
	if c.joined > 0 || !pause || to == len(l.energy) {
		return 0
	}
	next := l.onset(to)
	if !c.still(l.energy[:next]) {
		return 0
	}
	return next * c.o.frame()
}

// pause finds the pause of a piece in which to cut it: the first clear one, unless a much longer one follows soon;
// where none is clear the longest. It is the samples where what is before it ends and where what is behind it starts.
// Of a long pause a part is left out, if nothing is said in that. ok says whether there is a pause.
func (c *Cutter) pause(l levels) (end, next int, ok bool) {
	best, until := 0, len(l.energy) // frames of the pause chosen, and up to where a longer one may follow
	for from := 0; from < until; {
		to, pause := l.run(from)
		if pause && from >= min(early, len(l.energy)/4) && float64(to-from) >= longer*float64(best) {
			if best < clearly && to-from >= clearly {
				until = min(to+soon, until)
			}
			best, next = to-from, l.onset(to)
			if end = min(from+trailing, next); !c.still(l.energy[end:next]) {
				end = next
			}
		}
		from = to + 1
	}
	return end * c.o.frame(), next * c.o.frame(), best > 0
}
