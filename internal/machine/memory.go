// Package machine says what memory there is for this process, and who uses it. On Linux it reads /proc and
// /sys/fs/cgroup; other systems are not asked, and everything is unknown there.
package machine

import (
	"fmt"

	"konkanitrain/internal/words"
)

// Memory is what this process may use. The zero value says that nothing is known.
type Memory struct {
	Total     int64 // of the machine, bytes; 0: unknown
	Available int64 // bytes that can be taken without swapping (MemAvailable); 0: unknown
	// Limit is the limit, in bytes, at which this process would be ended, slowed down or refused more: of its control
	// group or one above that, or of its own (ulimit). Of several it is the one that has the least room left. 0: there is
	// none below Total.
	Limit  int64
	Source string // what sets Limit, for messages: "control group /a/b (memory.max)", "ulimit -v"; "" without
	// Used is what counts against Limit now, in bytes: what all processes of that control group use, without files that
	// the system can drop; with a ulimit, this process's address space, which is mostly more than it has in memory.
	Used int64
}

// What Auto leaves free of what there is: a tenth for what nobody has counted (the system's own part of a process,
// other processes that grow), in these bounds, for a large machine's others don't need a tenth of it. A process that
// has very little may take half.
const (
	leastSpare = 16 << 20 // bytes
	mostSpare  = 2 << 30
)

// Auto is how many bytes this process may plan to have in all, of which it has own in memory now, and why, for a
// message. It leaves some room. 0 and a reason if nothing is known.
func (m Memory) Auto(own int64) (bytes int64, why string) {
	room := m.Total
	why = fmt.Sprintf("this machine has %s", words.Bytes(m.Total))
	if free := m.Available + max(own, 0); m.Available > 0 && (free < room || room == 0) {
		room, why = free, fmt.Sprintf("%s of this machine's memory are free or this program's", words.Bytes(free))
	}
	if m.Limit > 0 {
		others := min(max(m.Used-max(own, 0), 0), m.Limit)
		if left := m.Limit - others; left < room || room == 0 {
			room, why = left, fmt.Sprintf("%s allows %s, of which %s are taken", m.Source, words.Bytes(m.Limit), words.Bytes(others))
		}
	}
	if room == 0 && m.Limit == 0 {
		return 0, "this system doesn't say how much memory there is"
	}
	spare := min(max(room/10, leastSpare), mostSpare, room/2)
	return room - spare, why
}

// Base is what a share of the memory is a share of, in bytes: the limit if there is one, else the machine's memory; 0
// if neither is known.
func (m Memory) Base() int64 {
	if m.Limit > 0 {
		return m.Limit
	}
	return m.Total
}
