// Package cut takes long sound apart into pieces that a network hears one at a time: at pauses, and where there is none
// for as long as a piece may be, into pieces that overlap.
//
// Where a piece ends depends on the sound of that piece alone: cutting that begins at the start of any piece gives the
// same pieces from there on.
package cut

import (
	"fmt"
	"math"
	"slices"
)

// Options say how long pieces are.
type Options struct {
	Rate    int     // samples a second
	Longest float64 // seconds of a piece at most: sound that is no longer is one piece
	Overlap float64 // seconds that two pieces share where there is no pause between them
	Step    int     // pieces start at a multiple of so many frames of 10 ms, as a network's frames do; 0 is 1
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
func (c *Cutter) Skip(start, joined int) { c.start, c.joined = start, joined }

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
	if len(c.wave) == 0 {
		return nil
	}
	return emit(Piece{Start: c.start, Wave: c.wave, Joined: c.joined})
}

// cut takes one piece off.
func (c *Cutter) cut(emit func(Piece) error) error {
	n := c.o.Samples()
	end, next, joined := n, n-c.o.overlap(), c.o.overlap()
	if at, ok := c.pause(c.wave[:n]); ok {
		end, next, joined = at, at, 0
	}
	err := emit(Piece{Start: c.start, Wave: c.wave[:end], Joined: c.joined})
	c.wave = c.wave[:copy(c.wave, c.wave[next:])]
	c.start, c.joined = c.start+next, joined
	return err
}

// What is a pause. Levels are in dB.
const (
	least     = 25   // frames, 0.25 s: closures of stops are shorter
	enough    = 100  // frames: a longer pause is no better to cut in
	leading   = 50   // frames of a long pause that stay before what follows
	early     = 0.25 // share of a piece before which it is not cut
	below     = 30.0 // of speech, at least: then it is quiet whatever the noise
	noiseStep = 0.2  // of the way from noise to speech, up to which it is noise
	contrast  = 9.0  // between speech and a pause, at least
	silence   = -90  // of nothing, for the logarithm
	still     = -60  // of full scale: a piece in which nothing is louder is a pause as a whole
)

// pause finds the sample at which to cut in the pause of a piece that is best for it: the longest, and of pauses of a
// second or more the last. ok says whether there is one.
//
// Speech is what is as loud as the loudest twentieth of the piece, noise as quiet as its quietest tenth. A frame is
// quiet that is 30 dB below the speech, or hardly above the noise; a pause is a run of these, on average clearly below
// the speech.
func (c *Cutter) pause(x []float32) (at int, ok bool) {
	c.energies(x)
	n := len(c.energy)
	c.sorted = append(c.sorted[:0], c.energy...)
	slices.Sort(c.sorted)
	speech, noise := c.sorted[n*95/100], c.sorted[n/10]
	if speech < still {
		return len(x), true
	}
	quiet := max(speech-below, noise+noiseStep*(speech-noise))
	best := 0
	for from := 0; from < n; {
		to, sum := from, 0.0
		for to < n && c.energy[to] <= quiet {
			sum += c.energy[to]
			to++
		}
		length := to - from
		if length >= least && speech-sum/float64(length) >= contrast {
			middle := max(from+length/2, to-leading)
			if middle >= int(early*float64(n)) && min(length, enough) >= best {
				best, at = min(length, enough), c.o.grid(float64(middle)/100)
			}
		}
		from = to + 1
	}
	return at, best > 0
}

// energies measures the frames of a piece: the mean square about their mean, in dB of full scale.
func (c *Cutter) energies(x []float32) {
	size := c.o.frame()
	c.energy = c.energy[:0]
	for ; len(x) >= size; x = x[size:] {
		sum, squares := 0.0, 0.0
		for _, v := range x[:size] {
			sum += float64(v)
			squares += float64(v) * float64(v)
		}
		mean := sum / float64(size)
		c.energy = append(c.energy, max(10*math.Log10(max(squares/float64(size)-mean*mean, 1e-12)), silence))
	}
}
