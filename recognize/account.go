package recognize

import (
	"fmt"
	goruntime "runtime/metrics"

	"konkanitrain/data"
	"konkanitrain/internal/machine"
)

// Beside its buffers a process holds the program itself, the sound and features of the files in hand, compiled programs
// and tables. All of it counts under the limit, so that neither the system nor a control group has to end the process.

const (
	garbage    = 2       // how far Go's heap grows beyond what is in use before it is collected, as a factor
	aheadShare = 1.0 / 8 // of the room for files: what those may take that are read while others are recognized
)

// programBytes is what the process has before anything is loaded.
func programBytes() int64 {
	samples := []goruntime.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	goruntime.Read(samples)
	rss, _ := machine.Self()
	return max(rss, int64(samples[0].Value.Uint64()-samples[1].Value.Uint64()))
}

// limited says whether the model counts what it holds: under a limit.
func (m *Model) limited() bool { return m.pools.Host != nil && m.pools.Host.Usage().Limit > 0 }

// reading is the most that a loader makes the process hold, in bytes.
func reading(l *data.Loader) int64 { return garbage * l.Memory().Total() }

// others is what the replica has on Go's heap, in bytes.
func (m *Model) others() int64 { return m.replica.Usage().Tables + m.replica.MachineBytes() }

// room is how many bytes files may take that are read while nothing else is.
func (m *Model) room() int64 {
	u, arenas := m.pools.Host.Usage(), int64(0)
	if m.onHost() {
		arenas = m.replica.Usage().Arenas
	}
	return u.Limit - m.program - m.others() - m.models - (u.Allocated - arenas)
}

// onHost says whether the replica lies in the same memory as the files.
func (m *Model) onHost() bool { return m.pools.Host == m.pools.Replica }

// count has passes fit what is left beside the files in hand. It comes before they are read.
func (m *Model) count(inHand []*batch) {
	if !m.limited() {
		return
	}
	reading, longest, most := int64(0), 0, 0
	for _, b := range inHand {
		reading += b.bytes
		longest, most = max(longest, b.frames), max(most, b.rows)
	}
	others, u := m.others(), m.pools.Host.Usage()
	decoding := m.recognizer.Bytes(longest, most)
	if m.onHost() && u.Reserved+m.program+others+m.models+reading+decoding > u.Limit {
		m.replica.Shrink(0) // arenas are made anew, as large as there is room for
	}
	_ = m.pools.Host.Hold("programs and tables", others)
	_ = m.pools.Host.Hold("decoding", decoding)
	_ = m.pools.Host.Hold("files in hand", reading) // where it is too much nothing fits beside them, and each is named
	m.recognizer.runner.Fit.SetLimit(max(m.replica.Room(), 1))
}

// tooLarge is the error of a file that can't even be read; nil where it can.
func (m *Model) tooLarge(u *data.Utterance, bytes int64) error {
	if room := m.room(); bytes < room-room/10 { // the pass needs some too, and its program
		return nil
	}
	return fmt.Errorf("%s: %.0f s of sound are too long to be recognized at once: %w; cut the file into pieces", u.Path(), u.Duration, m.noRoom(bytes, "reading it"))
}

// noRoom is an error that wraps *device.OutOfMemory.
func (m *Model) noRoom(bytes int64, what string) error {
	return m.pools.Host.Usage().OutOfMemory(bytes, what, nil)
}
