package feature

import (
	"math"

	"konkanitrain/internal/onnx"
)

// What an Extractor computes, as nodes of an ONNX graph. They compute with float64, as it does.

// ONNXLogMel adds log-mel energies [B, T, bins] float64 of samples [B, N] float32 from -1 to 1 at o.SampleRate, and the
// number of frames of each utterance, [B] int64. lengths [B] int64 are in samples, N is 1 or more. There is no
// resampling.
func (o Options) ONNXLogMel(b *onnx.Builder, samples, lengths string) (logmel, frames string) {
	size, shift := int64(windowSize(o.SampleRate)), int64(o.SampleRate/100)
	count := func(n string) string { // frames.Count
		return b.Node("Div", []string{b.Node("Add", []string{n, b.Int(shift / 2)}), b.Int(shift)})
	}
	first := shift/2 - size/2                                         // the first sample of the first window
	t := b.Node("Max", []string{count(b.Size(samples, 1)), b.Int(1)}) // runtimes have no convolution over nothing
	wave := o.onnxReflected(b, samples, lengths, first, b.Node("Mul", []string{t, b.Int(shift)}))
	// Window i begins at sample i*shift of what is reflected.
	starts := b.Node("Mul", []string{b.Node("Range", []string{b.Int(0), t, b.Int(1)}), b.Int(shift)})
	within := b.Node("Range", []string{b.Int(0), b.Int(size), b.Int(1)})
	at := b.Node("Add", []string{b.Unsqueeze(starts, 1), b.Unsqueeze(within, 0)})
	x := b.Cast(b.Node("Gather", []string{wave, at}, onnx.Set("axis", int64(1))), onnx.Double)
	x = b.Node("Sub", []string{x, b.Node("ReduceMean", []string{x}, onnx.Set("axes", []int64{2}))})
	slice := func(from, to int64) string { return b.Node("Slice", []string{x, b.Ints(from), b.Ints(to), b.Ints(2)}) }
	before := b.Node("Concat", []string{slice(0, 1), slice(0, size-1)}, onnx.Set("axis", int64(2)))
	x = b.Node("Sub", []string{x, b.Node("Mul", []string{before, b.Double(Preemphasis)})})
	re, im := o.dft()
	half := int64(fftSize(o.SampleRate) / 2)
	square := func(m []float64) string {
		y := b.Node("MatMul", []string{x, b.Doubles([]int64{size, half}, m...)})
		return b.Node("Mul", []string{y, y})
	}
	power := b.Node("Add", []string{square(re), square(im)})
	energy := b.Node("MatMul", []string{power, b.Doubles([]int64{half, int64(o.NumMels)}, o.triangles()...)})
	return b.Node("Log", []string{b.Node("Max", []string{energy, b.Double(LogFloor)})}), count(lengths)
}

// onnxReflected adds the wave [B, size of a window + span] whose first sample is number first of each utterance's own:
// outside of it, it is mirrored again and again, as by reflect.
func (o Options) onnxReflected(b *onnx.Builder, samples, lengths string, first int64, span string) string {
	n := b.Unsqueeze(b.Node("Max", []string{lengths, b.Int(1)}), 1)
	end := b.Node("Add", []string{span, b.Int(first + int64(windowSize(o.SampleRate)))})
	at := b.Unsqueeze(b.Node("Range", []string{b.Int(first), end, b.Int(1)}), 0)
	twice := b.Node("Mul", []string{n, b.Int(2)})
	at = b.Node("Mod", []string{at, twice})
	back := b.Node("Sub", []string{b.Node("Sub", []string{twice, b.Int(1)}), at})
	at = b.Node("Min", []string{at, back}) // the one that is below n
	return b.Node("GatherElements", []string{samples, at}, onnx.Set("axis", int64(1)))
}

// dft is the discrete Fourier transform of a window's samples, windowed and scaled: matrices [size, half], half being
// that of the FFT's size, of the real and the imaginary part of each frequency but that of Nyquist.
func (o Options) dft() (re, im []float64) {
	size, n := windowSize(o.SampleRate), fftSize(o.SampleRate)
	for i := range size {
		w := o.SampleScale * povey(i, size)
		for k := range n / 2 {
			sin, cos := math.Sincos(2 * math.Pi * float64(i*k%n) / float64(n))
			re, im = append(re, w*cos), append(im, -w*sin)
		}
	}
	return re, im
}

// triangles are the mel filters as a matrix [half, bins].
func (o Options) triangles() []float64 {
	b := newFilterBank(o)
	b.fill(o, unwarped)
	m := make([]float64, fftSize(o.SampleRate)/2*o.NumMels)
	for bin, f := range b.filters {
		for i, w := range f.weights {
			m[(f.start+i)*o.NumMels+bin] = w
		}
	}
	return m
}

// ONNXNormalized adds the features [B, T, bins] float32 that the network hears, made of log-mel energies [B, T, bins]
// float64, of which lengths [B] int64 are each utterance's own.
func (o Options) ONNXNormalized(b *onnx.Builder, logmel, lengths string) string {
	row := []int64{1, 1, int64(o.NumMels)}
	x := logmel
	switch o.Normalize {
	case Global:
		x = b.Node("Div", []string{b.Node("Sub", []string{x, b.Doubles(row, o.Stats.Mean...)}), b.Doubles(row, o.Stats.Deviation...)})
	case PerUtterance:
		n := b.Unsqueeze(b.Cast(b.Node("Max", []string{lengths, b.Int(1)}), onnx.Double), 1, 2)
		mean := func(x string) string { // over an utterance's own frames
			own := b.Masked(x, lengths, 1, 3, b.Double(0))
			return b.Node("Div", []string{b.Node("ReduceSum", []string{own, b.Ints(1)}), n})
		}
		x = b.Node("Sub", []string{x, mean(x)})
		deviation := b.Node("Sqrt", []string{mean(b.Node("Mul", []string{x, x}))})
		x = b.Node("Div", []string{x, b.Node("Max", []string{deviation, b.Double(DeviationFloor)})})
	}
	return b.Cast(x, onnx.Float)
}
