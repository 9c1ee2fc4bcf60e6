package cut

import (
	"errors"
	"math"
	"slices"
	"testing"

	"konkanitrain/internal/testkit"
)

const rate = 8000

// sound is tones of so many seconds, and where the number is below 0 a pause, with a little noise on all of it.
func sound(noise float64, parts ...float64) []float32 {
	n := testkit.Normal[float64](1, 4096)
	var x []float32
	for _, s := range parts {
		for range int(math.Abs(s) * rate) {
			v := noise * n[len(x)%len(n)]
			if s > 0 {
				v += 0.3 * math.Sin(float64(len(x))*0.5) * (1 + 0.5*math.Sin(float64(len(x))*0.003))
			}
			x = append(x, float32(v))
		}
	}
	return x
}

// kept is a Piece that stays.
type kept struct {
	start, end, joined int
	wave               []float32
}

func pieces(t testing.TB, o Options, x []float32, from, joined, parts int) (list []kept) {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	c.Skip(from, joined)
	keep := func(p Piece) error {
		list = append(list, kept{p.Start, p.Start + len(p.Wave), p.Joined, slices.Clone(p.Wave)})
		return nil
	}
	for rest := x[from:]; len(rest) > 0; {
		n := min(parts, len(rest))
		if err := c.Put(rest[:n], keep); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
		if got, most := 4*int64(cap(c.wave))+8*int64(cap(c.energy)+cap(c.sorted)), o.Bytes(parts); got > most*3/2 {
			t.Fatalf("%d bytes are held, %d are said to be", got, most)
		}
	}
	if err := c.End(keep); err != nil {
		t.Fatal(err)
	}
	return list
}

// Pieces are in order and none is too long; they share what they say, and what is in none of them is as quiet as a
// pause. However the sound comes, and from whichever piece cutting begins, pieces are the same.
func TestPiecesAreTheSound(t *testing.T) {
	r := testkit.Rand(1)
	for trial := range 60 {
		var parts []float64
		for range r.IntN(12) {
			parts = append(parts, 0.1+4*r.Float64(), -r.Float64()*0.8)
		}
		x := sound(math.Pow(10, -4*r.Float64()-1.7), parts...)
		o := Options{Rate: rate, Longest: 1 + 5*r.Float64(), Step: r.IntN(9), Phrases: Phrases{Typical: 7 * r.Float64(), Before: 0.3 * r.Float64(), Behind: 0.5 * r.Float64()}}
		o.Overlap = o.Longest * (0.05 + 0.4*r.Float64())
		list := pieces(t, o, x, 0, 0, 1+r.IntN(2*rate))
		end, before := 0, 0
		for i, p := range list {
			if p.end-p.start > o.Samples() || p.end <= p.start || p.joined == 0 && p.start < end || p.joined > 0 && p.start != end-p.joined || !slices.Equal(p.wave, x[p.start:p.end]) {
				t.Fatalf("%d: piece %d is %d to %d, %d shared, after %d", trial, i, p.start, p.end, p.joined, end)
			}
			if p.joined > 0 && (p.joined != o.overlap() || (p.start-before)%(max(o.Step, 1)*rate/100) != 0) {
				t.Errorf("%d: piece %d shares %d samples", trial, i, p.joined)
			}
			between(t, x, end, p.start)
			end, before = p.end, p.start
		}
		between(t, x, end, len(x))
		for i, p := range list {
			again := pieces(t, o, x, p.start, p.joined, 1+r.IntN(rate))
			if !slices.EqualFunc(again, list[i:], func(a, b kept) bool { return a.start == b.start && a.end == b.end && a.joined == b.joined }) {
				t.Errorf("%d: from piece %d on there are other pieces", trial, i)
			}
		}
	}
}

// between fails where there is a tone among samples that are in no piece.
func between(t testing.TB, x []float32, from, to int) {
	t.Helper()
	most := float32(0)
	for i := from; i < to; i++ {
		most = max(most, x[i], -x[i])
	}
	if most > 0.15 {
		t.Errorf("from %.3f to %.3f s is in no piece, and as loud as %g", float64(from)/rate, float64(to)/rate, most)
	}
}

