package philox

import (
	"math"
	"math/big"
	"slices"
	"testing"
)

// The published vectors of Random123 (kat_vectors): all zeros, all ones, digits of pi.
func TestKnownAnswers(t *testing.T) {
	const pi = 0x299f31d0a4093822
	for _, c := range []struct {
		rounds int
		key    uint64
		in     [4]uint32
		want   [4]uint32
	}{
		{10, 0, [4]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{10, math.MaxUint64, [4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{10, pi, [4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
		{7, 0, [4]uint32{}, [4]uint32{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}},
		{7, math.MaxUint64, [4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [4]uint32{0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662}},
		{7, pi, [4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [4]uint32{0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a}},
	} {
		if got := block(c.rounds, c.key, c.in[0], c.in[1], c.in[2], c.in[3]); got != c.want {
			t.Errorf("%d rounds, key %#x: got %08x, want %08x", c.rounds, c.key, got, c.want)
		}
		if c.rounds == Rounds {
			if got := Block(c.key, c.in[0], c.in[1], c.in[2], c.in[3]); got != c.want {
				t.Errorf("Block, key %#x: got %08x, want %08x", c.key, got, c.want)
			}
		}
	}
}

func TestKeyDependsOnOrderAndCount(t *testing.T) {
	seen := map[uint64]string{}
	for _, c := range []struct {
		name  string
		parts []uint64
	}{
		{"none", nil}, {"0", []uint64{0}}, {"0,0", []uint64{0, 0}}, {"1", []uint64{1}}, {"1,0", []uint64{1, 0}},
		{"0,1", []uint64{0, 1}}, {"1,2,3", []uint64{1, 2, 3}}, {"3,2,1", []uint64{3, 2, 1}}, {"1,3,2", []uint64{1, 3, 2}}, {"2,1", []uint64{2, 1}},
	} {
		k := Key(c.parts...)
		if other, ok := seen[k]; ok {
			t.Errorf("Key(%s) equals Key(%s)", c.name, other)
		}
		seen[k] = c.name
		if k != Key(c.parts...) {
			t.Errorf("Key(%s) differs from call to call", c.name)
		}
	}
}

// Keys are stored nowhere, but a resumed run must draw what the killed one would have
// drawn: these values may not change.
func TestKeysAreStable(t *testing.T) {
	if got, want := ID(""), mix(14695981039346656037); got != want {
		t.Errorf("ID of the empty string: %#x, want %#x", got, want)
	}
	// The first outputs of splitmix64 from seed 0.
	if got, want := mix(0), uint64(0xE220A8397B1DCDAF); got != want {
		t.Errorf("mix(0) = %#x, want %#x", got, want)
	}
	if got, want := mix(0x9E3779B97F4A7C15), uint64(0x6E789E6AA1B965F4); got != want {
		t.Errorf("mix(gamma) = %#x, want %#x", got, want)
	}
}

// A one-bit change anywhere flips half of the output bits, on average.
func TestAvalanche(t *testing.T) {
	flips := 0
	const trials = 300
	base := Block(0x0123456789abcdef, 7, 8, 9, 10)
	for i := range trials {
		key, c := uint64(0x0123456789abcdef), [4]uint32{7, 8, 9, 10}
		if bit := i % 192; bit < 64 {
			key ^= 1 << bit
		} else {
			c[(bit-64)/32] ^= 1 << (bit % 32)
		}
		for w, v := range Block(key, c[0], c[1], c[2], c[3]) {
			for x := v ^ base[w]; x != 0; x &= x - 1 {
				flips++
			}
		}
	}
	// 300*128 bits at 1/2: deviation 98; six of them.
	if want := trials * 64; flips < want-600 || flips > want+600 {
		t.Errorf("%d bits flipped, expected %d +- 600", flips, want)
	}
}

func TestUniform(t *testing.T) {
	s := NewStream(Key(1, 2, 3), 4)
	const n, bins = 200_000, 50
	var counts [bins]int
	var sum, squares, lag float64
	prev := 0.5
	for range n {
		f := s.Float64()
		if f < 0 || f >= 1 {
			t.Fatalf("Float64 gave %v", f)
		}
		counts[int(f*bins)]++
		sum += f
		squares += f * f
		lag += (f - 0.5) * (prev - 0.5)
		prev = f
	}
	chi := 0.0
	for _, c := range counts {
		d := float64(c) - n/bins
		chi += d * d / (n / bins)
	}
	if chi > 110 { // 49 degrees of freedom: mean 49, deviation 10; six deviations
		t.Errorf("chi-square %v over %d bins", chi, bins)
	}
	if mean := sum / n; math.Abs(mean-0.5) > 6*math.Sqrt(1.0/12/n) {
		t.Errorf("mean %v", mean)
	}
	if v := squares/n - sum/n*sum/n; math.Abs(v-1.0/12) > 2e-3 {
		t.Errorf("variance %v", v)
	}
	if c := lag / n * 12; math.Abs(c) > 6/math.Sqrt(n) {
		t.Errorf("neighbors correlate: %v", c)
	}
}

func TestIntN(t *testing.T) {
	s := NewStream(5, 0)
	var counts [7]int
	for range 70_000 {
		counts[s.IntN(7)]++
	}
	for i, c := range counts {
		if c < 9400 || c > 10600 { // deviation 93
			t.Errorf("IntN(7) gave %d %d times of 70000", i, c)
		}
	}
	for _, n := range []int{-1, 0, 1} {
		if got := s.IntN(n); got != 0 {
			t.Errorf("IntN(%d) = %d", n, got)
		}
	}
	// For n just above half of 2^63 a modulo would be visibly biased.
	half, large := 0, 3<<61
	for range 20_000 {
		v := s.IntN(large)
		if v < 0 || v >= large {
			t.Fatalf("IntN(%d) = %d", large, v)
		}
		if v < large/2 {
			half++
		}
	}
	if half < 9500 || half > 10500 {
		t.Errorf("%d of 20000 in the lower half", half)
	}
}

// For n near 2^64 many draws have to be thrown away: Lemire's rule in big integers says which.
func TestIntNThrowsAway(t *testing.T) {
	const n = 3 << 61 // 2^64 mod n is 2^62: a quarter of the draws
	size, word := big.NewInt(n), new(big.Int).Lsh(big.NewInt(1), 64)
	least := new(big.Int).Mod(word, size)
	s, draws := NewStream(5, 1), NewStream(5, 1)
	thrown := 0
	for i := range 100 {
		high, low := new(big.Int), new(big.Int)
		for {
			product := new(big.Int).Mul(new(big.Int).SetUint64(draws.Uint64()), size)
			high.DivMod(product, word, low)
			if low.Cmp(least) >= 0 {
				break
			}
			thrown++
		}
		if got := s.IntN(n); int64(got) != high.Int64() {
			t.Fatalf("draw %d is %d, want %d", i, got, high)
		}
	}
	if thrown < 10 {
		t.Errorf("%d draws were thrown away, which tests nothing", thrown)
	}
}

func TestPerm(t *testing.T) {
	first := make([]int, 5)
	for i := range 10_000 {
		p := NewStream(Key(9, uint64(i)), 1).Perm(5)
		first[p[0]]++
		if q := slices.Sorted(slices.Values(p)); !slices.Equal(q, []int{0, 1, 2, 3, 4}) {
			t.Fatalf("not a permutation: %v", p)
		}
	}
	for v, c := range first {
		if c < 1760 || c > 2240 { // deviation 40
			t.Errorf("%d came first %d times of 10000", v, c)
		}
	}
	if p := NewStream(1, 1).Perm(0); len(p) != 0 {
		t.Errorf("Perm(0) = %v", p)
	}
}

func TestStreamsOfSitesDiffer(t *testing.T) {
	a, b, again := NewStream(3, 0), NewStream(3, 1), NewStream(3, 0)
	same := 0
	for range 1000 {
		x := a.Uint32()
		if x != again.Uint32() {
			t.Fatal("the same key and site gave another number")
		}
		if x == b.Uint32() {
			same++
		}
	}
	if same > 0 {
		t.Errorf("two sites gave %d equal numbers of 1000", same)
	}
}

func TestDraw16(t *testing.T) {
	for _, j := range []uint32{0, 1, 15, 16, 17, 31, 32, 127, 128, 300} {
		g, o := j/128, j%128
		b := Block(77, g*16+o%16, 5, 9, 0)
		half := [8]uint32{b[0] & 0xffff, b[0] >> 16, b[1] & 0xffff, b[1] >> 16, b[2] & 0xffff, b[2] >> 16, b[3] & 0xffff, b[3] >> 16}
		if got := Draw16(77, 9, 5, j); got != half[o/16] {
			t.Errorf("element %d: %#x, want %#x", j, got, half[o/16])
		}
	}
	// No two of the first 16384 elements of a row share a counter and a half word:
	// 16-bit draws then hit nearly every value that chance would.
	seen := map[uint32]bool{}
	for j := range uint32(65536) {
		seen[Draw16(1, 2, 3, j)] = true
	}
	if n := float64(len(seen)); math.Abs(n-65536*(1-1/math.E)) > 800 {
		t.Errorf("65536 draws hit %v values, expected 41427", n)
	}
}

func BenchmarkBlock(b *testing.B) {
	var sum uint32
	for i := range b.N {
		sum += Block(1, uint32(i), 2, 3, 4)[0]
	}
	_ = sum
}
