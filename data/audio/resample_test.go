package audio

import (
	"math"
	"math/cmplx"
	"slices"
	"sync"
	"testing"

	"konkanitrain/internal/philox"
)

// plainResample is the definition: every output straight from the formula, in float64.
func plainResample(x []float32, p, q int) []float64 {
	n := (len(x)*q + p - 1) / p
	cut := 0.95 * math.Min(1, float64(q)/float64(p))
	half := 64 / cut
	out := make([]float64, n)
	for m := range out {
		t := float64(m) * float64(p) / float64(q)
		for i := max(0, int(t-half)-1); i <= min(len(x)-1, int(t+half)+1); i++ {
			u := float64(i) - t
			if math.Abs(u) > half {
				continue
			}
			window := bessel0(8*math.Sqrt(math.Max(0, 1-u/half*u/half))) / bessel0(8)
			out[m] += float64(x[i]) * cut * sinc(cut*u) * window
		}
	}
	return out
}

func noise(n int, seed uint64) []float32 {
	s := philox.NewStream(seed, 0)
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(2*s.Float64() - 1)
	}
	return x
}

func TestResampleMatchesTheFormula(t *testing.T) {
	plain, fast := NewResampler(), NewResampler()
	plain.fast, fast.fast = false, true
	var dst []float32
	for _, c := range []struct{ p, q, n int }{
		{1000, 999, 3100}, {7, 300, 200}, {1, 64, 70}, {1, 65, 70}, {11, 10, 66}, {11, 10, 67}, {100, 1, 5000},
		{1, 2, 500}, {2, 1, 500}, {441, 160, 3000}, {11, 10, 900}, {9, 10, 900}, {19, 20, 900}, {4, 5, 700},
		{6, 5, 700}, {3, 1, 700}, {1, 1, 30}, {11, 10, 1}, {11, 10, 0}, {1, 2, 1}, {441, 160, 2}, {3, 2, 130}, {441, 320, 400},
	} {
		x := noise(c.n, 1)
		ratio, err := NewRatio(c.p, c.q)
		if err != nil {
			t.Fatal(err)
		}
		want := plainResample(x, c.p, c.q)
		if c.p == c.q {
			want = want[:0]
			for _, v := range x {
				want = append(want, float64(v))
			}
		}
		for _, r := range []*Resampler{plain, fast} {
			dst = r.Resample(dst, x, ratio)
			if len(dst) != len(want) || ratio.Len(c.n) != len(want) {
				t.Fatalf("%v of %d samples: %d samples, Len says %d, want %d", ratio, c.n, len(dst), ratio.Len(c.n), len(want))
			}
			worst, peak := 0.0, 1.0
			for i := range want {
				worst = math.Max(worst, math.Abs(float64(dst[i])-want[i]))
				peak = math.Max(peak, math.Abs(want[i]))
			}
			// float32 weights and sums over up to 375 terms of full-scale noise, which peaks
			// at about 2 between its samples.
			if !(worst <= 1e-6*peak) {
				t.Errorf("%v of %d samples (fast %v): off by %g", ratio, c.n, r.fast, worst)
			}
		}
	}
}

// level is the amplitude at hz of x at rate, under a Hann window.
func level(x []float32, hz, rate float64) float64 {
	var sum complex128
	total := 0.0
	for i, v := range x {
		w := 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(len(x)-1))
		sum += complex(w*float64(v), 0) * cmplx.Exp(complex(0, -2*math.Pi*hz/rate*float64(i)))
		total += w
	}
	return cmplx.Abs(sum) * 2 / total
}

func tone(n int, hz, rate float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(0.5 * math.Sin(2*math.Pi*hz/rate*float64(i)))
	}
	return x
}

func decibel(x float64) float64 { return 20 * math.Log10(x/0.5) }

