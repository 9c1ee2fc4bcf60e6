package train

import (
	"fmt"

	"konkanitrain/device"
	"konkanitrain/internal/words"
)

// What a run says of its memory while it goes on. Shares are of its limit, or of the machine's memory where it has
// none; on a card, of the card's memory. A GB is 2^30 bytes in these lines, as in those of other trainers.

// Shares of allocated memory from which on more is said, and what a cleanup may leave.
const (
	noticeShare  = 0.70
	warningShare = 0.85
	leastGone    = 0.95 // of what should have gone after a cleanup
	mostLeft     = 0.10 // of all memory, allocated when everything should have gone
)

// memoryNow is what a line of the log is made of, in bytes. On a CPU, what the process holds beside its buffers counts
// as allocated.
type memoryNow struct {
	Allocated int64 `json:"allocated"`
	Reserved  int64 `json:"reserved"`
	Cached    int64 `json:"cached"`
	Peak      int64 `json:"peak"` // the most that was allocated since the last record
	Total     int64 `json:"total"`
	Other     int64 `json:"other,omitempty"` // of a card: in contexts, this process's too, and other programs

	card bool
}

func (r *run) memoryNow() memoryNow {
	u := r.pool.Usage()
	if r.onCard() {
		return r.cardMemoryNow(u)
	}
	m := memoryNow{Allocated: u.Allocated + u.Held, Reserved: u.Reserved + u.Held, Cached: u.Cached(), Peak: u.PeakReserved, Total: u.Limit}
	if m.Total == 0 {
		m.Total = max(r.machine.Total, m.Reserved)
	}
	return m
}

// cardMemoryNow is memoryNow of a card. One that can't say what it has left, as its context is lost, has what it had.
func (r *run) cardMemoryNow(u device.Usage) memoryNow {
	if now, err := r.device.Memory(); err == nil {
		r.card = now
	}
	return memoryNow{
		Allocated: u.Allocated, Reserved: u.Reserved, Cached: u.Cached(), Peak: u.PeakReserved - u.Held, Total: r.card.Total,
		Other: r.card.Other, card: true,
	}
}

// free is what is left of the memory.
func (m memoryNow) free() int64 { return max(m.Total-m.Reserved-m.Other, 0) }

// share is a part of the memory in percent.
func (m memoryNow) share(bytes int64) float64 { return 100 * float64(bytes) / float64(max(m.Total, 1)) }

// kind is whose memory it is.
func (m memoryNow) kind() string {
	if m.card {
		return "GPU"
	}
	return "CPU"
}

// String is the line's figures.
func (m memoryNow) String() string {
	const gb = 1 << 30
	text := fmt.Sprintf("Allocated: %.2fGB (%.1f%%) | Reserved: %.2fGB (%.1f%%) | Free: %.2fGB | Total: %.2fGB",
		float64(m.Allocated)/gb, m.share(m.Allocated), float64(m.Reserved)/gb, m.share(m.Reserved),
		float64(m.free())/gb, float64(m.Total)/gb)
	if m.Other > 0 {
		text += fmt.Sprintf(" | Other: %.2fGB", float64(m.Other)/gb)
	}
	return text
}

// stage logs the memory at a named point of the run. A point that comes again is logged again where its figures are
// others, or where every batch is logged.
func (r *run) stage(point string) { r.stageOf(point, point) }

// stageOf is stage for a point with a title of its own each time.
func (r *run) stageOf(point, title string) {
	if r.cfg.Run.MemoryLog == "off" || r.cfg.Run.measuring() {
		return
	}
	m := r.memoryNow()
	if text := m.String(); r.cfg.Run.MemoryLog != "stages" || r.staged[point] != text {
		r.staged[point] = text
		r.report.say("[%s Memory] %s: %s", m.kind(), title, text)
	}
	r.judgeMemory(m)
}

// batchStage logs the memory after a batch, where that is asked for.
func (r *run) batchStage(epoch, window int) {
	if r.cfg.Run.MemoryLog == "batch" {
		r.stageOf("Batch", fmt.Sprintf("Epoch %d Batch %d", epoch+1, window+1))
	}
}

// judgeMemory says where memory is nearly used up, each once in a run.
func (r *run) judgeMemory(m memoryNow) {
	fewer := "fewer cpu_workers, "
	if m.card {
		fewer = ""
	}
	switch share := m.share(m.Allocated) / 100; {
	case share > warningShare:
		r.report.sayOnce(fmt.Sprintf("WARNING: more than %.0f %% of the memory is allocated; to use less: a smaller batch_size with a larger grad_accum, "+
			"recompute all, fp16, %sa smaller max_duration or network; or %s", 100*warningShare, fewer, r.moreMemory()))
	case share > noticeShare:
		r.report.sayOnce(fmt.Sprintf("NOTICE: more than %.0f %% of the memory is allocated", 100*noticeShare))
	}
}

// clearCache gives back what is idle, says what that came to, and complains where too little has gone.
func (r *run) clearCache() {
	before := r.memoryNow()
	r.stage("Before Cache Clear")
	r.replica.Trim()
	after := r.memoryNow()
	r.cleared++
	r.stage("After Cache Clear")
	if gone := before.Reserved - after.Reserved; before.Cached > 0 && float64(before.Cached-after.Cached) < leastGone*float64(before.Cached) {
		r.report.say("WARNING: the cache held %s of idle memory, and only %s were given back", words.Bytes(before.Cached), words.Bytes(max(gone, 0)))
	}
}

// checkLeaks looks, when all buffers should be gone, whether they are.
func (r *run) checkLeaks() {
	u := r.pool.Usage()
	r.stage("Final")
	if total := r.memoryNow().Total; float64(u.Allocated) > mostLeft*float64(total) {
		r.report.say("WARNING: %s are still allocated at the end, in %s: a leak; please report it", words.Bytes(u.Allocated), words.Count(u.Buffers, "buffer"))
	}
}

// session is what this process has done of the run.
type session struct{ audio, seconds, wait float64 } // of sound, of training, and of waiting for data in it; seconds

// sayPerformance sums the session up.
func (r *run) sayPerformance() {
	if r.cfg.Run.measuring() || r.made() == 0 {
		return
	}
	m := r.memoryNow()
	t, peak := &r.meter.session, max(r.peak, m.Peak)
	busy, who := 1-t.wait/max(t.seconds, 1e-9), "workers"
	if m.card {
		who = "the card"
	}
	r.report.say("performance: peak memory %s, %.0f %% of %s; %.0f s of sound a second, %s busy %.0f %% of %.1f s of training; %s, %d skipped; "+
		"%d relieved for lack of memory (%d by splitting); cache cleared %s",
		words.Bytes(peak), 100*float64(peak)/float64(max(m.Total, 1)), words.Bytes(m.Total), t.audio/max(t.seconds, 1e-9), who, 100*busy, t.seconds,
		words.Count(r.made(), "update"), r.ledger.state.Progress.Skipped, r.reliefs[0]+r.reliefs[1]+r.reliefs[2], r.reliefs[2], words.Count(r.cleared, "time"))
}