// Sound is cut in its pauses, however much noise there is in them, and nowhere else; without a pause pieces overlap.
func TestCutsAreInPauses(t *testing.T) {
	for _, noise := range []float64{0, 1e-4, 1e-2, 0.03} {
		x := sound(noise, 3, -0.4, 2.5, -0.35, 4, -3, 1, -0.1, 2.2, -0.5, 3, -0.3)
		var from []int
		at := 0.0
		for _, s := range []float64{3, -0.4, 2.5, -0.35, 4, -3, 1, -0.1, 2.2, -0.5, 3, -0.3} {
			if s < -0.2 {
				from = append(from, int(at*rate), int((at-s)*rate))
			}
			at += math.Abs(s)
		}
		list := pieces(t, Options{Rate: rate, Longest: 5, Overlap: 1, Phrases: Sentences()}, x, 0, 0, rate)
		if len(list) < 5 {
			t.Errorf("noise %g: %d pieces", noise, len(list))
		}
		for _, p := range list[1:] {
			inside := false
			for i := 0; i < len(from); i += 2 {
				inside = inside || p.start > from[i] && p.start <= from[i+1]
			}
			if !inside || p.joined > 0 {
				t.Errorf("noise %g: a cut at %.2f s (%d shared), which is no pause", noise, float64(p.start)/rate, p.joined)
			}
		}
		for i, p := range pieces(t, Options{Rate: rate, Longest: 5, Overlap: 1, Phrases: Sentences()}, sound(noise, 17), 0, 0, 1000)[1:] {
			if p.joined != rate || p.start != 4*rate*(i+1) {
				t.Errorf("noise %g: piece %d of one long tone starts at %d and shares %d", noise, i+1, p.start, p.joined)
			}
		}
	}
	if list := pieces(t, Options{Rate: rate, Longest: 5, Overlap: 1, Phrases: Sentences()}, make([]float32, 23*rate), 0, 0, 1000); len(list) > 0 {
		t.Errorf("%d pieces of silence", len(list))
	}
}

// Sound without anything to hear, digital silence or a faint noise, is in no piece however short it is; what is louder,
// and what is too short to tell, is one.
func TestShortSilence(t *testing.T) {
	r := testkit.Rand(4)
	noise := func(n int, rms float64) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rms * r.NormFloat64())
		}
		return x
	}
	for _, x := range []struct {
		seconds, rms float64
		pieces       int
	}{{0.5, 0, 0}, {1, 0, 0}, {3, 0, 0}, {5, 0, 0}, {0.5, 3e-4, 0}, {3, 3e-4, 0}, {1, 3e-3, 1}, {0.005, 0, 1}} {
		wave := noise(int(x.seconds*rate), x.rms)
		if got := pieces(t, Options{Rate: rate, Longest: 5, Overlap: 1}, wave, 0, 0, 1000); len(got) != x.pieces || x.pieces > 0 && got[0].end != len(wave) {
			t.Errorf("%g s of noise of %g: %d pieces, want %d", x.seconds, x.rms, len(got), x.pieces)
		}
	}
}

func TestShorten(t *testing.T) {
	c, err := New(Options{Rate: rate, Longest: 8, Overlap: 2, Phrases: Sentences()})
	if err != nil {
		t.Fatal(err)
	}
	var longest, end int
	emit := func(p Piece) error {
		longest = max(longest, len(p.Wave))
		end = p.Start + len(p.Wave)
		return nil
	}
	x := sound(1e-3, 7.5)
	if err := c.Put(x, emit); err != nil || longest > 0 {
		t.Fatal(longest, err)
	}
	c.Shorten(2)
	c.Shorten(3)
	if err := c.End(emit); err != nil || longest != 2*rate || end != len(x) {
		t.Errorf("pieces of up to %d samples up to %d, %v", longest, end, err)
	}
	full := errors.New("full")
	if err := c.Put(x[:100], emit); err != nil {
		t.Fatal(err)
	}
	if err := c.End(func(Piece) error { return full }); err != full {
		t.Error(err)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{0, 5, 1, 0, Phrases{}}, {rate, 0.5, 0.1, 0, Phrases{}}, {rate, 601, 1, 0, Phrases{}}, {rate, 5, 0, 0, Phrases{}}, {rate, 5, 2.6, 0, Phrases{}}, {rate, math.NaN(), 1, 0, Phrases{}}, {rate, 5, math.NaN(), 0, Phrases{}}, {rate, 5, 1, -1, Phrases{}}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is an error", o)
		}
	}
}
