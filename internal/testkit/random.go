package testkit

import "math/rand/v2"

// Rand is a generator from a fixed seed: the same numbers on every machine and in every run.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x6b6f6e6b616e69)) }

// Normal is n draws from the normal distribution of mean 0 and deviation 1.
func Normal[T Float](seed uint64, n int) []T {
	r := Rand(seed)
	x := make([]T, n)
	for i := range x {
		x[i] = T(r.NormFloat64())
	}
	return x
}

// Uniform is n draws, evenly distributed in [lo, hi).
func Uniform[T Float](seed uint64, n int, lo, hi T) []T {
	r := Rand(seed)
	x := make([]T, n)
	for i := range x {
		x[i] = lo + (hi-lo)*T(r.Float64())
	}
	return x
}
