package feature

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/audio"
	"konkanitrain/internal/frames"
	"konkanitrain/internal/philox"
	"konkanitrain/internal/testkit"
)

// plainFbank is the definition, loop by loop: reflection, a discrete Fourier transform
// by its sum, triangles by their formula on frequencies that were multiplied by a factor as the VTLP paper does it.
func plainFbank(x []float32, rate, bins int, factor float64) [][]float64 {
	size, shift := rate*25/1000, rate/100
	fft := 8
	for fft < size {
		fft *= 2
	}
	n := len(x)
	var out [][]float64
	for t := range (n + shift/2) / shift {
		frame := make([]float64, size)
		mean := 0.0
		for i := range frame {
			at := t*shift + shift/2 - size/2 + i
			for at < 0 || at >= n {
				if at < 0 {
					at = -1 - at
				} else {
					at = 2*n - 1 - at
				}
			}
			frame[i] = float64(x[at]) * 32768
			mean += frame[i] / float64(size)
		}
		for i := range frame {
			frame[i] -= mean
		}
		for i := size - 1; i >= 0; i-- {
			frame[i] -= 0.97 * frame[max(i-1, 0)]
			frame[i] *= math.Pow(0.5-0.5*math.Cos(2*math.Pi*float64(i)/float64(size-1)), 0.85)
		}
		row := make([]float64, bins)
		step := (mel(float64(rate)/2) - mel(20)) / float64(bins+1)
		for k := range fft / 2 {
			var re, im float64
			for i, v := range frame {
				s, c := math.Sincos(2 * math.Pi * float64(k*i%fft) / float64(fft))
				re += v * c
				im -= v * s
			}
			m := mel(plainWarp(float64(k)*float64(rate)/float64(fft), float64(rate), factor))
			for b := range row {
				left := mel(20) + step*float64(b)
				row[b] += (re*re + im*im) * max(0, min((m-left)/step, (left+2*step-m)/step))
			}
		}
		for b, v := range row {
			row[b] = math.Log(max(v, LogFloor))
		}
		out = append(out, row)
	}
	return out
}

