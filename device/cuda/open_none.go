//go:build !gpu

package cuda

import "fmt"

// Open says that this build can't.
func Open(Options) (Card, error) {
	return nil, fmt.Errorf("%w: build it with make gpu", ErrNoSupport)
}
