package simd

// ToHalf rounds x to IEEE 754 binary16, nearest with ties to even. What rounds beyond 65504 becomes infinite, what is
// below the smallest normal number becomes subnormal or zero, NaN stays NaN (quiet, with the top bits of its payload).
func ToHalf(dst []uint16, x []float32) { active.toHalf(dst, x[:len(dst)]) }

// FromHalf converts binary16 to float32, which is exact. A signalling NaN becomes quiet.
func FromHalf(dst []float32, x []uint16) { active.fromHalf(dst, x[:len(dst)]) }
