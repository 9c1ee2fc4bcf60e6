package update

// EMADecay is how much of the averages of the weights stays at update t = 1, 2, ...: min(decay, (1+t)/(10+t)). While
// there were few updates it is less than decay, so that the start values are forgotten soon (the warm-up of
// TensorFlow's ExponentialMovingAverage with num_updates).
func EMADecay(decay float64, t int) float64 {
	return min(decay, float64(1+t)/float64(10+t))
}
