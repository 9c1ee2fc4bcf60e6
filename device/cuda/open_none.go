//go:build !gpu

package cuda

import "fmt"

var errNotBuilt = fmt.Errorf("%w: build it with make gpu", ErrNoSupport)

// Open says that this build can't.
func Open(Options) (Card, error) { return nil, errNotBuilt }

// Available says that this build can't tell.
func Available(Options) ([]Info, error) { return nil, errNotBuilt }

// Processes says that this build can't tell.
func Processes(Options) ([]Process, error) { return nil, errNotBuilt }
