package rangetest

import (
	"fmt"
	"math"
	"strings"
)

// The size of the plot, in characters.
const (
	plotWidth  = 60
	plotHeight = 12
)

// String is the result for a terminal: a table with a line for each half decade of rates, a plot of the smoothed loss
// over the rate, both as logarithms, and the verdict.
func (r Result) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "learning rate range test from %s: %s\n", r.Start, r.course())
	if r.Updates > 0 {
		fmt.Fprintf(&s, "  rate       loss (nats for a second of sound, smoothed)\n")
		for _, p := range r.table() {
			fmt.Fprintf(&s, "  %-9.2g  %.4g\n", p.Rate, p.Loss)
		}
		s.WriteString(r.plot())
	}
	s.WriteString(r.Verdict + "\n")
	return s.String()
}

// course says how the test went.
func (r Result) course() string {
	if r.Updates == 0 {
		return fmt.Sprintf("no update (%s)", r.End)
	}
	return fmt.Sprintf("%d updates, with rates from %.2g to %.2g (%s)", r.Updates, r.Rates[0], r.Rates[r.Updates-1], r.End)
}

// table is the curve at the first rate, each half decade, and the last rate.
func (r Result) table() (list []Place) {
	const step = 0.5 // decades
	next := 0.
	for i, rate := range r.Rates {
		if decades := math.Log10(rate / r.Rates[0]); decades >= next-1e-9 || i == r.Updates-1 {
			list = append(list, *r.place(i))
			next += step
		}
	}
	return list
}

// plot draws the smoothed loss. Below it stand the decades, and a mark under the suggestion.
func (r Result) plot() string {
	low, high := r.Smoothed[0], r.Smoothed[0]
	for _, v := range r.Smoothed {
		low, high = min(low, v), max(high, v)
	}
	row := func(v float64) int { // from the top
		return plotHeight - 1 - int(math.Round(part(v, low, high)*(plotHeight-1)))
	}
	column := func(rate float64) int {
		return int(math.Round(part(rate, r.Rates[0], r.Rates[r.Updates-1]) * (plotWidth - 1)))
	}
	var grid [plotHeight][plotWidth]bool
	last := row(r.Smoothed[0])
	for x := range plotWidth {
		v := r.at(float64(x) / (plotWidth - 1))
		y := row(v)
		for between := min(y, last+1); between <= max(y, last-1); between++ { // no gap where it is steep
			grid[between][x] = true
		}
		last = y
	}
	var s strings.Builder
	for y, line := range grid {
		label := ""
		switch y {
		case 0:
			label = fmt.Sprintf("%.3g", high)
		case (plotHeight - 1) / 2:
			label = fmt.Sprintf("%.3g", low*math.Pow(high/low, 1-float64(y)/(plotHeight-1)))
		case plotHeight - 1:
			label = fmt.Sprintf("%.3g", low)
		}
		text := ""
		for _, dot := range line {
			if dot {
				text += "•"
			} else {
				text += " "
			}
		}
		fmt.Fprintf(&s, "%8s │%s\n", label, strings.TrimRight(text, " "))
	}
	axis, labels := []rune(strings.Repeat("─", plotWidth)), []rune(strings.Repeat(" ", plotWidth+8))
	for d := int(math.Ceil(math.Log10(r.Rates[0]) - 1e-9)); d <= int(math.Floor(math.Log10(r.Rates[r.Updates-1])+1e-9)); d++ {
		x := column(math.Pow(10, float64(d)))
		axis[x] = '┴'
		copy(labels[x:], []rune(fmt.Sprintf("1e%d", d)))
	}
	if r.Suggested >= r.Rates[0] {
		axis[column(r.Suggested)] = '▲'
	}
	fmt.Fprintf(&s, "%8s └%s\n%8s  %s\n", "", string(axis), "", strings.TrimRight(string(labels), " "))
	return s.String()
}

// at is the curve at a share of the way from the first to the last rate: rates are evenly spaced by their logarithms.
func (r Result) at(share float64) float64 {
	x := share * float64(r.Updates-1)
	i := min(int(x), max(r.Updates-2, 0))
	j := min(i+1, r.Updates-1)
	return r.Smoothed[i] + (x-float64(i))*(r.Smoothed[j]-r.Smoothed[i])
}

// part is how far a value is between two others, by their logarithms: 0 to 1, and the middle where they are equal.
func part(v, low, high float64) float64 {
	if high <= low {
		return 0.5
	}
	return math.Log(v/low) / math.Log(high/low)
}
