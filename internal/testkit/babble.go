package testkit

import (
	"math"
	"math/rand/v2"
)

// Babble is sound that is to a text what speech is, as samples of 16 bits at a rate in Hz: for each character about
// 80 ms of a tone with overtones of its own, a pause for each space, a little silence with noise at both ends. Voices
// differ in pitch, pace and noise.
func Babble(text string, voice uint64, rate int) []int {
	random := rand.New(rand.NewPCG(voice, uint64(len(text))))
	voices := rand.New(rand.NewPCG(voice, 0))
	pitch, pace := 0.8+0.4*voices.Float64(), 0.9+0.2*voices.Float64()
	var x []int
	add := func(seconds, loud, tone float64) {
		n := int(seconds * float64(rate))
		for i := range n {
			t := float64(i) / float64(rate)
			shape := math.Sin(math.Pi * float64(i) / float64(n))
			v := 20 * random.NormFloat64()
			v += loud * shape * (math.Sin(2*math.Pi*tone*t) + 0.4*math.Sin(2*math.Pi*2.7*tone*t))
			x = append(x, int(v))
		}
	}
	add(0.05, 0, 0)
	for _, r := range text {
		if r == ' ' {
			add(0.1*pace, 0, 0)
			continue
		}
		add(0.08*pace*(0.8+0.4*random.Float64()), 4000+5000*random.Float64(), pitch*(150+37*float64(r%41)))
	}
	add(0.05, 0, 0)
	return x
}
