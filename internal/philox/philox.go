// Package philox draws random numbers without state: a number is a function of a
// key and of a counter, so the same place in the same update draws the same number
// again, on any worker, in any batch, on a recompute and after a resume.
//
// The generator is Philox4x32 (Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011) with 7 rounds, the smallest count that
// their paper found to pass BigCrush. This package is the plain specification;
// vector code elsewhere is held to it.
//
// # Keys
//
// [Key] mixes what a draw depends on (the seed, the update, the utterance given by
// [ID]) into 64 bits, and the four counter words tell places apart.
//
// # Dropout
//
// Element j of row r at site s of an utterance with key k belongs to the group
// g = j/128 at offset o = j%128, lane = o%16, v = o/16. Its draw is
//
//	block = Block(k, g*16+lane, r, s, 0)
//	draw  = block[v/2] >> (16*(v%2)) & 0xffff
//
// so 16 counters side by side give 8 vectors of 16 lanes with no shuffles.
// [Draw16] is that formula. Streams use 1 as the last counter word, and so never
// meet a dropout draw.
package philox

// Rounds is the number of Philox rounds of [Block].
const Rounds = 7

// Multipliers and Weyl constants of Philox4x32 (the paper's table 2 and section 3.3).
const (
	mul0  = 0xD2511F53
	mul1  = 0xCD9E8D57
	weyl0 = 0x9E3779B9
	weyl1 = 0xBB67AE85
)

// Block returns the four random words of a key and a counter. The low half of key
// is the first key word.
func Block(key uint64, c0, c1, c2, c3 uint32) [4]uint32 {
	return block(Rounds, key, c0, c1, c2, c3)
}

// block is Philox4x32 with any number of rounds, so that the round function can be
// held to the published 10-round vectors as well.
func block(rounds int, key uint64, c0, c1, c2, c3 uint32) [4]uint32 {
	k0, k1 := uint32(key), uint32(key>>32)
	for range rounds {
		p0 := uint64(c0) * mul0
		p1 := uint64(c2) * mul1
		c0, c1, c2, c3 = uint32(p1>>32)^c1^k0, uint32(p1), uint32(p0>>32)^c3^k1, uint32(p0)
		k0 += weyl0
		k1 += weyl1
	}
	return [4]uint32{c0, c1, c2, c3}
}

// Draw16 returns the 16-bit dropout draw of element j of a row at a site (see the
// package text). It is the scalar definition: vector code computes 128 at a time.
func Draw16(key uint64, site, row, j uint32) uint32 {
	g, o := j/128, j%128
	lane, v := o%16, o/16
	word := Block(key, g*16+lane, row, site, 0)[v/2]
	return word >> (16 * (v % 2)) & 0xffff
}

// Key mixes parts into a 64-bit key; their order and their number matter.
// It is a chain of splitmix64 steps (Steele, Lea and Flood, OOPSLA 2014).
func Key(parts ...uint64) uint64 {
	h := mix(uint64(len(parts)))
	for _, p := range parts {
		h = mix(h + p)
	}
	return h
}

// ID turns an identity, such as an utterance's, into 64 bits: FNV-1a, whose weak
// high bits the splitmix64 finalizer then spreads.
func ID(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return mix(h)
}

// mix is one splitmix64 step: add the golden gamma, then finalize.
func mix(z uint64) uint64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
