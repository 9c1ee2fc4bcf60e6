package cuda

import (
	"math"
	"strings"
	"testing"
)

// A size that no int32 holds is refused where a launch is checked: it would be another number on the card.
func TestSizesAreInt32(t *testing.T) {
	for i, fits := range map[int]bool{math.MinInt32: true, -1: true, math.MaxInt32: true, math.MaxInt32 + 1: false, math.MinInt32 - 1: false} {
		l := Launch{Kernel: "relu_f32", Block: 256, Args: []Arg{Int(7), Int(i)}}
		if err := l.Check(); (err == nil) != fits || err != nil && !strings.Contains(err.Error(), "relu_f32: a size") {
			t.Errorf("%d: %v", i, err)
		}
	}
}
