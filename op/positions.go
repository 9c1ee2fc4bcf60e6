package op

import "math"

// Sinusoid is the table [n, d] whose row c holds the position r = first + c*step: sin(r w_m) in column 2m and
// cos(r w_m) in column 2m+1, w_m = 10000^(-2m/d). d is even. (Vaswani et al. 2017, section 3.5.)
func Sinusoid(first, step, n, d int) []float32 {
	t := make([]float32, n*d)
	for c := range n {
		r := float64(first + c*step)
		for m := range d / 2 {
			sin, cos := math.Sincos(r * math.Pow(10000, -2*float64(m)/float64(d)))
			t[c*d+2*m], t[c*d+2*m+1] = float32(sin), float32(cos)
		}
	}
	return t
}

// RelativeTable is the table of distances for all of up to longest frames: row c holds r = longest-1-c, down to
// -(longest-1). What S frames need is its 2S-1 rows from longest-S on.
func RelativeTable(longest, d int) []float32 { return Sinusoid(longest-1, -1, 2*longest-1, d) }
