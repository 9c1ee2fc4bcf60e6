package train

import (
	"fmt"
	"runtime/debug"
	"strings"

	"konkanitrain/data"
	"konkanitrain/internal/machine"
	"konkanitrain/internal/words"
	"konkanitrain/recognize"
)

// held is the most that the process of a run will hold beside its buffers, in bytes, by part. It is known once the
// programs of the run are compiled.
type held struct {
	Base     int64 // pages of the program's file, and what the system adds to any process
	Heap     int64 // in use on Go's heap now: sets, programs, workspaces, tables of constants
	Machines int64 // programs bound to memory
	Loaders  data.Memory
	Headroom int64 // of Go's heap: garbage until it is collected
	Runtime  int64 // stacks, and what the Go runtime needs itself
	Reading  int64 // of texts and confidences, out of what the network says in a validation
	Watching int64 // what shows the run to other programs
}

// parts are the figures by name.
func (h held) parts() []part {
	return []part{
		{"the program itself", h.Base}, {"Go heap in use", h.Heap + h.Machines}, {"decoded sound", h.Loaders.Sound},
		{"windows read ahead", h.Loaders.Windows}, {"scratch of the loaders", h.Loaders.Scratch}, {"Go heap's headroom", h.Headroom},
		{"Go runtime", h.Runtime}, {"reading of validations", h.Reading}, {"what shows the run elsewhere", h.Watching},
	}
}

type part struct {
	name  string
	bytes int64
}

// account foresees what the process will hold beside its buffers, and tells the host's pool, by name: all of it counts
// under the limit. Buffers of all loaders count, since they stay when a validation is over. Garbage is given back
// first, so that what is in use is known. machines is what bound programs will take.
func (r *run) account(machines int64) {
	if r.buffersOnly {
		return
	}
	debug.FreeOSMemory()
	now := goMemoryNow()
	h := held{Base: r.base, Heap: now.Live, Machines: machines, Watching: r.cfg.Run.watchingBytes()}
	loaders := []*data.Loader{r.sets.loader}
	for _, s := range []*scored{r.sets.val, r.sets.test} {
		if s != nil {
			loaders = append(loaders, s.loader)
		}
	}
	for _, l := range loaders {
		m := l.Memory()
		h.Loaders.Sound += m.Sound
		h.Loaders.Windows += m.Windows
		h.Loaders.Scratch += m.Scratch
	}
	if n := r.sets.noise; n != nil {
		h.Loaders.Sound += n.Pending()
	}
	if r.sets.val != nil {
		longest, workers := 0, 1 // before there is a replica
		for _, s := range []*scored{r.sets.val, r.sets.test} {
			if s != nil {
				for i := range s.set.Len() {
					longest = max(longest, s.set.Frames(i))
				}
			}
		}
		if r.replica != nil {
			workers = r.replica.Wishes().Workers
		}
		h.Reading = recognize.ConfidenceBytes(r.net, workers, longest)
	}
	then := now.planned(h.Machines + h.Loaders.Total() + h.Reading)
	h.Headroom, h.Runtime = then.Headroom, then.Stacks+then.Overhead
	for _, p := range h.parts() {
		_ = r.host.Hold(p.name, p.bytes) // where it is too much there is no room for arenas, which is said
	}
	r.held = h
}

// baseBytes is what a process that has just started takes beside what the Go runtime counts: pages of its file for the
// most part.
func baseBytes() int64 {
	rss, _ := machine.Self()
	return max(rss-goMemoryNow().Total(), 0)
}

// heldText names what is held beside buffers.
func (r *run) heldText() string {
	var text strings.Builder
	for _, p := range r.held.parts() {
		if p.bytes >= 100_000 {
			fmt.Fprintf(&text, ", %s %s", p.name, words.Bytes(p.bytes))
		}
	}
	return text.String()
}
