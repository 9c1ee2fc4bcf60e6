package decode

import (
	"fmt"
	"math"
	"strings"
)

// Reliability compares confidences with how often units of such a confidence were right.
type Reliability struct {
	Bins  []Bin   `json:"bins"` // of equal width, from 0 to 1
	Units int     `json:"units"`
	Right float64 `json:"right"` // share of all units
	// ECE is the expected calibration error: the mean of |Confidence - Right| of the bins, weighted by their units
	// (Naeini et al. 2015, Guo et al. 2017). 0 is best.
	ECE float64 `json:"ece"`
	// NCE is the normalized cross entropy (Siu et al., "Improved estimation, evaluation and applications of confidence
	// measures for speech recognition", Eurospeech 1997): the share of the uncertainty about what is right that
	// confidences take away. 1 is best; 0 is as good as saying Right of each, less is worse. It is 0 where all units
	// are right, or all wrong: there is no uncertainty then.
	NCE float64 `json:"nce"`
}

// Bin is the units with a confidence from Low up to, and without, High; the last bin has 1 too.
type Bin struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Units      int     `json:"units"`
	Confidence float64 `json:"confidence"` // mean; 0 without units
	Right      float64 `json:"right"`      // share; 0 without units
}

// NewReliability sorts units into bins, at least 1.
func NewReliability(units []Judged, bins int) *Reliability {
	r := &Reliability{Bins: make([]Bin, max(bins, 1)), Units: len(units)}
	n := float64(len(r.Bins))
	for i := range r.Bins {
		r.Bins[i].Low, r.Bins[i].High = float64(i)/n, float64(i+1)/n
	}
	entropy := 0.0
	for _, u := range units {
		c := 0.0 // also of what is no number
		if u.Confidence > 0 {
			c = min(u.Confidence, 1)
		}
		b := &r.Bins[min(int(c*n), len(r.Bins)-1)]
		b.Units++
		b.Confidence += c
		if !u.Right {
			c = 1 - c
		} else {
			b.Right++
			r.Right++
		}
		entropy -= math.Log(max(c, 1e-12)) // one that is surely wrong would make it infinite
	}
	for i := range r.Bins {
		b := &r.Bins[i]
		r.ECE += math.Abs(b.Confidence-b.Right) / float64(max(len(units), 1))
		b.Confidence /= float64(max(b.Units, 1))
		b.Right /= float64(max(b.Units, 1))
	}
	if right, all := r.Right, float64(len(units)); right > 0 && right < all {
		base := -right*math.Log(right/all) - (all-right)*math.Log(1-right/all)
		r.NCE = 1 - entropy/base
	}
	r.Right /= float64(max(len(units), 1))
	return r
}

// String is a table.
func (r *Reliability) String() string {
	var b strings.Builder
	b.WriteString("confidence    units    mean   right\n")
	for _, x := range r.Bins {
		if x.Units > 0 {
			fmt.Fprintf(&b, "%.2f - %.2f %8d  %.4f  %.4f\n", x.Low, x.High, x.Units, x.Confidence, x.Right)
		}
	}
	fmt.Fprintf(&b, "%d units, %.2f %% right, expected calibration error %.4f, normalized cross entropy %.4f", r.Units, 100*r.Right, r.ECE, r.NCE)
	return b.String()
}