// What lies above the new Nyquist frequency must go, what lies well below must stay,
// and no image may come up: all by the level of single tones.
func TestResampleMirrorsNothing(t *testing.T) {
	r := NewResampler()
	speed := func(f float64) Ratio {
		s, err := Speed(f)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		from, to int
		speed    Ratio
		in       float64 // frequency of the tone that goes in
		at       float64 // where to measure
		kept     bool
	}{
		{8000, 16000, Ratio{}, 1000, 1000, true},
		{8000, 16000, Ratio{}, 1000, 7000, false},
		{8000, 16000, Ratio{}, 3600, 4400, false},
		{44100, 16000, Ratio{}, 5000, 5000, true},
		{44100, 16000, Ratio{}, 9000, 7000, false},
		{44100, 16000, Ratio{}, 8100, 7900, false},
		{44100, 16000, Ratio{}, 20000, 4000, false},
		{48000, 16000, Ratio{}, 15000, 1000, false},
		{16000, 16000, speed(1.1), 3000, 3300, true},
		{16000, 16000, speed(1.1), 7900, 16000 - 7900*1.1, false},
		{16000, 16000, speed(0.9), 3000, 2700, true},
		{16000, 16000, speed(1.2), 7000, 16000 - 7000*1.2, false},
	} {
		ratio, err := Convert(c.from, c.to, c.speed)
		if err != nil {
			t.Fatal(err)
		}
		y := r.Resample(nil, tone(2*c.from, c.in, float64(c.from)), ratio)
		y = y[len(y)/8 : len(y)*7/8]
		db := decibel(level(y, c.at, float64(c.to)))
		switch {
		case c.kept && !(math.Abs(db) <= 0.01):
			t.Errorf("%d -> %d Hz %v: %v Hz came out at %v Hz with %.3f dB", c.from, c.to, ratio, c.in, c.at, db)
		case !c.kept && !(db <= -60):
			t.Errorf("%d -> %d Hz %v: %v Hz left %.1f dB at %v Hz", c.from, c.to, ratio, c.in, db, c.at)
		}
	}
}

func TestRatios(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want Ratio
	}{{1, Ratio{1, 1}}, {1.1, Ratio{11, 10}}, {0.9, Ratio{9, 10}}, {0.8, Ratio{4, 5}}, {0.85, Ratio{17, 20}}, {0.95, Ratio{19, 20}},
		{1.05, Ratio{21, 20}}, {1.15, Ratio{23, 20}}, {1.2, Ratio{6, 5}}, {2, Ratio{2, 1}}, {0.5, Ratio{1, 2}},
		{math.Pi / 2, Ratio{355, 226}}, {1.0001, Ratio{1, 1}}, {1.0009, Ratio{1001, 1000}}} {
		got, err := Speed(c.f)
		if err != nil || got != c.want {
			t.Errorf("Speed(%v) = %v, %v; want %v", c.f, got, err, c.want)
		}
	}
	for _, f := range []float64{0, -1, 0.49, 2.01, math.NaN(), math.Inf(1)} {
		if got, err := Speed(f); err == nil {
			t.Errorf("Speed(%v) = %v, want an error", f, got)
		}
	}
	if r, err := Convert(44100, 16000, Ratio{11, 10}); err != nil || !(math.Abs(r.Float()/(4851.0/1600)-1) <= 1e-6) || r.Q > 1000 {
		t.Errorf("44100 -> 16000 at 1.1: %v, %v", r, err)
	}
	if r, err := Convert(8000, 16000, Ratio{}); err != nil || r != (Ratio{1, 2}) {
		t.Errorf("8000 -> 16000: %v, %v", r, err)
	}
	for _, c := range [][2]int{{1, 16000}, {16000, 0}, {-5, 16000}, {16000, 1 << 40}, {999, 16000}, {16000, 999}, {768001, 16000}, {16000, 768001}} {
		if r, err := Convert(c[0], c[1], Ratio{}); err == nil {
			t.Errorf("%d -> %d: %v, want an error", c[0], c[1], r)
		}
	}
	for _, c := range []struct {
		p, q int
		good bool
	}{{0, 1, false}, {1, 0, false}, {-1, 1, false}, {1, -1, false}, {1000, 1, true}, {1001, 1, false}, {1, 1000, true}, {1, 1001, false}} {
		if r, err := NewRatio(c.p, c.q); (err == nil) != c.good {
			t.Errorf("%d/%d: %v, %v", c.p, c.q, r, err)
		}
	}
	for _, n := range []int{0, -1, -100} {
		if got := (Ratio{3, 7}).Len(n); got != 0 {
			t.Errorf("%d samples become %d", n, got)
		}
	}
	// No ratio of legal rates makes a kernel of more than 22 MB or 0 rows.
	for _, c := range [][2]int{{767999, 16000}, {767999, 1000}, {15999, 16000}, {44101, 16000}, {1000, 768000}, {1001, 767999}} {
		r, err := Convert(c[0], c[1], Ratio{})
		if err != nil {
			t.Fatal(err)
		}
		k := NewResampler()
		k.fast = true
		k.Resample(nil, []float32{1}, r)
		bytes := k.bytes
		if r.P < 1 || r.Q < 1 || bytes > 22e6 {
			t.Errorf("%d -> %d: %v takes %d bytes", c[0], c[1], r, bytes)
		}
	}
}

