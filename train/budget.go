package train

import (
	"konkanitrain/device"
	"konkanitrain/internal/machine"
	"konkanitrain/recognize"
)

// memory is how much the run may hold.
func (c RunConfig) memory() recognize.Memory {
	return recognize.Memory{Limit: c.MemoryLimit, Fraction: c.MemoryFraction}
}

// openPool makes the pool that all buffers of the run come from, under the run's limit.
func (r *run) openPool(under device.Device) error {
	limit, why, err := r.cfg.Run.memory().Budget()
	if err != nil {
		return err
	}
	r.pool, r.limitFrom, r.machine = device.NewPool(under, limit), why, machine.Read()
	return nil
}
