package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// eachTier runs f with every tier that this CPU has in use, and says which it lacks.
func eachTier(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	for _, name := range []string{"avx512", "avx2", "go"} {
		t.Run(name, func(t *testing.T) {
			useTier(t, name)
			f(t)
		})
	}
}

func useTier(t testing.TB, name string) {
	t.Helper()
	all := tiers()
	i := slices.IndexFunc(all, func(k *kernels) bool { return k.name == name })
	if i < 0 {
		t.Skipf("TIER %s NOT TESTED: this CPU runs %v only", name, tierNames())
	}
	before := active
	t.Cleanup(func() { active = before })
	active = all[i]
}

// tierNames are the tiers that this CPU runs, the fastest first.
func tierNames() (names []string) {
	for _, k := range tiers() {
		names = append(names, k.name)
	}
	return names
}

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 77)) }

// guard is what the floats around an operand hold: a NaN with a payload that no arithmetic makes.
const guard = 0x7fabcdef

// operand returns n floats that start at any offset in memory, between guards, and a check of the guards.
func operand(t testing.TB, r *rand.Rand, n int, value func() float32) (x []float32, check func()) {
	t.Helper()
	n = max(n, 0)
	before, after := 16+r.IntN(16), 16+r.IntN(16)
	whole := make([]float32, before+n+after)
	for i := range whole {
		whole[i] = math.Float32frombits(guard)
	}
	x = whole[before : before+n : before+n]
	for i := range x {
		x[i] = value()
	}
	return x, func() {
		t.Helper()
		for i, v := range whole {
			if (i < before || i >= before+n) && math.Float32bits(v) != guard {
				t.Fatalf("element %d of %d was written to", i-before, n)
			}
		}
	}
}

func normal(r *rand.Rand) func() float32 { return func() float32 { return float32(r.NormFloat64()) } }

func same(a, b []float32) int {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return i
		}
	}
	return -1
}

// lengths of vectors to test: every one around a few registers, and some longer ones.
func lengths() []int {
	var n []int
	for i := range 71 {
		n = append(n, i)
	}
	return append(n, 96, 127, 128, 129, 192, 255, 256, 257, 383, 400, 768, 1000, 1023)
}