// fbank is the features of x before they are normalized, and their frames.
func fbank(t *testing.T, o Options, x []float32) ([]float32, int) {
	t.Helper()
	o.Normalize = None
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	features, n, err := e.Extract(nil, x, o.SampleRate, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return features, n
}

func TestFbankMatchesTheDefinition(t *testing.T) {
	for _, c := range []struct{ rate, bins, samples int }{
		{16000, 80, 1234}, {8000, 40, 777}, {11025, 30, 1000}, {16000, 80, 80}, {16000, 80, 1}, {16000, 80, 79}, {8000, 40, 41}, {22050, 40, 900},
	} {
		o := Default()
		o.SampleRate, o.NumMels = c.rate, c.bins
		x := testkit.Uniform[float32](uint64(c.samples), c.samples, -1, 1)
		got, n := fbank(t, o, x)
		want := plainFbank(x, c.rate, c.bins, 1)
		if n != len(want) || n != frames.Count(c.samples, c.rate) {
			t.Fatalf("%d Hz, %d samples: %d frames, want %d", c.rate, c.samples, n, len(want))
		}
		for i, row := range want {
			for b, v := range row {
				// The result is rounded to float32, at values up to 25 by up to 2^-20; the rest is float64.
				if d := math.Abs(float64(got[i*c.bins+b]) - v); !(d <= 1e-6) {
					t.Fatalf("%d Hz, %d samples: frame %d, bin %d is off by %g", c.rate, c.samples, i, b, d)
				}
			}
		}
	}
}

func TestFramesAreKnownBeforehand(t *testing.T) {
	o := Default()
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	a := &Augment{Speeds: []float64{0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.15, 1.2}}
	var dst []float32
	for _, rate := range []int{8000, 11025, 16000, 44100, 48000} {
		for i := range 40 {
			samples := 37 * i * i
			key := Key(1, i, philox.ID("u"))
			want, err := o.Frames(samples, rate, a.Speed(key))
			if err != nil {
				t.Fatal(err)
			}
			var n int
			dst, n, err = e.Extract(dst, make([]float32, samples), rate, a, key)
			if err != nil || n != want || len(dst) != 80*n {
				t.Fatalf("%d samples at %d Hz: %d frames, %d expected (%v)", samples, rate, n, want, err)
			}
		}
	}
	if _, err := o.Frames(100, 5, audio.Ratio{}); err == nil {
		t.Error("5 Hz was accepted")
	}
	if _, _, err := e.Extract(nil, make([]float32, 100), 0, nil, 0); err == nil {
		t.Error("0 Hz was accepted")
	}
}

// usualAugment is speeds and masks, as they are in most runs.
func usualAugment() Augment {
	return Augment{Speeds: []float64{0.9, 1, 1.1}, FreqMasks: 2, FreqWidth: 27, TimeMasks: 5, TimeShare: 0.05}
}

// Buffers are used again, so a long utterance must leave nothing behind for a short one.
func TestExtractorKeepsNothing(t *testing.T) {
	e, err := New(Default())
	if err != nil {
		t.Fatal(err)
	}
	a := usualAugment()
	short := testkit.Uniform[float32](1, 3001, -1, 1)
	first, n, err := e.Extract(nil, short, 11025, &a, 7)
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	dst, _, err := e.Extract(nil, testkit.Uniform[float32](2, 50000, -1, 1), 8000, &a, 8)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := e.Extract(dst, short, 11025, &a, 7)
	if err != nil || !slices.Equal(first, again) {
		t.Errorf("the same utterance came out differently after another one (%v)", err)
	}
}

func TestExtractAllocatesNothing(t *testing.T) {
	e, err := New(Default())
	if err != nil {
		t.Fatal(err)
	}
	a := usualAugment()
	x := testkit.Uniform[float32](2, 32000, -1, 1)
	var dst []float32
	keys := make([]uint64, 20)
	for i := range keys {
		keys[i] = Key(1, i, philox.ID("x"))
		if dst, _, err = e.Extract(dst, x, 8000, &a, keys[i]); err != nil {
			t.Fatal(err)
		}
	}
	i := 0
	if n := testing.AllocsPerRun(20, func() { dst, _, _ = e.Extract(dst, x, 8000, &a, keys[i%20]); i++ }); n != 0 {
		t.Errorf("%v allocations an utterance", n)
	}
}

func TestGlobalNormalization(t *testing.T) {
	o := Default()
	o.Normalize = None
	raw, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	whole, left, right := NewAccumulator(80), NewAccumulator(80), NewAccumulator(80)
	waves := [][]float32{testkit.Normal[float32](1, 9000), testkit.Uniform[float32](2, 20000, -0.1, 0.1), testkit.Normal[float32](3, 700)}
	for i, w := range waves {
		f, _, err := raw.Extract(nil, w, 16000, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		part := left
		if i == 1 {
			part = right
		}
		if whole.Add(f) != nil || part.Add(f) != nil {
			t.Fatal("Add")
		}
	}
	if err := left.Merge(right); err != nil {
		t.Fatal(err)
	}
	s, err := whole.Stats()
	if err != nil {
		t.Fatal(err)
	}
	merged, err := left.Stats()
	if err != nil || merged.Frames != s.Frames {
		t.Fatal(merged, err)
	}
	// Sums of float32 values hardly round in float64. Those of squares, near 600, do, and what is left of them is
	// near 7.
	testkit.CloseRel(t, "merged means", merged.Mean, s.Mean, 1e-15)
	testkit.CloseRel(t, "merged deviations", merged.Deviation, s.Deviation, 1e-13)

	o.Normalize, o.Stats = Global, s
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	sum, squares, n := make([]float64, 80), make([]float64, 80), 0.0
	for _, w := range waves {
		f, T, err := e.Extract(nil, w, 16000, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range f {
			sum[i%80] += float64(v)
			squares[i%80] += float64(v) * float64(v)
		}
		n += float64(T)
	}
	for i := range sum {
		// What was counted is rounded to float32 first, by up to 4e-7 of a deviation; over 185 frames it averages to
		// 8e-8.
		if m, v := sum[i]/n, squares[i]/n; !(math.Abs(m) <= 2e-7 && math.Abs(v-1) <= 2e-7) {
			t.Errorf("bin %d has mean %v and variance %v over the set", i, m, v)
		}
	}
	if _, err := NewAccumulator(80).Stats(); err == nil || !strings.Contains(err.Error(), "no frame was added") {
		t.Errorf("statistics of nothing: %v", err)
	}
	endless := NewAccumulator(2)
	if err := endless.Add([]float32{1, float32(math.Inf(1))}); err != nil {
		t.Fatal(err)
	}
	if _, err := endless.Stats(); err == nil || !strings.Contains(err.Error(), "bin 1 has mean +Inf") {
		t.Errorf("statistics of what isn't finite: %v", err)
	}
	if err := whole.Add(make([]float32, 81)); err == nil {
		t.Error("81 features of 80 bins were added")
	}
	if err := whole.Merge(NewAccumulator(40)); err == nil {
		t.Error("40 bins were joined to 80")
	}
}

func TestOptionErrors(t *testing.T) {
	least := Default()
	least.NumMels = 1
	if _, err := New(least); err != nil {
		t.Errorf("a single bin: %v", err)
	}
	for _, c := range []struct {
		change func(*Options)
		say    []string
	}{
		{func(o *Options) { o.SampleRate = 0 }, []string{"sample_rate is 0"}},
		{func(o *Options) { o.NumMels = 0 }, []string{"num_mels is 0"}},
		{func(o *Options) { o.NumMels = 1 << 40 }, []string{"use fewer"}},
		{func(o *Options) { o.LowHz = math.NaN() }, []string{"NaN"}},
		{func(o *Options) { o.LowHz = -1 }, []string{"-1 Hz"}},
		{func(o *Options) { o.LowHz = 8000 }, []string{"8000 Hz to 8000 Hz"}},
		{func(o *Options) { o.HighHz = 20 }, []string{"20 Hz to 20 Hz"}},
		{func(o *Options) { o.HighHz = 8000.5 }, []string{"to 8000.5 Hz", "half of sample_rate 16000"}},
		{func(o *Options) { o.HighHz = -7980 }, []string{"20 Hz to 20 Hz (high_hz -7980)"}},
		{func(o *Options) { o.HighHz = math.NaN() }, []string{"NaN"}},
		{func(o *Options) { o.HighHz = math.Inf(1) }, []string{"+Inf"}},
		{func(o *Options) { o.SampleScale = 0 }, []string{"sample_scale is 0"}},
		{func(o *Options) { o.SampleScale = -1 }, []string{"sample_scale is -1"}},
		{func(o *Options) { o.SampleScale = math.NaN() }, []string{"sample_scale is NaN"}},
		{func(o *Options) { o.SampleScale = math.Inf(1) }, []string{"sample_scale is +Inf"}},
		{func(o *Options) { o.NumMels = 160 }, []string{"4, 9, 18 of 160"}},
		{func(o *Options) { o.Normalize = "all" }, []string{`"all"`, `"utterance"`}},
		{func(o *Options) { o.Normalize = Global }, []string{"no statistics"}},
		{func(o *Options) { o.Normalize, o.Stats = Global, &Stats{Mean: make([]float64, 3)} }, []string{"3 means", "80"}},
		{func(o *Options) {
			o.Normalize, o.Stats = Global, &Stats{Mean: make([]float64, 80), Deviation: make([]float64, 80)}
		}, []string{"bin 0", "deviation 0"}},
		{func(o *Options) { o.SampleRate, o.Normalize = 7, "x" }, []string{"sample_rate is 7", `"x"`}}, // both at once
	} {
		o := Default()
		c.change(&o)
		_, err := New(o)
		for _, s := range c.say {
			if err == nil || !strings.Contains(err.Error(), s) {
				t.Errorf("%v; want %q", err, s)
			}
		}
	}
}

func TestFileErrorsNameTheFile(t *testing.T) {
	e, err := New(Default())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.wav")
	if err := os.WriteFile(path, []byte("caff"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.File(nil, path, 0, 0, nil, 0); !errors.Is(err, audio.ErrFormat) || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}

	// The highest rate that a file may have, played twice as fast at the lowest one, is more than can be resampled.
	o := Default()
	o.SampleRate, o.NumMels = audio.MinRate, 4
	if e, err = New(o); err != nil {
		t.Fatal(err)
	}
	testkit.WriteWAV(t, path, audio.MaxRate, make([]int, audio.MaxRate/10))
	_, err = e.File(nil, path, 0, 0, &Augment{Speeds: []float64{2}}, 0)
	if err == nil || !strings.Contains(err.Error(), path+": ratio 1536000/1000") {
		t.Errorf("%v", err)
	}
}

func BenchmarkExtract(b *testing.B) {
	speeds := usualAugment()
	for _, c := range []struct {
		name string
		rate int
		a    *Augment
	}{{"16k", 16000, nil}, {"16k_augmented", 16000, &speeds}, {"44.1k", 44100, nil}, {"8k", 8000, nil}} {
		b.Run(c.name, func(b *testing.B) {
			const seconds = 8
			e, err := New(Default())
			if err != nil {
				b.Fatal(err)
			}
			x := testkit.Uniform[float32](2, seconds*c.rate, -1, 1)
			var dst []float32
			for i := range 10 {
				dst, _, _ = e.Extract(dst, x, c.rate, c.a, Key(1, i, philox.ID("x")))
			}
			i := 0
			for b.Loop() {
				dst, _, _ = e.Extract(dst, x, c.rate, c.a, Key(1, i, philox.ID("x")))
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N)/seconds, "ms/s-of-audio")
		})
	}
}
