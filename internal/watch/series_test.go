package watch

import (
	"math"
	"testing"

	"konkanitrain/internal/testkit"
)

// However long a history is, it takes bounded memory, and its lowest and highest values and its mean are those of all
// records.
func TestSeriesIsBoundedAndLosesNoPeak(t *testing.T) {
	const most = 16
	for _, n := range []int{1, 15, 16, 17, 100, 1000, 4097} {
		s := newSeries(2, most)
		values := testkit.Normal[float32](uint64(n), n)
		low, high, sum := float32(math.Inf(1)), float32(math.Inf(-1)), 0.0
		for i, v := range values {
			s.add(10*(i+1), float64(i), []float32{v, 1})
			low, high, sum = min(low, v), max(high, v), sum+float64(v)
		}
		if len(s.last) > most || len(s.low) != 2*len(s.last) {
			t.Fatalf("%d records take %d points", n, len(s.last))
		}
		for _, points := range []int{most, 5, 1} {
			v := s.view(0, len(s.last), points)
			gotLow, gotHigh, gotSum, records := float32(math.Inf(1)), float32(math.Inf(-1)), 0.0, 0
			for i := range v.last {
				gotLow, gotHigh = min(gotLow, v.low[2*i]), max(gotHigh, v.high[2*i])
				gotSum += float64(v.mean[2*i]) * float64(v.records[i])
				records += v.records[i]
				if v.mean[2*i+1] != 1 || v.low[2*i] > v.mean[2*i] || v.mean[2*i] > v.high[2*i] {
					t.Fatalf("%d records: point %d is %v, %v, %v", n, i, v.low[2*i], v.mean[2*i], v.high[2*i])
				}
				if i > 0 && v.first[i] != v.last[i-1]+10 {
					t.Fatalf("%d records: point %d begins at %d behind %d", n, i, v.first[i], v.last[i-1])
				}
			}
			// Means are of float32, some twelve roundings of 6e-8 for each.
			if len(v.last) > points || records != n || gotLow != low || gotHigh != high || math.Abs(gotSum-sum) > 1e-5*float64(n) {
				t.Errorf("%d records in %d points: %d, from %v to %v, sum %v; want %v to %v, %v", n, len(v.last), records, gotLow, gotHigh, gotSum, low, high, sum)
			}
		}
	}
}

// What isn't known has no part in the mean of what is.
func TestSeriesOfWhatIsNotKnown(t *testing.T) {
	s := newSeries(2, 8)
	for i := range 4 {
		v := unknown
		if i > 1 {
			v = float32(i)
		}
		s.add(i, 0, []float32{v, unknown})
	}
	v := s.view(0, 4, 1)
	if len(v.mean) != 2 || isNaN(v.mean[0]) || v.low[0] != 2 || v.high[0] != 3 || !isNaN(v.mean[1]) {
		t.Errorf("%v", v)
	}
}

// A part has a point more on each side, so that curves go on to the edges; what is cut off is gone for good.
func TestSpanAndCut(t *testing.T) {
	s := newSeries(1, 1000)
	for i := 1; i <= 100; i++ {
		s.add(10*i, float64(i), []float32{float32(i)})
	}
	for _, c := range []struct{ from, to, first, last int }{
		{0, math.MaxInt, 10, 1000}, {200, 300, 190, 310}, {205, 206, 200, 210}, {0, 5, 10, 10}, {5000, 6000, 1000, 1000},
	} {
		begin, end := s.span(c.from, c.to)
		if begin >= end || s.first[begin] != c.first || s.last[end-1] != c.last {
			t.Errorf("%d to %d: points %d to %d, want updates %d to %d", c.from, c.to, begin, end, c.first, c.last)
		}
	}
	s.cut(555)
	if n := len(s.last); n != 55 || s.trained() != 55 {
		t.Errorf("%d points stay, trained %v", n, s.trained())
	}
	s.add(560, 56, []float32{56})
	if v := s.view(0, len(s.last), 1000); v.last[55] != 560 || v.mean[55] != 56 {
		t.Errorf("%v", v.last)
	}
	s.cut(-1)
	if begin, end := s.span(0, 10); begin != 0 || end != 0 {
		t.Errorf("nothing has points %d to %d", begin, end)
	}
}
