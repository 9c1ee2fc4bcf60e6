package cut

import (
	"math"
	"slices"
)

// What is a pause, in frames and in dB. A sentence that was recorded or made alone has about trailing frames behind it,
// and hardly any before.
const (
	least     = 20   // frames: closures of stops are shorter than 0.2 s
	clearly   = 25   // frames of a pause that is cut in, unless within
	soon      = 300  // frames one follows that is
	longer    = 1.6  // times as long
	early     = 100  // frames of a piece, or a quarter of it, before which it is not cut
	trailing  = 40   // frames of a pause that stay with what is before it
	softly    = 10   // frames in which a word may begin more softly than speech is
	rising    = 3.0  // above the pause: there it begins
	below     = 30.0 // of speech, at least: then it is quiet whatever the noise
	noiseStep = 0.35 // of the way from noise to speech, up to which it is noise
	contrast  = 9.0  // between speech and a pause, at least
	steady    = 9.0  // from the middling to the loudest frame of what is left out, at most
	silence   = -90  // of nothing, for the logarithm
	still     = -60  // of full scale, below which nothing is said
)

// levels are those of a stretch of sound. Speech is what is as loud as its loudest twentieth, noise as quiet as its
// quietest fiftieth. A frame is quiet that is 30 dB below the speech, or hardly above the noise.
type levels struct {
	energy               []float64
	speech, noise, quiet float64
}

// levels measures a stretch.
func (c *Cutter) levels(x []float32) levels {
	c.energies(x)
	n := len(c.energy)
	if n == 0 {
		return levels{speech: silence, noise: silence, quiet: silence}
	}
	c.sorted = append(c.sorted[:0], c.energy...)
	slices.Sort(c.sorted)
	l := levels{energy: c.energy, speech: c.sorted[n*95/100], noise: c.sorted[n/50]}
	l.quiet = max(l.speech-below, l.noise+noiseStep*(l.speech-l.noise))
	return l
}

// nothing says that there is neither speech nor anything else to hear.
func (l levels) nothing() bool { return slices.Max(l.energy) < still }

// still says that nothing is said in some frames, however softly: they are steady noise, or hardly anything.
func (c *Cutter) still(energy []float64) bool {
	if len(energy) == 0 {
		return true
	}
	c.sorted = append(c.sorted[:0], energy...)
	slices.Sort(c.sorted)
	return c.sorted[len(c.sorted)-1] <= max(still, c.sorted[len(c.sorted)/2]+steady)
}

// run is where the quiet frames from one on end, and whether they are a pause.
func (l levels) run(from int) (to int, pause bool) {
	sum := 0.0
	for to = from; to < len(l.energy) && l.energy[to] <= l.quiet; to++ {
		sum += l.energy[to]
	}
	return to, to-from >= least && l.speech-sum/float64(to-from) >= contrast
}

// onset is the frame at which to begin what follows a pause that ends at a frame: words begin softly, so it is where
// the sound leaves the level of the pause.
func (l levels) onset(to int) int {
	soft := max(to-softly, 0)
	level := slices.Max(l.energy[max(to-least, 0) : soft+1])
	next := to
	for next > soft && l.energy[next-1] > level+rising {
		next--
	}
	return next
}

// quietTail is from where on all frames are quiet.
func (l levels) quietTail() int {
	from := len(l.energy)
	for from > 0 && l.energy[from-1] <= l.quiet {
		from--
	}
	return from
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
