package optest

import (
	"testing"

	"konkanitrain/op"
)

func TestCases(t *testing.T) {
	for _, c := range Cases() {
		Run(t, op.CPU, c)
	}
}
