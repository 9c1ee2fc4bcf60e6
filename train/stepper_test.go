package train

import (
	"testing"

	"konkanitrain/model"
)

// stepNet has every kind of operation, and is small.
var stepNet = model.Config{
	DModel: 32, Heads: 2, EncoderLayers: 2, DecoderLayers: 1, ConvKernel: 7, Subsampling: 4, SubsampleChannels: 8, NumMels: 40,
	Vocab: 30, Dropout: 0.1, CTCWeight: 0.3, LabelSmoothing: 0.1,
}

// TestStepAllocatesNothing: after the first one, a whole step (dealing, forward, backward, sum, norm, AdamW) leaves
// Go's heap alone.
func TestStepAllocatesNothing(t *testing.T) {
	for _, half := range []bool{false, true} {
		s, err := NewStepper(stepNet, 4, 120, 12, 2, half)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		step := func() {
			if _, err := s.Step(); err != nil {
				t.Fatal(err)
			}
		}
		step()
		if n := testing.AllocsPerRun(20, step); n != 0 {
			t.Errorf("fp16 storage %v: %v allocations a step, want 0", half, n)
		}
	}
}

// TestStepLearns: the loss of utterances that come again and again falls.
func TestStepLearns(t *testing.T) {
	s, err := NewStepper(stepNet, 4, 120, 12, 2, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	first, last := 0.0, 0.0
	for i := range 200 {
		loss, err := s.Step()
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = loss
		}
		last = loss
	}
	if !(last < 0.8*first) {
		t.Errorf("the loss goes from %.2f to %.2f nats in 200 steps", first, last)
	}
}
