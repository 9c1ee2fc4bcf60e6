package main

import (
	"testing"

	"konkanitrain/recognize"
)

// A model that training has calibrated says so, and on how much.
func TestInfoOfConfidences(t *testing.T) {
	a := about{Score: &recognize.Evaluation{Confidences: &recognize.Confidences{Words: 312, Calibration: &recognize.Calibration{Slope: 1.5, Offset: -0.25}}}}
	if got, want := a.confidences(), "calibrated on 312 words (slope 1.5000, offset -0.2500) of the validation set, in greedy decoding"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
