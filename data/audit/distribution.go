package audit

import (
	"math"
	"slices"
)

// Distribution is how values are spread.
type Distribution struct {
	Count     int       `json:"count"`
	Min       float64   `json:"min"`
	P1        float64   `json:"p1"` // percentiles
	P5        float64   `json:"p5"`
	P25       float64   `json:"p25"`
	Median    float64   `json:"median"`
	P75       float64   `json:"p75"`
	P95       float64   `json:"p95"`
	P99       float64   `json:"p99"`
	Max       float64   `json:"max"`
	Mean      float64   `json:"mean"`
	Histogram Histogram `json:"histogram"`
}

// Histogram counts values in steps of equal width: Counts[i] is of values from From + i Step to below From + (i+1)
// Step. Values far from all others are outside.
type Histogram struct {
	From   float64 `json:"from"`
	Step   float64 `json:"step"`
	Counts []int   `json:"counts"`
	Below  int     `json:"below"` // values under the first step
	Above  int     `json:"above"` // values over the last one
}

// distribution describes values, and sorts them. They differ by unit or more, and steps are no narrower; 0 is no unit.
func distribution(values []float64, unit float64) Distribution {
	if len(values) == 0 {
		return Distribution{Histogram: Histogram{Counts: []int{}}}
	}
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	q := func(p float64) float64 { return quantile(values, p) }
	return Distribution{
		Count: len(values), Min: values[0], P1: q(0.01), P5: q(0.05), P25: q(0.25), Median: q(0.5), P75: q(0.75), P95: q(0.95),
		P99: q(0.99), Max: values[len(values)-1], Mean: sum / float64(len(values)), Histogram: histogram(values, unit),
	}
}

// quantile is that of sorted values, for p from 0 to 1.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	low := int(at)
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}

// steps is about how many steps a histogram has.
const steps = 24

// histogram counts sorted values. It reaches half of the distance between the 1st and the 99th percentile beyond them,
// where there are values.
func histogram(sorted []float64, unit float64) Histogram {
	least, most := sorted[0], sorted[len(sorted)-1]
	p1, p99 := quantile(sorted, 0.01), quantile(sorted, 0.99)
	low, high := max(least, p1-(p99-p1)/2), min(most, p99+(p99-p1)/2)
	h := Histogram{Step: roundStep(max((high-low)/steps, unit))}
	first := math.Floor(low / h.Step)
	last := math.Floor(high / h.Step)
	h.From = first * h.Step
	h.Counts = make([]int, int(last-first)+1)
	for _, v := range sorted {
		switch i := math.Floor(v/h.Step) - first; {
		case i < 0:
			h.Below++
		case int(i) >= len(h.Counts):
			h.Above++
		default:
			h.Counts[int(i)]++
		}
	}
	return h
}

// roundStep is the least of 1, 2 and 5 times a power of ten that is step or more; 1 where all values are equal.
func roundStep(step float64) float64 {
	if !(step > 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, k := range []float64{1, 2, 5} {
		if k*power >= step*(1-1e-9) {
			return k * power
		}
	}
	return 10 * power
}
