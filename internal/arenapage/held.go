package arenapage

// Holding is what one kind of buffers holds over the steps of a program.
type Holding struct {
	Name  string  // "encoder attention"
	Kind  int     // the number of its color in page.Parts
	Bytes []int64 // in each stretch of the program
}

// Holdings divides a program's steps into at most so many stretches, as long as each other, and says who holds what in
// each at the step of it with most memory in use. Kinds that hold nothing are left out.
func (p Program) Holdings(most int) []Holding {
	live := p.live()
	n := min(len(live), most)
	at := make([]int, n) // the step of each stretch that is shown
	for i := range at {
		from, to := i*len(live)/n, (i+1)*len(live)/n
		at[i] = from + peak(live[from:to])
	}
	held := make([]Holding, len(kinds))
	for k := range held {
		held[k] = Holding{kinds[k].name, k, make([]int64, n)}
	}
	for _, b := range p.Buffers {
		bytes := held[b.kind()].Bytes
		for i, step := range at {
			if b.First <= step && step <= b.Last {
				bytes[i] += b.Size
			}
		}
	}
	var some []Holding
	for _, h := range held {
		for _, bytes := range h.Bytes {
			if bytes > 0 {
				some = append(some, h)
				break
			}
		}
	}
	return some
}
