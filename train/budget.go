package train

import (
	"errors"

	"konkanitrain/device"
	"konkanitrain/internal/machine"
	"konkanitrain/recognize"
)

// memory is how much the run may hold.
func (c RunConfig) memory() recognize.Memory {
	return recognize.Memory{Limit: c.MemoryLimit, Fraction: c.MemoryFraction}
}

// device is what computes.
func (c RunConfig) device() recognize.DeviceSetting {
	return recognize.DeviceSetting{Name: c.Device, Driver: c.CUDADriver, BLAS: c.CUDABLAS}
}

// OpenDevice opens what computes a run with this configuration. Where that is not to be had the error is a
// *recognize.DeviceError; where a card only has no memory left for it, it is [ErrOutOfMemory] too.
func (c RunConfig) OpenDevice() (*recognize.Device, error) {
	d, err := c.device().Open()
	if oom := (*device.OutOfMemory)(nil); errors.As(err, &oom) {
		err = lacking(err)
	}
	return d, err
}

// openPools makes the pools that all buffers of the run come from, under the run's limit. under is the host's memory.
func (r *run) openPools(under device.Device) error {
	pools, err := r.device.Pools(r.cfg.Run.memory(), under)
	if err != nil {
		return err
	}
	r.pools, r.pool, r.host, r.limitFrom, r.machine = pools, pools.Replica, pools.Host, pools.Why, machine.Read()
	return nil
}

// onCard says whether the run computes on a card, with a memory of its own.
func (r *run) onCard() bool { return r.host != r.pool }
