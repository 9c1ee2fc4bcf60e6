package feature

import (
	"fmt"
	"math"
	"strconv"

	"konkanitrain/internal/philox"
	"konkanitrain/internal/words"
)

const (
	leastVTLP = 1. / vtlpSteps // less would change nothing
	mostVTLP  = 0.5
	vtlpSteps = 1000  // a factor is a multiple of 1/vtlpSteps
	formantHz = 4800. // below which the formants lie that tell sounds apart, as in the paper
	formantOf = 0.6   // most of the Nyquist frequency that formantHz may be: what it is at 16 kHz
)

// Warp is the factor by which the frequencies of the key's utterance are multiplied, 1 for none: vocal tract length
// perturbation (Jaitly and Hinton, "Vocal tract length perturbation (VTLP) improves speech recognition", ICML workshop
// 2013). It is uniform from 1-VTLP to 1+VTLP, rounded to a thousandth. A factor above 1 is a shorter vocal tract.
func (a *Augment) Warp(key uint64) float64 {
	if a == nil || a.VTLP == 0 {
		return 1
	}
	u := 2*philox.NewStream(key, siteVTLP).Float64() - 1
	return 1 + math.Round(u*a.VTLP*vtlpSteps)/vtlpSteps
}

// CheckWarps is an error where a factor that an utterance may have leaves a mel filter of the features without any FFT
// bin: it would be at the floor for any sound. Both must have passed Validate.
func (a *Augment) CheckWarps(o Options) error {
	if a == nil || a.VTLP == 0 {
		return nil
	}
	b := newFilterBank(o)
	most := int(math.Round(a.VTLP * vtlpSteps))
	for k := -most; k <= most; k++ {
		factor := 1 + float64(k)/vtlpSteps
		b.fill(o, newWarp(factor, o.SampleRate))
		if empty := b.empty(); len(empty) > 0 {
			return fmt.Errorf("vtlp is %v: with frequencies times %s, mel filters %s of %d catch no bin of the %d-point FFT at %d Hz; "+
				"use a smaller vtlp, or fewer bins (num_mels)", a.VTLP, strconv.FormatFloat(factor, 'f', -1, 64),
				words.List(numerals(empty), 10), o.NumMels, fftSize(o.SampleRate), o.SampleRate)
		}
	}
	return nil
}

// warp is a map of the frequencies from 0 to the Nyquist frequency onto themselves: times the factor up to the knee,
// and from there linear to the Nyquist frequency, which stays (Jaitly and Hinton 2013, section 3).
type warp struct{ factor, knee, nyquist float64 }

var unwarped = warp{factor: 1}

func newWarp(factor float64, rate int) warp {
	nyquist := float64(rate) / 2
	return warp{factor, min(formantHz, formantOf*nyquist) * min(factor, 1) / factor, nyquist}
}

// hz is what a frequency becomes, both in Hz.
func (w warp) hz(f float64) float64 {
	switch {
	case w.factor == 1:
		return f
	case f <= w.knee:
		return w.factor * f
	}
	return w.nyquist - (w.nyquist-w.factor*w.knee)/(w.nyquist-w.knee)*(w.nyquist-f)
}
