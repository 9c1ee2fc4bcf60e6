package audio

import (
	"slices"
	"testing"

	"konkanitrain/internal/testkit"
)

// Pieces of any sizes give the samples that the whole gives, to the bit, and take what was said.
func TestFlowIsTheWhole(t *testing.T) {
	plain, fast := NewResampler(), NewResampler()
	plain.fast, fast.fast = false, true
	r := testkit.Rand(1)
	for _, c := range []struct{ p, q, n int }{
		{441, 160, 70001}, {441, 160, 3}, {3, 1, 200000}, {1, 2, 30000}, {1, 2, 1}, {2, 1, 0}, {1, 1, 900}, {1, 64, 2000}, {1, 65, 2000},
		{100, 1, 60000}, {11, 10, 66}, {11, 10, 67}, {1000, 999, 60000}, {441, 320, 1 << 17}, {24, 1, 90000},
	} {
		x := noise(c.n, uint64(c.n))
		ratio, err := NewRatio(c.p, c.q)
		if err != nil {
			t.Fatal(err)
		}
		for _, rs := range []*Resampler{plain, fast} {
			want := rs.Resample(nil, x, ratio)
			for _, most := range []int{1, 7, 4000, 1 << 16} {
				if most < c.n/20000 {
					continue
				}
				f := rs.Flow(ratio)
				var got []float32
				held := 0
				for rest := x; len(rest) > 0; {
					n := min(1+r.IntN(most), len(rest))
					got = f.Put(got, rest[:n])
					rest = rest[n:]
					held = max(held, 4*cap(f.in))
				}
				got = f.End(got)
				if !slices.Equal(got, want) {
					t.Errorf("%d/%d, %d samples, up to %d at a time, fast %v: %d outputs that differ from the whole's %d", c.p, c.q, c.n, most, rs.fast, len(got), len(want))
				}
				if promised := rs.FlowBytes(most, ratio); int64(held) > promised {
					t.Errorf("%d/%d, up to %d at a time: %d bytes are held, %d were promised", c.p, c.q, most, held, promised)
				}
			}
		}
	}
}
