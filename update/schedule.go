package update

import (
	"fmt"
	"math"
)

// Schedule is the learning rate of each update of a run: a function of the update's number alone. All kinds rise to
// Peak at update Warmup; those with an end (see [Schedule.Ends]) come to their last rate at update Total and keep it
// behind that. With a Warmup beyond Total such a schedule ends while it rises.
type Schedule struct {
	Kind   string  `json:"kind"` // Noam (as is ""), Cosine, Linear, OneCycle or Constant
	Peak   float64 `json:"peak"`
	Warmup int     `json:"warmup"`          // updates until the peak, 1 or more
	Total  int     `json:"total,omitempty"` // updates of the whole run, where the kind has an end
	Final  float64 `json:"final,omitempty"` // share of Peak at which Cosine and Linear end
}

// The kinds, with t the number of the update, w = Warmup, and x = (t-w)/(Total-w) the share of the way down that is
// behind it. But for OneCycle the way up is linear: lr(t) = Peak t/w.
const (
	// Noam falls with the square root (Vaswani et al. 2017, section 5.3, rescaled so that its peak is stated):
	// lr(t) = Peak min(t/w, sqrt(w/t)).
	Noam = "noam"
	// Cosine falls by half a cosine (Loshchilov and Hutter 2017, "SGDR", equation 5, without restarts):
	// lr(t) = Peak (Final + (1-Final) (1 + cos(pi x))/2).
	Cosine = "cosine"
	// Linear falls by the same amount with each update: lr(t) = Peak (Final + (1-Final) (1-x)).
	Linear = "linear"
	// OneCycle rises by half a cosine from Peak/25 at update 1, and falls by half a cosine to Peak/250,000 (Smith and
	// Topin 2018, "Super-convergence"; half cosines and both divisors as PyTorch's OneCycleLR has them). Only the rate
	// is cycled: the momentum, AdamW's beta 1, stays.
	OneCycle = "one_cycle"
	// Constant stays at the peak.
	Constant = "constant"
)

// Where OneCycle begins and ends, as shares of the peak.
const (
	cycleFirst = 1. / 25
	cycleLast  = cycleFirst / 1e4
)

// Ends says whether the schedule comes to its end at update Total.
func (s Schedule) Ends() bool {
	return s.Kind == Cosine || s.Kind == Linear || s.Kind == OneCycle
}

// String says where the rate stands, as "cosine, peak 0.001 at update 60, 0 at update 600".
func (s Schedule) String() string {
	switch {
	case s.Ends() && s.Warmup >= s.Total:
		return fmt.Sprintf("%s, rising to %.3g at update %d", s.Kind, s.Rate(s.Total), s.Total)
	case s.Ends():
		return fmt.Sprintf("%s, peak %g at update %d, %.3g at update %d", s.Kind, s.Peak, s.Warmup, s.Rate(s.Total), s.Total)
	case s.Kind == Constant:
		return fmt.Sprintf("%s, %g from update %d on", s.Kind, s.Peak, s.Warmup)
	}
	return fmt.Sprintf("%s, peak %g at update %d", s.Kind, s.Peak, s.Warmup)
}

// Rate is the learning rate of an update, which are counted from 1.
func (s Schedule) Rate(update int) float64 {
	if s.Ends() {
		update = min(update, s.Total)
	}
	t, w := float64(update), float64(s.Warmup)
	left := (float64(s.Total) - t) / (float64(s.Total) - w) // of the way down: 1-x
	switch rises := update <= s.Warmup; {
	case s.Kind == OneCycle && s.Warmup == 1 && rises:
		return s.Peak
	case s.Kind == OneCycle && rises:
		return s.Peak * between(cycleFirst, 1, halfCosine((w-t)/(w-1)))
	case s.Kind == OneCycle:
		return s.Peak * between(1, cycleLast, halfCosine(left))
	case s.Kind == Cosine && !rises:
		return s.Peak * between(1, s.Final, halfCosine(left))
	case s.Kind == Linear && !rises:
		return s.Peak * between(1, s.Final, left)
	case s.Kind == Noam || s.Kind == "":
		return s.Peak * min(t/w, math.Sqrt(w/t))
	}
	return s.Peak * min(t/w, 1)
}

// between goes from one value to another, of which way a share is left: exactly the first at 1, and the other at 0.
func between(from, to, left float64) float64 { return from*left + to*(1-left) }

// halfCosine is what is left of a way along half a cosine, of whose time a share is left: 1 at 1, and 0 at 0.
func halfCosine(left float64) float64 { return (1 - math.Cos(math.Pi*left)) / 2 }
