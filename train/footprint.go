package train

import "konkanitrain/data"

// footprint is the most that the process of a run takes beyond what an idle one does, in bytes, by part. It is known
// once the replica is prepared and its programs are compiled. What an idle process has, pages of the program's file for
// the most part, comes on top.
type footprint struct {
	Buffers  int64 // of the device: weights, gradients, moments and arenas
	Held     int64 // in use on Go's heap now: sets, programs, workspaces
	Machines int64 // programs bound to memory
	Loaders  data.Memory
	Headroom int64 // of Go's heap: garbage until it is collected
	Runtime  int64 // stacks, and what the Go runtime needs itself
}

// Total is the sum.
func (f footprint) Total() int64 {
	return f.Buffers + f.Held + f.Machines + f.Loaders.Total() + f.Headroom + f.Runtime
}

// footprint foresees what the run will take. Buffers of all loaders count, since they stay when a validation is over.
// It gives garbage back first, so that what is in use is known.
func (r *run) footprint() footprint {
	r.replica.Trim()
	f := footprint{Buffers: r.memory.Usage().Allocated}
	loaders := []*data.Loader{r.sets.loader}
	for _, s := range []*scored{r.sets.val, r.sets.test} {
		if s != nil {
			loaders = append(loaders, s.loader)
		}
	}
	for _, l := range loaders {
		m := l.Memory()
		f.Loaders.Sound += m.Sound
		f.Loaders.Windows += m.Windows
		f.Loaders.Scratch += m.Scratch
	}
	if host, ok := r.replica.(interface{ MachineBytes() int64 }); ok {
		f.Machines = host.MachineBytes()
	}
	now := goMemoryNow()
	then := now.planned(f.Machines + f.Loaders.Total())
	f.Held, f.Headroom, f.Runtime = now.Live, then.Headroom, then.Stacks+then.Overhead
	return f
}
