package simulated

import "testing"

func TestBuild(t *testing.T) {
	l := Build(t, Options{})
	t.Log(l)
}
