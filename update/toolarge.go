package update

import "fmt"

// TooLarge is the error of an utterance for which there is not enough memory even alone in a micro-batch, with
// everything computed again that can be.
type TooLarge struct {
	ID      string
	Seconds float64 // of sound
	Need    int64   // bytes of a worker's arena
	Room    int64   // bytes that it may have
	Err     error   // what the memory was lacking for; nil where it was known beforehand that it would
}

// Error says what it takes and what there is.
func (e *TooLarge) Error() string {
	return fmt.Sprintf("%s (%.1f s): a pass over it alone takes %d bytes, and a worker can have %d", e.ID, e.Seconds, e.Need, e.Room)
}

// Unwrap is what the memory was lacking for.
func (e *TooLarge) Unwrap() error { return e.Err }
