package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
)

// What the package's documentation states of silence, clipping and steadiness.
const (
	framesPerSecond = 100
	silenceBelow    = 1e-4 // of the loudest frame's energy: 40 dB
	silenceFloor    = -65  // dBFS
	fullScale       = 32767.0 / 32768
	nearFullScale   = 0.98
	clipRun         = 3
	steadyWithin    = 6 // dB
	steadySeconds   = 1
)

// parts is how many pieces the profile of a sound has.
const parts = 8

// sound is what was heard of one utterance.
type sound struct {
	hash     [16]byte // of the rate and the samples
	level    float32  // dBFS
	peak     float32  // largest magnitude
	offset   float32  // mean
	leading  float32  // seconds of silence
	trailing float32  // seconds of silence
	silent   float32  // share of the frames
	clipped  float32  // share of the samples
	center   float32  // of the energy, 0 at the start and 1 at the end
	profile  [parts]int8
	state    state
}

type state uint8

const (
	unheard  state = iota // nobody has read it
	heard                 // there is something to hear
	steady                // noise or a tone
	allQuiet              // every frame is silent
	broken                // it can't be read
)

// meter measures sounds, one after the other, in the same memory. The zero value is ready.
type meter struct {
	energy []float64 // of each frame, a sample
	bytes  [4096]byte
}

// measure says what is heard in samples, at rate in Hz.
func (m *meter) measure(x []float32, rate int) sound {
	s := sound{hash: m.hash(x, rate), state: heard}
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
		s.peak = max(s.peak, max(v, -v))
	}
	mean := sum / float64(len(x))
	s.offset = float32(mean)
	s.clipped = float32(clipped(x)) / float32(len(x))
	m.frames(x, rate, mean)
	total := s.place(x, mean)
	s.level = float32(decibels(total / float64(len(x))))
	s.silence(m.energy)
	if s.state == heard && len(x) >= steadySeconds*rate && loudness(m.energy) < steadyWithin {
		s.state = steady
	}
	return s
}

// hash tells sounds apart by their rate and samples: 128 bits of SHA-256.
func (m *meter) hash(x []float32, rate int) (sum [16]byte) {
	h := sha256.New()
	binary.LittleEndian.PutUint64(m.bytes[:], uint64(rate))
	h.Write(m.bytes[:8])
	for piece := range slices.Chunk(x, len(m.bytes)/4) {
		for i, v := range piece {
			binary.LittleEndian.PutUint32(m.bytes[4*i:], math.Float32bits(v+0)) // -0 becomes 0
		}
		h.Write(m.bytes[:4*len(piece)])
	}
	copy(sum[:], h.Sum(nil))
	return sum
}

// clipped counts the samples in runs at full scale.
func clipped(x []float32) int {
	count := 0
	for i := 0; i < len(x); {
		at := x[i]
		if at < nearFullScale && at > -nearFullScale {
			i++
			continue
		}
		end := i + 1
		for end < len(x) && (x[end] == at || at >= fullScale && x[end] >= fullScale || at <= -fullScale && x[end] <= -fullScale) {
			end++
		}
		if end-i >= clipRun {
			count += end - i
		}
		i = end
	}
	return count
}

// frames fills energy with the mean square of each frame around mean. Half a frame or more at the end is one.
func (m *meter) frames(x []float32, rate int, mean float64) {
	m.energy = m.energy[:0]
	size := max(rate/framesPerSecond, 1)
	for frame := range slices.Chunk(x, size) {
		if 2*len(frame) < size && len(m.energy) > 0 {
			break
		}
		sum := 0.0
		for _, v := range frame {
			d := float64(v) - mean
			sum += d * d
		}
		m.energy = append(m.energy, sum/float64(len(frame)))
	}
}

// place sets where in the sound its energy lies, and returns the energy.
func (s *sound) place(x []float32, mean float64) float64 {
	total, moment := 0.0, 0.0
	var piece [parts]float64
	for k := range piece {
		from, to := k*len(x)/parts, (k+1)*len(x)/parts
		for i, v := range x[from:to] {
			d := float64(v) - mean
			e := d * d
			piece[k] += e
			moment += e * float64(from+i)
		}
		total += piece[k]
	}
	if total > 0 {
		s.center = float32(moment / total / float64(len(x)))
		for k, e := range piece {
			s.profile[k] = int8(math.Round(max(decibels(e*parts/total), -100)))
		}
	}
	return total
}

// silence finds the silent frames.
func (s *sound) silence(energy []float64) {
	limit := max(slices.Max(energy)*silenceBelow, math.Pow(10, silenceFloor/10.0))
	silent := func(e float64) bool { return e <= limit }
	count := 0
	for _, e := range energy {
		if silent(e) {
			count++
		}
	}
	s.silent = float32(count) / float32(len(energy))
	if count == len(energy) {
		s.state = allQuiet
		return
	}
	first := slices.IndexFunc(energy, func(e float64) bool { return !silent(e) })
	last := len(energy) - 1
	for silent(energy[last]) {
		last--
	}
	s.leading = float32(first) / framesPerSecond
	s.trailing = float32(len(energy)-1-last) / framesPerSecond
}

// loudness is how many dB lie between the 5th and the 95th percentile of the frames. It sorts them.
func loudness(energy []float64) float64 {
	slices.Sort(energy)
	return decibels(quantile(energy, 0.95)) - decibels(quantile(energy, 0.05))
}

// decibels is a mean square as a level, -200 where there is nothing.
func decibels(meanSquare float64) float64 {
	return 10 * math.Log10(max(meanSquare, 1e-20))
}
