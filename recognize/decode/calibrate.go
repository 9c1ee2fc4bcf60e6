package decode

import (
	"errors"
	"fmt"
	"math"
)

// Judged is a word, or another unit, with its confidence, and whether it was right.
type Judged struct {
	Confidence float64
	Right      bool
}

// Calibration turns confidences into probabilities of being right, and keeps their order: p = 1/(1 + exp(-(Slope
// logit(c) + Offset))), where logit(c) = log(c/(1-c)) (Platt, "Probabilistic outputs for support vector machines",
// 1999; 1/Slope is the temperature of Guo et al., "On calibration of modern neural networks", ICML 2017). With Slope 1
// and Offset 0 it changes nothing.
type Calibration struct {
	Slope  float64 `json:"slope"` // 0 or more
	Offset float64 `json:"offset"`
}

// Unchanged is the calibration that leaves confidences as they are measured.
var Unchanged = Calibration{Slope: 1}

// fewest is the number of units from which a calibration is made. Some have to be right and some wrong.
const fewest = 20

// Calibrate finds the calibration under which what was judged is likeliest. Where confidences say nothing, or the
// opposite of what they should, the slope is 0: all get the share that is right.
func Calibrate(units []Judged) (Calibration, error) {
	right := 0.0
	for i, u := range units {
		if !(u.Confidence >= 0 && u.Confidence <= 1) {
			return Calibration{}, fmt.Errorf("calibration: the confidence of unit %d is %v, want 0 to 1", i+1, u.Confidence)
		}
		if u.Right {
			right++
		}
	}
	n := float64(len(units))
	if n < fewest || right == 0 || right == n {
		return Calibration{}, fmt.Errorf("calibration: of %d recognized words %.0f are right and %.0f wrong, and it takes %d, some right and some wrong", len(units), right, n-right, fewest)
	}
	p := platt{units: units, right: (right + 1) / (right + 2), wrong: 1 / (n - right + 2)}
	c, err := p.fit(Calibration{Offset: math.Log((right + 1) / (n - right + 1))})
	if err == nil && c.Slope < 0 {
		c = Calibration{Offset: math.Log(right / (n - right))}
	}
	return c, err
}

// Apply is the probability that a unit of this confidence is right.
func (c Calibration) Apply(confidence float64) float64 {
	if c == Unchanged { // also of those at the edges
		return confidence
	}
	return 1 / (1 + math.Exp(-c.Slope*logit(confidence)-c.Offset))
}

// logit is log(c/(1-c)), of confidences at most a millionth from 0 and 1.
func logit(c float64) float64 {
	const edge = 1e-6
	c = min(max(c, edge), 1-edge)
	return math.Log(c / (1 - c))
}

// platt is the problem: minimize the cross entropy between probabilities and targets. The targets are a little less
// sure than what was judged, as Platt has them, so that there is a minimum where a threshold tells all right from all
// wrong.
type platt struct {
	units        []Judged
	right, wrong float64 // targets
}

func (p *platt) target(u Judged) float64 {
	if u.Right {
		return p.right
	}
	return p.wrong
}

// loss is the cross entropy, in nats for all units together.
func (p *platt) loss(c Calibration) (sum float64) {
	for _, u := range p.units {
		x := c.Slope*logit(u.Confidence) + c.Offset
		sum += math.Max(x, 0) - x*p.target(u) + math.Log1p(math.Exp(-math.Abs(x)))
	}
	return sum
}

// fit is Newton's method, its steps halved until they are downhill: the loss is convex.
func (p *platt) fit(c Calibration) (Calibration, error) {
	now := p.loss(c)
	for range 100 {
		var g0, g1, h00, h01, h11 float64 // gradient and second derivatives by slope and offset
		for _, u := range p.units {
			x := logit(u.Confidence)
			q := c.Apply(u.Confidence)
			d, w := q-p.target(u), q*(1-q)
			g0, g1 = g0+d*x, g1+d
			h00, h01, h11 = h00+w*x*x, h01+w*x, h11+w
		}
		h00, h11 = h00+1e-10, h11+1e-10 // all confidences may be the same
		det := h00*h11 - h01*h01
		step := Calibration{(h11*g0 - h01*g1) / det, (h00*g1 - h01*g0) / det}
		for size := 1.0; ; size /= 2 {
			next := Calibration{c.Slope - size*step.Slope, c.Offset - size*step.Offset}
			if loss := p.loss(next); loss < now {
				c, now = next, loss
				break
			}
			if size < 1e-10 {
				return c, nil // nothing near is lower
			}
		}
	}
	return c, errors.New("calibration: no minimum was found in 100 steps")
}
