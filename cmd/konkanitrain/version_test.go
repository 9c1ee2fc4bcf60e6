package main

import (
	"strings"
	"testing"
)

// A test's program has no version, and says so in words.
func TestBuildText(t *testing.T) {
	if s := buildText(); !strings.HasPrefix(s, "konkanitrain development version") || !strings.Contains(s, "CPU kernels ") {
		t.Error(s)
	}
}
