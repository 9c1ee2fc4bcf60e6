package watch

import (
	"math"
	"sort"
)

// series is a history of figures over updates that takes a bounded amount of memory. A point of it stands for one
// record or, in a long history, for several in a row, with the lowest, the mean and the highest value of each figure,
// so that a peak of one record is never lost. When there are most points, neighbors become one. Values that are not
// known are NaN.
type series struct {
	width int // figures of a record
	most  int // points, even
	size  int // records of a full point
	points
}

// points are columns with an entry for each point, and in low, mean and high one for each figure of each point.
type points struct {
	first, last     []int     // update of its first and its last record
	hours           []float64 // of training, at its last record
	records         []int
	low, mean, high []float32 // [points, width]
}

func newSeries(width, most int) *series { return &series{width: width, most: most, size: 1} }

// add adds a record of a later update.
func (s *series) add(update int, hours float64, values []float32) {
	if n := len(s.last); n > 0 && s.records[n-1] < s.size {
		s.merge(n-1, update, hours, values, values, values, 1)
		return
	}
	if len(s.last) == s.most {
		s.points = s.view(0, len(s.last), s.most/2)
		s.size *= 2
	}
	s.push(update, update, hours, values, values, values, 1)
}

// grow makes room for so many points.
func (p *points) grow(n, width int) {
	p.first, p.last = make([]int, 0, n), make([]int, 0, n)
	p.hours, p.records = make([]float64, 0, n), make([]int, 0, n)
	p.low, p.mean, p.high = make([]float32, 0, n*width), make([]float32, 0, n*width), make([]float32, 0, n*width)
}

// push adds a point.
func (p *points) push(first, last int, hours float64, low, mean, high []float32, records int) {
	p.first, p.last = append(p.first, first), append(p.last, last)
	p.hours, p.records = append(p.hours, hours), append(p.records, records)
	p.low, p.mean, p.high = append(p.low, low...), append(p.mean, mean...), append(p.high, high...)
}

// merge adds what comes behind point i to it.
func (p *points) merge(i, last int, hours float64, low, mean, high []float32, records int) {
	w := len(low)
	l, m, h := p.low[i*w:(i+1)*w], p.mean[i*w:(i+1)*w], p.high[i*w:(i+1)*w]
	share := float32(records) / float32(p.records[i]+records)
	for k := range w {
		switch {
		case isNaN(mean[k]):
		case isNaN(m[k]):
			l[k], m[k], h[k] = low[k], mean[k], high[k]
		default:
			l[k], m[k], h[k] = min(l[k], low[k]), m[k]+share*(mean[k]-m[k]), max(h[k], high[k])
		}
	}
	p.last[i], p.hours[i] = last, hours
	p.records[i] += records
}

// view is the points from one to before another, in at most so many: neighbors become one where there are more.
func (s *series) view(from, to, most int) (v points) {
	group := max((to-from+most-1)/max(most, 1), 1)
	v.grow((to-from+group-1)/group, s.width)
	for i := from; i < to; i++ {
		a, b := i*s.width, (i+1)*s.width
		low, mean, high := s.low[a:b], s.mean[a:b], s.high[a:b]
		if (i-from)%group == 0 {
			v.push(s.first[i], s.last[i], s.hours[i], low, mean, high, s.records[i])
		} else {
			v.merge(len(v.last)-1, s.last[i], s.hours[i], low, mean, high, s.records[i])
		}
	}
	return v
}

// span is which points have updates from one to another, with one more on each side so that a curve goes to the edge.
func (s *series) span(from, to int) (begin, end int) {
	begin = sort.Search(len(s.last), func(i int) bool { return s.last[i] >= from })
	end = sort.Search(len(s.first), func(i int) bool { return s.first[i] > to })
	return max(begin-1, 0), max(min(end+1, len(s.first)), max(begin-1, 0))
}

// cut removes what is behind an update. A point with records before and behind it goes too.
func (s *series) cut(update int) {
	n := sort.Search(len(s.last), func(i int) bool { return s.last[i] > update })
	s.first, s.last, s.hours, s.records = s.first[:n], s.last[:n], s.hours[:n], s.records[:n]
	s.low, s.mean, s.high = s.low[:n*s.width], s.mean[:n*s.width], s.high[:n*s.width]
}

// trained is the hours of training until the last point.
func (s *series) trained() float64 {
	if n := len(s.hours); n > 0 {
		return s.hours[n-1]
	}
	return 0
}

func isNaN(x float32) bool { return x != x }

var unknown = float32(math.NaN())
