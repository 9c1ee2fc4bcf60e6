package text_test

import (
	"testing"

	"konkanitrain/data/text"
	"konkanitrain/op"
)

// The network's ops and the vocabulary know the same two special tokens, and neither package imports the other.
func TestSpecialTokensAreTheOps(t *testing.T) {
	if text.Blank != op.Blank || text.SosEos != op.SosEos {
		t.Errorf("blank is %d and sos/eos %d here, %d and %d to the ops", text.Blank, text.SosEos, op.Blank, op.SosEos)
	}
}
