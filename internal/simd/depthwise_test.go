package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// checkDepthwise compares the forward pass and both gradients with float64 sums. A sum of n terms has n+1 roundings of
// half an ulp of what was added up (two per term where products aren't fused).
func checkDepthwise(t *testing.T, r *rand.Rand, frames, d, k int) {
	t.Helper()
	x, checkX := operand(t, r, frames*d, normal(r))
	dy, checkDY := operand(t, r, frames*d, normal(r))
	w, checkW := operand(t, r, k*d, normal(r))
	bias, checkBias := operand(t, r, d, normal(r))
	y, checkY := operand(t, r, frames*d, normal(r))
	dx, checkDX := operand(t, r, frames*d, normal(r))
	dw, checkDW := operand(t, r, k*d, normal(r))
	dbias, checkDBias := operand(t, r, d, normal(r))
	oldW, oldBias := append([]float32(nil), dw...), append([]float32(nil), dbias...)
	Depthwise(y, x, w, bias, frames, d, k)
	DepthwiseGradInput(dx, dy, w, frames, d, k)
	DepthwiseGradWeight(dw, dbias, x, dy, frames, d, k)
	for _, check := range []func(){checkX, checkDY, checkW, checkBias, checkY, checkDX, checkDW, checkDBias} {
		check()
	}
	p := (k - 1) / 2
	wantY, sizeY := make([]float64, frames*d), make([]float64, frames*d)
	wantX, sizeX := make([]float64, frames*d), make([]float64, frames*d)
	wantW, sizeW := make([]float64, k*d), make([]float64, k*d)
	wantB, sizeB := make([]float64, d), make([]float64, d)
	add := func(want, size []float64, i int, v float64) { want[i] += v; size[i] += math.Abs(v) }
	for c := range d {
		for i := range frames {
			add(wantY, sizeY, i*d+c, float64(bias[c]))
			add(wantB, sizeB, c, float64(dy[i*d+c]))
			for j := range k {
				if s := i + j - p; s >= 0 && s < frames {
					add(wantY, sizeY, i*d+c, float64(w[j*d+c])*float64(x[s*d+c]))
					add(wantX, sizeX, s*d+c, float64(w[j*d+c])*float64(dy[i*d+c]))
					add(wantW, sizeW, j*d+c, float64(dy[i*d+c])*float64(x[s*d+c]))
				}
			}
		}
		for j := range k {
			add(wantW, sizeW, j*d+c, float64(oldW[j*d+c]))
		}
		add(wantB, sizeB, c, float64(oldBias[c]))
	}
	for i := range y {
		near(t, "Depthwise", i, frames*d, y[i], wantY[i], float64(k+1)*ulp*sizeY[i])
		near(t, "DepthwiseGradInput", i, frames*d, dx[i], wantX[i], float64(k+1)*ulp*sizeX[i])
	}
	for i := range dw {
		near(t, "DepthwiseGradWeight", i, k*d, dw[i], wantW[i], float64(frames+2)*ulp*sizeW[i])
	}
	for i := range dbias {
		near(t, "DepthwiseGradWeight bias", i, d, dbias[i], wantB[i], float64(frames+2)*ulp*sizeB[i])
	}
}

func TestDepthwise(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := source(40)
		for _, k := range []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 31, 33} {
			for _, d := range []int{1, 5, 8, 9, 16, 17, 23, 32, 40} {
				checkDepthwise(t, r, 1+r.IntN(50), d, k)
			}
			for frames := 0; frames < 30; frames++ {
				checkDepthwise(t, r, frames, 8+r.IntN(20), k)
			}
		}
		checkDepthwise(t, r, 100, 192, 31)
		checkDepthwise(t, r, 77, 96, 15)
		checkDepthwise(t, r, 50, 256, 5)
		for _, k := range []int{5, 15, 31, 64, 65, 66, 101} { // several parts of frames
			for range 5 {
				checkDepthwise(t, r, 80+r.IntN(260), 16+r.IntN(10), k)
			}
		}
	})
}

