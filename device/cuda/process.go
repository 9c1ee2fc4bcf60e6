package cuda

// Process is a process that has memory of a card.
type Process struct {
	PID   int
	Name  string // of its program; "" where the system doesn't say
	Bytes int64  // of the card's memory; -1 where the driver doesn't say
}
