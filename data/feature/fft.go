package feature

import "konkanitrain/data/fft"

// realFFT computes power spectra of real frames whose length is a power of two, 8 or
// more. A frame of n is taken as n/2 complex numbers, transformed, and unfolded.
type realFFT struct {
	n      int          // frame length
	a, b   []complex128 // n/2 each; the transform goes back and forth between them
	plan   *fft.Plan
	unfold []complex128 // exp(-2 pi i k/n), k < n/2
}

func newRealFFT(n int) *realFFT {
	f := &realFFT{n: n, a: make([]complex128, n/2), b: make([]complex128, n/2), plan: fft.New(n / 2), unfold: make([]complex128, n/2)}
	for k := range f.unfold {
		f.unfold[k] = fft.Unit(k, n)
	}
	return f
}

// power writes |X[k]|^2 for k < n/2 (the Nyquist bin carries no mel weight) of the
// real frame whose even and odd samples are the real and imaginary parts of f.a.
func (f *realFFT) power(dst []float64) {
	x := f.plan.Transform(f.a, f.b)
	half := len(x)
	// X[k] = E + w O with E = (Z[k] + conj Z[-k])/2 and O = (Z[k] - conj Z[-k])/2i; bins k
	// and n/2-k share them: X[n/2-k] = conj(E - w O).
	dst = dst[:half]
	d := real(x[0]) + imag(x[0])
	dst[0] = d * d
	x, w := x[:half], f.unfold[:half]
	for k, j := 1, half-1; k <= j; k, j = k+1, j-1 {
		zr, zi, cr, ci := real(x[k]), imag(x[k]), real(x[j]), -imag(x[j])
		er, ei := 0.5*(zr+cr), 0.5*(zi+ci)
		or, oi := 0.5*(zi-ci), 0.5*(cr-zr)
		wr, wi := real(w[k]), imag(w[k])
		tr, ti := wr*or-wi*oi, wr*oi+wi*or
		pr, pi := er+tr, ei+ti
		mr, mi := er-tr, ei-ti
		dst[k] = pr*pr + pi*pi
		dst[j] = mr*mr + mi*mi
	}
}
