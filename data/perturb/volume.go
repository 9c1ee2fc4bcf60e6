package perturb

import (
	"fmt"
	"math"

	"konkanitrain/internal/philox"
)

// Volume is a gain in dB, as it was drawn.
type Volume float64

// DrawVolume draws a gain, uniform from -most to most dB.
func DrawVolume(s *philox.Stream, most float64) Volume { return Volume(most * (2*s.Float64() - 1)) }

// String is the gain: "volume +4.2 dB".
func (v Volume) String() string { return fmt.Sprintf("volume %+.1f dB", float64(v)) }

// Volume makes x louder or softer, and clips what is beyond full scale, as a recorder does.
func (c *Changer) Volume(x []float32, v Volume) {
	gain := float32(math.Pow(10, float64(v)/20))
	for i := range x {
		x[i] = max(-1, min(gain*x[i], 1))
	}
}
