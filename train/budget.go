package train

import (
	"fmt"

	"konkanitrain/device"
	"konkanitrain/internal/machine"
	"konkanitrain/internal/words"
)

// autoShare is the share of the machine's memory that a run takes at most where memory_fraction says nothing.
const autoShare = 0.9

// budget is the most bytes that this process may hold in all, and why; 0 where nothing is known. A limit that is given
// counts as it is; else it is what the machine, the control group or a ulimit leaves. memory_fraction is a share of
// that, or of the machine's memory as a whole: two runs with 0.45 each fit beside each other.
func (c RunConfig) budget() (bytes int64, why string, err error) {
	if c.MemoryLimit != "auto" {
		if bytes, err = words.ParseBytes(c.MemoryLimit); err != nil {
			return 0, "", fmt.Errorf("memory_limit: %w", err)
		}
		why = "memory_limit"
		if c.MemoryFraction > 0 {
			bytes = int64(c.MemoryFraction * float64(bytes))
			why = fmt.Sprintf("memory_fraction %g of memory_limit %s", c.MemoryFraction, c.MemoryLimit)
		}
		return bytes, why, nil
	}
	m := machine.Read()
	own, _ := machine.Self()
	bytes, why = m.Auto(own)
	share, name := c.MemoryFraction, "memory_fraction "
	if share == 0 {
		share, name = autoShare, ""
	}
	if base := m.Base(); base > 0 && (bytes == 0 || int64(share*float64(base)) < bytes) {
		bytes, why = int64(share*float64(base)), fmt.Sprintf("%s%g of %s", name, share, words.Bytes(base))
	}
	return bytes, why, nil
}

// openPool makes the pool that all buffers of the run come from, under the run's limit.
func (r *run) openPool(under device.Device) error {
	limit, why, err := r.cfg.Run.budget()
	if err != nil {
		return err
	}
	r.pool, r.limitFrom = device.NewPool(under, limit), why
	return nil
}
