package op_test

import (
	"testing"

	"konkanitrain/internal/ptx"
)

// Every .ptx file is what its .cu file, with the headers, was compiled to. It needs no compiler to tell.
func TestPTXIsFresh(t *testing.T) {
	complaints, err := ptx.Stale(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range complaints {
		t.Errorf("%s: run make ptx", c)
	}
}
