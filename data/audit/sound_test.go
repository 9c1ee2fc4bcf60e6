package audit

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"konkanitrain/data/audio"
)

// sine is a tone of an amplitude.
func sine(n, rate int, hz, amplitude float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(amplitude * math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
	}
	return x
}

func measured(x []float32, rate int) sound {
	var m meter
	return m.measure(x, rate)
}

// Levels are those of the formula: a square wave at full scale has 0 dBFS, a sine 3.01 dB less, and an offset doesn't
// count. float32 samples allow for 1e-4 dB.
func TestLevel(t *testing.T) {
	square := make([]float32, 16000)
	for i := range square {
		square[i] = 1 - 2*float32(i/8%2)
	}
	shifted := sine(16000, 16000, 500, 0.25)
	for i := range shifted {
		shifted[i] += 0.125
	}
	for _, c := range []struct {
		name          string
		x             []float32
		level, offset float64
	}{
		{"square", square, 0, 0},
		{"sine", sine(16000, 16000, 500, 1), 10 * math.Log10(0.5), 0},
		{"shifted sine", shifted, 10 * math.Log10(0.25*0.25/2), 0.125},
		{"nothing", make([]float32, 100), -200, 0},
	} {
		if s := measured(c.x, 16000); math.Abs(float64(s.level)-c.level) > 1e-4 || math.Abs(float64(s.offset)-c.offset) > 1e-6 {
			t.Errorf("%s: %v dBFS, offset %v; want %v and %v", c.name, s.level, s.offset, c.level, c.offset)
		}
	}
}

// Silence is counted in whole frames of 10 ms, 40 dB under the loudest one.
func TestSilence(t *testing.T) {
	at := func(db float64, seconds float64, rate int) []float32 {
		return sine(int(seconds*float64(rate)), rate, 400, math.Sqrt2*math.Pow(10, db/20))
	}
	for _, rate := range []int{8000, 16000, 44100} {
		x := slices.Concat(at(-61, 0.3, rate), at(-20, 0.5, rate), at(-59, 0.2, rate), at(-61, 0.1, rate))
		s := measured(x, rate)
		if s.state != heard || s.leading != 0.3 || s.trailing != 0.1 || math.Abs(float64(s.silent)-0.4/1.1) > 0.01 {
			t.Errorf("%d Hz: %+v", rate, s)
		}
	}
	for db, want := range map[float64]state{-66: allQuiet, -64: steady, -20: steady} {
		if s := measured(at(db, 2, 16000), 16000); s.state != want {
			t.Errorf("%v dBFS: state %d, want %d", db, s.state, want)
		}
	}
	if s := measured(at(-20, 0.9, 16000), 16000); s.state != heard {
		t.Error("a short tone may be a vowel")
	}
}

// Clipping is runs, not loudness.
func TestClipped(t *testing.T) {
	top := float32(32767.0 / 32768)
	for _, c := range []struct {
		x    []float32
		want int
	}{
		{nil, 0},
		{[]float32{1, 1, 0}, 0},
		{[]float32{1, 1, 1, 0}, 3},
		{[]float32{0, 1, top, 1.5, 1, 0.99, 0.99}, 4},
		{[]float32{-1, -1, -1, -1, 1, 1}, 4},
		{[]float32{0.985, 0.985, 0.985, 0.985}, 4}, // mu-law
		{[]float32{0.985, 0.986, 0.985, 0.986}, 0},
		{[]float32{0.97, 0.97, 0.97}, 0},
		{[]float32{-0.99, -0.99, -0.99, 0.99, 0.99, 0.99}, 6},
	} {
		if got := clipped(c.x); got != c.want {
			t.Errorf("%v: %d, want %d", c.x, got, c.want)
		}
	}
	for _, hz := range []float64{100, 440, 1000} {
		x := sine(48000, 48000, hz, 32767.0/32768)
		for i, v := range x {
			x[i] = float32(math.Round(float64(v)*32768)) / 32768
		}
		if n := clipped(x); n > 0 {
			t.Errorf("a sine of %v Hz that just fits has %d clipped samples", hz, n)
		}
	}
}

// The hash is of rate and samples; 0 and -0 are one.
func TestHash(t *testing.T) {
	x := sine(10000, 16000, 300, 0.5)
	y := slices.Clone(x)
	x[5000], y[5000] = 0, float32(math.Copysign(0, -1))
	var m meter
	h := m.hash(x, 16000)
	if m.hash(y, 16000) != h {
		t.Error("-0 is another sound")
	}
	if m.hash(x, 8000) == h || m.hash(x[:9999], 16000) == h {
		t.Error("another rate or length is the same sound")
	}
	y[9999] = math.Nextafter32(y[9999], 1)
	if m.hash(y, 16000) == h {
		t.Error("another sample is the same sound")
	}
}

// What is used to find sounds that are nearly the same is nearly the same at another level and sign.
func TestPlace(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		x := make([]float32, 4000+random.IntN(4000))
		loud := 0.1
		for i := range x {
			if i%500 == 0 {
				loud = 0.02 + 0.2*random.Float64()
			}
			x[i] = float32(math.Round(32768*loud*random.NormFloat64()) / 32768)
		}
		y := slices.Clone(x)
		for i, v := range y {
			y[i] = float32(math.Round(-0.3*32768*float64(v)) / 32768)
		}
		s, r := measured(x, 16000), measured(y, 16000)
		if d := s.center - r.center; d > 1e-5 || d < -1e-5 || !alike(s.profile, r.profile) {
			t.Errorf("%v %v, and %v %v", s.center, s.profile, r.center, r.profile)
		}
		// the center is the mean place of the energy, by definition
		sum, mean, moment, total := 0.0, 0.0, 0.0, 0.0
		for _, v := range x {
			sum += float64(v)
		}
		mean = sum / float64(len(x))
		for i, v := range x {
			e := (float64(v) - mean) * (float64(v) - mean)
			total += e
			moment += e * float64(i)
		}
		if want := moment / total / float64(len(x)); math.Abs(float64(s.center)-want) > 1e-6 {
			t.Errorf("center %v, want %v", s.center, want)
		}
	}
}

// A clip is the sound: to half a step of 16 bits at its own rate, and of the same length at a higher one.
func TestClip(t *testing.T) {
	dir := t.TempDir()
	x := sine(24000, 8000, 440, 0.5)
	path := filepath.Join(dir, "a.wav")
	if err := os.WriteFile(path, EncodeWAV(x, 8000), 0o666); err != nil {
		t.Fatal(err)
	}
	var r audio.Reader
	info, got, err := r.Read(audio.File(path), nil, 0, 0)
	if err != nil || info.Rate != 8000 || info.Channels != 1 || len(info.Warnings) > 0 || len(got) != len(x) {
		t.Fatalf("%+v, %d samples, %v", info, len(got), err)
	}
	for i := range x {
		if d := got[i] - x[i]; d > 0.5/32768 || d < -0.5/32768 {
			t.Fatalf("sample %d is %v, want %v", i, got[i], x[i])
		}
	}
	for v, want := range map[float32]byte{2: 0x7f, -2: 0x80, 1: 0x7f, -1: 0x80} {
		if b := EncodeWAV([]float32{v}, 8000); b[len(b)-1] != want {
			t.Errorf("%v becomes %x", v, b[len(b)-2:])
		}
	}
}
