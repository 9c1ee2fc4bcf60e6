package scores

import "konkanitrain/data/text"

// Bins is the number of bins of a Histogram: no error at all, ten of a tenth each, and more than 1.
const Bins = 12

// Histogram counts utterances by their error rate: bin 0 those without an error, bin i from 1 to 10 those with a rate
// above (i-1)/10 and up to i/10, bin 11 those with a rate above 1, of more errors than the reference is long.
type Histogram [Bins]int

// Add counts an utterance with these errors.
func (h *Histogram) Add(c text.Counts) { h[bin(c)]++ }

// bin is found with whole numbers: 3 errors of 10 are in the bin up to 3/10.
func bin(c text.Counts) int {
	errors, ref := c.Errors(), max(c.Ref, 1)
	return min((10*errors+ref-1)/ref, Bins-1)
}

// Histograms are those of words and of characters.
type Histograms struct {
	Words Histogram `json:"words"`
	Chars Histogram `json:"chars"`
}

// Add counts an utterance.
func (h *Histograms) Add(u *Utterance) {
	h.Words.Add(u.Words)
	h.Chars.Add(u.Chars)
}
