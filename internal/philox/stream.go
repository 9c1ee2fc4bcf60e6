package philox

import "math/bits"

// Stream yields the draws of one key and site one after the other, for choices that
// come in a sequence (augmentation, shuffling). Two streams of the same key and site
// give the same numbers. A Stream belongs to one goroutine.
type Stream struct {
	key   uint64
	site  uint32
	next  uint64    // number of the next block
	words [4]uint32 // the current block
	used  int       // words of it that were given out
}

// NewStream starts the stream of a key and a site at its first number.
func NewStream(key uint64, site uint32) *Stream {
	return &Stream{key: key, site: site, used: 4}
}

// Uint32 returns the next 32 random bits.
func (s *Stream) Uint32() uint32 {
	if s.used == 4 {
		s.words = Block(s.key, uint32(s.next), uint32(s.next>>32), s.site, 1)
		s.next++
		s.used = 0
	}
	w := s.words[s.used]
	s.used++
	return w
}

// Uint64 returns the next 64 random bits, the low half drawn first.
func (s *Stream) Uint64() uint64 {
	lo := uint64(s.Uint32())
	return uint64(s.Uint32())<<32 | lo
}

// Float64 returns a uniform number in [0, 1), a multiple of 2^-53.
func (s *Stream) Float64() float64 {
	return float64(s.Uint64()>>11) / (1 << 53)
}

// IntN returns a uniform integer in [0, n), and 0 when n < 2. It is unbiased: draws
// that would favor some results are thrown away (Lemire, "Fast random integer
// generation in an interval", 2019). A draw is thrown away with probability n/2^64.
func (s *Stream) IntN(n int) int {
	if n < 2 {
		return 0
	}
	u := uint64(n)
	hi, lo := bits.Mul64(s.Uint64(), u)
	if lo < u {
		for threshold := -u % u; lo < threshold; {
			hi, lo = bits.Mul64(s.Uint64(), u)
		}
	}
	return int(hi)
}

// Perm returns a uniform permutation of 0..n-1 (Fisher-Yates).
func (s *Stream) Perm(n int) []int {
	p := make([]int, max(n, 0))
	for i := range p {
		j := s.IntN(i + 1)
		p[i] = p[j]
		p[j] = i
	}
	return p
}
