// Package cut takes long sound apart into pieces that a network hears one at a time: at pauses, and where there is none
// for as long as a piece may be, into pieces that overlap. Silence, of any length, is in no piece: a network that was
// trained on speech hears a letter even there.
//
// A network that normalizes what it hears piece by piece does best on pieces like those that it was trained on, which
// [Phrases] describe: as long, and with as much silence around them. So sound is cut in each clear pause, and of a long
// pause most is left out, where it is steady noise.
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
	Phrases Phrases // that pieces should be like
}

// lowestRate is the lowest of Options.
const lowestRate = 100

// Bounds of Options, in seconds.
const (
	ShortestPiece = 1   // of Longest
	LongestPiece  = 600 // the same
	MostOverlap   = 0.5 // share of a piece
)

// Validate names what makes no sense.
func (o Options) Validate() error {
	switch {
	case o.Rate < lowestRate:
		return fmt.Errorf("pieces of sound of %d samples a second: want %d or more", o.Rate, lowestRate)
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

	cutting bool // the sound is longer than a piece, or was cut
	pausing bool // what is in hand begins in a pause, part of which the piece before has had
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

// End gives what is left to emit. Sound that is no longer than a piece is one, where there is no clear pause in it: but
// for silence, and for quiet before and behind it that is much longer than that of phrases.
func (c *Cutter) End(emit func(Piece) error) error {
	for len(c.wave) > 0 {
		if err := c.cut(emit); err != nil {
			return err
		}
	}
	return nil
}

// cut takes one piece off, or a pause before it. Where there is no more than a piece the sound has ended.
func (c *Cutter) cut(emit func(Piece) error) error {
	n := min(len(c.wave), c.o.Samples())
	last := n == len(c.wave)
	l := c.levels(c.wave[:n])
	if l.nothing() {
		c.skip(n)
		return nil
	}
	c.cutting = c.cutting || !last
	slackBefore, slackBehind := 0, 0 // frames
	if !c.cutting {
		slackBefore, slackBehind = c.o.Phrases.slackBefore(), c.o.Phrases.slackBehind()
		c.pausing = true // before the sound it is as in a pause
	}
	if quiet := c.leading(l); quiet > slackBefore*c.o.frame() {
		c.skip(quiet)
		return nil
	}
	end, next, joined := n, n-c.o.overlap(), c.o.overlap()
	c.pausing = false
	if from, to, ok := c.pause(l, last); ok {
		c.cutting, c.pausing = true, to == len(l.energy)
		end, next = c.sides(l, from, to)
		end, next, joined = end*c.o.frame(), next*c.o.frame(), 0
	} else if last {
		next, joined = n, 0
		if tail := c.tail(l, n); n-tail > slackBehind*c.o.frame() {
			end = tail
		}
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

// leading is how many samples of quiet are left out at the start of a piece that shares nothing with another.
func (c *Cutter) leading(l levels) int {
	to := l.quietFrom(0)
	if c.joined > 0 || to == len(l.energy) || to < least && !c.pausing || !l.clear(0, to) {
		return 0
	}
	start, end := l.nothingSaid(0, to, &c.sorted)
	if start == end {
		return 0
	}
	return max(min(l.onset(to)-c.o.Phrases.before(), end), 0) * c.o.frame()
}

// tail is the sample at which the last piece ends, of n: of quiet behind what is said as much stays as phrases have.
func (c *Cutter) tail(l levels, n int) int {
	from := l.quietTail()
	start, end := l.nothingSaid(from, len(l.energy), &c.sorted)
	if stays := max(l.fade(from)+c.o.Phrases.behind(), start); end == len(l.energy) && stays < end {
		return stays * c.o.frame()
	}
	return n
}

// pause finds the pause of a piece in which to cut it, as its frames: the first clear one, unless a much longer one
// follows soon; where none is clear the longest, if the piece has to be cut, of those up to which it is no longer than
// phrases were, if there are any. The last one has to be only where it is longer than phrases are. The end of the sound
// is no pause.
func (c *Cutter) pause(l levels, last bool) (from, to int, ok bool) {
	earliest, clearly := max(min(c.o.Phrases.early(), len(l.energy)/4), 1), c.o.Phrases.clearly()
	shortest := least
	if longest := c.o.Phrases.longest(); last && (longest == 0 || len(l.energy) <= longest) {
		shortest = clearly
	}
	phrase := len(l.energy) // frames that a phrase has at most
	if c.o.Phrases.Longest > 0 {
		phrase = frames(c.o.Phrases.Longest)
	}
	best, until := 0, len(l.energy) // frames of the pause chosen, and up to where a longer one may follow
	for at := 0; at < until && (best == 0 || at <= phrase); {
		end := l.quietFrom(at)
		pause := end-at >= shortest && l.clear(at, end) && !(last && end == len(l.energy))
		if pause && at >= earliest && float64(end-at) >= longer*float64(best) {
			if best < clearly && end-at >= clearly {
				until = min(end+c.o.Phrases.soon(), until)
			}
			best, from, to = end-at, at, end
		}
		at = end + 1
	}
	return from, to, best > 0
}

// sides are the frames of a pause at which what is before it ends, and at which what is behind it starts. Each has as
// much of the silence as phrases have, and all that may be said in the pause; what is left is in neither. Of a pause
// that is too short for both each has a part. Of one that goes on behind the piece what is left is the next one's.
func (c *Cutter) sides(l levels, from, to int) (end, next int) {
	before, behind := c.o.Phrases.before(), c.o.Phrases.behind()
	fade, onset := l.fade(from), l.onset(to)
	if to == len(l.energy) {
		before = 0
	}
	if room := max(onset-fade, 0); before+behind > room {
		before, behind = room*before/(before+behind), room*behind/(before+behind)
	}
	first, last := l.nothingSaid(from, to, &c.sorted)
	if end = min(max(fade+behind, first), last); to == len(l.energy) {
		return end, end
	}
	return end, max(min(onset-before, last), end)
}
