package perturb

import (
	"fmt"
	"math"

	"konkanitrain/internal/philox"
)

// Shift is how much later a sound is made to begin, in seconds, as it was drawn; a negative one makes it earlier.
type Shift float64

// mostShifted is the most that an utterance is shifted, as a share of it: of a short one more would be lost than an
// edge.
const mostShifted = 0.1

// DrawShift draws a shift, uniform from -most to most seconds.
func DrawShift(s *philox.Stream, most float64) Shift { return Shift(most * (2*s.Float64() - 1)) }

// String is the shift: "12 ms later".
func (s Shift) String() string {
	direction := "later"
	if s < 0 {
		s, direction = -s, "earlier"
	}
	return fmt.Sprintf("%.0f ms %s", 1000*float64(s), direction)
}

// Shift moves x in time, by a tenth of it at most, and leaves it as long as it was: what goes beyond one end is lost,
// and silence comes in at the other.
func (c *Changer) Shift(x []float32, s Shift) {
	most := mostShifted * float64(len(x))
	switch n := int(math.Round(max(-most, min(float64(s)*float64(c.rate), most)))); {
	case n > 0:
		copy(x[n:], x)
		clear(x[:n])
	case n < 0:
		copy(x, x[-n:])
		clear(x[len(x)+n:])
	}
}
