package cut

import (
	"math"
	"slices"
)

// What is a pause, in frames and in dB.
const (
	least     = 20   // frames: closures of stops are shorter than 0.2 s
	longer    = 1.6  // times as long
	softly    = 10   // frames in which a word may begin, or fade, more softly than speech is
	rising    = 3.0  // above the pause: there a word begins or fades
	faint     = 45.0 // below speech: nobody hears it
	below     = 30.0 // of speech, at least: then it is quiet whatever the noise
	noiseStep = 0.35 // of the way from noise to speech, up to which it is noise
	contrast  = 9.0  // between speech and a pause, at least
	steady    = 9.0  // from the middle to the loudest frame of a pause in which nothing is said, at most
	noisy     = 15.0 // above the noise, at most: what is steady and louder is a soft sound
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
func (l levels) nothing() bool { return len(l.energy) > 0 && slices.Max(l.energy) < still }

// quietFrom is where the quiet frames from one on end.
func (l levels) quietFrom(from int) (to int) {
	for to = from; to < len(l.energy) && l.energy[to] <= l.quiet; to++ {
	}
	return to
}

// clear says whether frames, one or more, are so much below speech that they are a pause.
func (l levels) clear(from, to int) bool {
	sum := 0.0
	for _, e := range l.energy[from:to] {
		sum += e
	}
	return l.speech-sum/float64(to-from) >= contrast
}

// nothingSaid is where in a pause nothing is said, however softly: the longest stretch of steady noise in it, or of
// hardly anything, without the frames on its sides in which words fade and begin. Where there is none it is empty, at
// the end of the pause. sorted is for the middle levels, and comes back.
func (l levels) nothingSaid(from, to int, sorted *[]float64) (start, end int) {
	if from == to {
		return to, to
	}
	steadily := max(still, min(l.middle(from, to, sorted)+steady, l.noise+noisy))
	for at := from; at < to; at++ {
		first := at
		for at < to && l.energy[at] <= steadily {
			at++
		}
		if at-first > end-start {
			start, end = first, at
		}
	}
	if start == end {
		return to, to
	}
	softest := max(l.middle(start, end, sorted)+rising, l.speech-faint)
	for start < end && l.energy[start] > softest {
		start++
	}
	for start < end && l.energy[end-1] > softest {
		end--
	}
	return start, end
}

// middle is the median of the levels of frames, one or more.
func (l levels) middle(from, to int, sorted *[]float64) float64 {
	*sorted = append((*sorted)[:0], l.energy[from:to]...)
	slices.Sort(*sorted)
	return (*sorted)[len(*sorted)/2]
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

// fade is the frame up to which what is before a pause fades, which begins at a frame: the mirror image of onset.
func (l levels) fade(from int) int {
	soft := min(from+softly, len(l.energy))
	if from == soft {
		return from
	}
	level := slices.Max(l.energy[soft-1 : min(from+least, len(l.energy))])
	next := from
	for next < soft && l.energy[next] > level+rising {
		next++
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