// Kernels that would take more memory together than is meant for them make way.
func TestResamplerForgetsKernels(t *testing.T) {
	r, x := NewResampler(), noise(100, 2)
	r.Resample(nil, x, Ratio{11, 10})
	r.Resample(nil, x, Ratio{9, 10})
	if len(r.kernels) != 2 {
		t.Fatalf("%d kernels", len(r.kernels))
	}
	r.bytes = maxKernelBytes - 1 // as after many others
	r.Resample(nil, x, Ratio{4, 5})
	k := r.kernels[Ratio{4, 5}]
	if len(r.kernels) != 1 || k == nil || r.bytes != k.bytes() {
		t.Errorf("%d kernels with %d bytes are kept", len(r.kernels), r.bytes)
	}
}

func TestResampleAllocatesNothing(t *testing.T) {
	r, x := NewResampler(), noise(16000, 2)
	ratio := Ratio{11, 10}
	dst := r.Resample(nil, x, ratio)
	if n := testing.AllocsPerRun(5, func() { dst = r.Resample(dst, x, ratio) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkResample(b *testing.B) {
	for _, c := range []struct {
		name  string
		from  int
		ratio Ratio
	}{{"speed1.1", 16000, Ratio{11, 10}}, {"speed0.9", 16000, Ratio{9, 10}}, {"8k", 8000, Ratio{1, 2}}, {"44.1k", 44100, Ratio{441, 160}}, {"48k", 48000, Ratio{3, 1}}} {
		b.Run(c.name, func(b *testing.B) {
			const seconds = 8
			r, x := NewResampler(), noise(seconds*c.from, 3)
			dst := r.Resample(nil, x, c.ratio)
			for b.Loop() {
				dst = r.Resample(dst, x, c.ratio)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N)/seconds, "ms/s-of-audio")
		})
	}
}

// One Resampler serves all goroutines (for the race detector), with the same bits.
func TestResamplerIsShared(t *testing.T) {
	r, x := NewResampler(), noise(5000, 4)
	want := map[Ratio][]float32{}
	ratios := []Ratio{{11, 10}, {9, 10}, {1, 2}, {441, 160}}
	for _, ratio := range ratios {
		want[ratio] = NewResampler().Resample(nil, x, ratio)
	}
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			var dst []float32
			for i := range 20 {
				ratio := ratios[(g+i)%len(ratios)]
				if dst = r.Resample(dst, x, ratio); !slices.Equal(dst, want[ratio]) {
					t.Errorf("%v differs between goroutines", ratio)
				}
			}
		})
	}
	group.Wait()
}
