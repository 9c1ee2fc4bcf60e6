//go:build !gpu

package op

// Modules are none: this build opens no card.
func Modules() map[string][]byte { return nil }
