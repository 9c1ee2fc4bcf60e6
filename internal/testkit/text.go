package testkit

import (
	"strings"
	"testing"
)

// MustContain holds a text to what it has to say.
func MustContain(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("it doesn't say %q:\n%s", p, text)
		}
	}
}

// MustFail holds an error to what it has to say.
func MustFail(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	MustContain(t, err.Error(), parts...)
}
