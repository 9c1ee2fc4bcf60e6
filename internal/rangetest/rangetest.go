// Package rangetest finds a learning rate by a range test (Smith 2017, "Cyclical learning rates for training neural
// networks", section 3.3): in a short training the rate rises, here exponentially, from one that changes nothing to one
// that destroys all, and the loss tells which rates a network learns with. The package says which rate comes when and
// when the test is over, judges the losses, and shows them as text, as JSON and as a page; who trains is none of its
// business.
package rangetest

import "math"

// The rates of a test: as many updates, the first and the last of which have these rates.
const (
	Updates = 200
	First   = 1e-6
	Last    = 1.
)

// Rate is the learning rate of an update of the test, from 1 to Updates.
func Rate(update int) float64 {
	return First * math.Pow(Last/First, float64(update-1)/(Updates-1))
}

// Point is what an update has come to.
type Point struct {
	Rate  float64
	Loss  float64 // nats, summed over the utterances; finite
	Audio float64 // seconds of sound in them, more than 0
}

// Test is a test in progress. The zero value is one that begins.
type Test struct {
	Points []Point // of the updates made

	loss, audio float64 // sums with weights that fall by keep with each update
	best        float64 // the lowest mean of enough updates, nats per second
}

const (
	keep   = 0.96 // of the weight of an update in the mean with each further one
	factor = 4    // times the lowest mean, from which on the loss doesn't come back
	enough = 40   // updates, from which on a mean counts
	fewest = 20   // updates that anything can be said of
)

// near is of the weight of an update in the smoothed curve with each update that it is away. The curve is judged when
// the test is over, and so it can be a mean over more of them.
const near = 0.92

// Add takes the next update, and says whether the loss is far above its best: the mean of the last updates, whose
// weights fall by 0.04 with each further one, is four times the lowest such mean. It is a mean over sound, for
// windows hold utterances of different lengths, and so of the updates there are: the first is no other than the rest.
// Means of few updates don't count: with weights that have learned, losses of single windows are ten times others.
func (t *Test) Add(p Point) (diverged bool) {
	const least = 1e-9 // nats per second: losses are drawn and compared by their logarithms, and 0 has none
	p.Loss = max(p.Loss, least*p.Audio)
	t.Points = append(t.Points, p)
	t.loss, t.audio = keep*t.loss+p.Loss, keep*t.audio+p.Audio
	mean := t.loss / t.audio
	if n := len(t.Points); n <= enough || mean < t.best {
		t.best = mean
	}
	return mean > factor*t.best
}

// smooth are the losses in nats per second, each the mean over the updates around it, whose weights fall by a twelfth
// with each update that they are away. Looking both ways, such a mean comes neither early nor late.
func smooth(points []Point) []float64 {
	loss, audio := make([]float64, len(points)), make([]float64, len(points))
	for _, backward := range []bool{false, true} {
		l, a := 0., 0.
		for i := range points {
			if backward {
				i = len(points) - 1 - i
			}
			p := points[i]
			l, a = near*l+p.Loss, near*a+p.Audio
			loss[i], audio[i] = loss[i]+l, audio[i]+a
			if backward { // the update itself is in both sums
				loss[i], audio[i] = loss[i]-p.Loss, audio[i]-p.Audio
			}
		}
	}
	for i := range loss {
		loss[i] /= audio[i]
	}
	return loss
}