// TestDepthwisePadding: frames give the same bits alone and followed by zero frames, forward and backward, and the
// gradient of the weights doesn't see zero frames at all.
func TestDepthwisePadding(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := source(41)
		for _, k := range []int{5, 15, 31} {
			for range 20 {
				frames, more, d := 1+r.IntN(150), r.IntN(120), 16+r.IntN(30)
				x, dy := make([]float32, (frames+more)*d), make([]float32, (frames+more)*d)
				for i := range frames * d {
					x[i], dy[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
				}
				w, _ := operand(t, r, k*d, normal(r))
				bias, _ := operand(t, r, d, normal(r))
				alone, padded := make([]float32, frames*d), make([]float32, (frames+more)*d)
				Depthwise(alone, x, w, bias, frames, d, k)
				Depthwise(padded, x, w, bias, frames+more, d, k)
				if i := same(alone, padded); i >= 0 {
					t.Fatalf("k=%d: frame %d of %d differs with %d zero frames behind", k, i/d, frames, more)
				}
				DepthwiseGradInput(alone, dy, w, frames, d, k)
				DepthwiseGradInput(padded, dy, w, frames+more, d, k)
				if i := same(alone, padded); i >= 0 {
					t.Fatalf("k=%d: the gradient of frame %d of %d differs with %d zero frames behind", k, i/d, frames, more)
				}
				dw, dwPadded := make([]float32, k*d), make([]float32, k*d)
				db, dbPadded := make([]float32, d), make([]float32, d)
				DepthwiseGradWeight(dw, db, x, dy, frames, d, k)
				DepthwiseGradWeight(dwPadded, dbPadded, x, dy, frames+more, d, k)
				if i := sameOrZero(dw, dwPadded); i >= 0 {
					t.Fatalf("k=%d: the gradient of tap %d differs with %d zero frames behind %d", k, i/d, more, frames)
				}
				if i := sameOrZero(db, dbPadded); i >= 0 {
					t.Fatalf("k=%d: the gradient of bias %d differs with %d zero frames behind %d", k, i, more, frames)
				}
			}
		}
	})
}

// TestDepthwiseNaN: a NaN reaches the frames within the kernel's reach in its channel, and no other.
func TestDepthwiseNaN(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := source(42)
		for range 40 {
			frames, d, k := 1+r.IntN(50), 8+r.IntN(20), 1+2*r.IntN(16)
			x, _ := operand(t, r, frames*d, normal(r))
			w, _ := operand(t, r, k*d, normal(r))
			y := make([]float32, frames*d)
			at, channel := r.IntN(frames), r.IntN(d)
			x[at*d+channel] = float32(math.NaN())
			Depthwise(y, x, w, make([]float32, d), frames, d, k)
			for i, v := range y {
				reached := i%d == channel && max(i/d-at, at-i/d) <= (k-1)/2
				if (v != v) != reached {
					t.Fatalf("k=%d: frame %d channel %d is %g with a NaN in frame %d channel %d", k, i/d, i%d, v, at, channel)
				}
			}
		}
	})
}

func FuzzDepthwise(f *testing.F) {
	f.Add(uint64(1), uint8(20), uint8(17), uint8(31))
	f.Fuzz(func(t *testing.T, seed uint64, frames, d, k uint8) {
		checkDepthwise(t, source(seed), int(frames%80), int(d%70)+1, int(k%40)+1)
	})
}

func TestDepthwiseDoesNotAllocate(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		const frames, d, k = 30, 24, 15
		x, w, y := make([]float32, frames*d), make([]float32, k*d), make([]float32, frames*d)
		if n := testing.AllocsPerRun(10, func() {
			Depthwise(y, x, w, w[:d], frames, d, k)
			DepthwiseGradInput(y, x, w, frames, d, k)
			DepthwiseGradWeight(w, y[:d], x, x, frames, d, k)
		}); n != 0 {
			t.Errorf("%v allocations per round", n)
		}
	})
}
