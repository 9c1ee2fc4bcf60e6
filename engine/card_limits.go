package engine

import (
	"fmt"
	"time"

	"konkanitrain/device"
	"konkanitrain/device/cuda"
)

// The work that a card's limits are measured with: copies of so many bytes, and products of square matrices that grow
// until one takes long enough to be told from the time of its launch.
const (
	limitBytes  = 64 << 20
	leastWidth  = 256
	mostWidth   = 4096
	enoughTime  = time.Millisecond
	limitRounds = 10
)

// MeasureCardLimits measures what a card can do at best in this build: copies inside its memory, and products of large
// matrices of float32 or, with half, float16. What it needs it allocates from dev, the card or a pool over it, and
// frees: up to 200 MB.
func MeasureCardLimits(card cuda.Card, dev device.Device, half bool) (Limits, error) {
	l := Limits{Of: fmt.Sprintf("%s in this build", card.Info().Name)}
	took, err := timeCopies(card, dev)
	if err != nil {
		return l, err
	}
	l.Bytes = 2 * limitBytes / took.Seconds()
	for width := leastWidth; ; width *= 2 {
		flops, took, err := timeProducts(card, dev, width, half)
		if err != nil {
			return l, err
		}
		if l.FLOPs = flops / took.Seconds(); took > enoughTime || width == mostWidth {
			return l, nil
		}
	}
}

// timeCopies is the time of one copy of limitBytes.
func timeCopies(card cuda.Card, dev device.Device) (time.Duration, error) {
	b, err := dev.Alloc(2*limitBytes, "measuring the card's memory")
	if err != nil {
		return 0, err
	}
	defer b.Free()
	from := cuda.AddressOf(b)
	return timeQueued(card, func(q cuda.Queue) error { return q.Copy(from+limitBytes, from, limitBytes) })
}

// timeProducts is the time of one product of two matrices of a width, and its operations.
func timeProducts(card cuda.Card, dev device.Device, width int, half bool) (flops float64, took time.Duration, err error) {
	bytes := int64(width) * int64(width) * 4
	if half {
		bytes /= 2
	}
	b, err := dev.Alloc(3*bytes, "measuring the card's products")
	if err != nil {
		return 0, 0, err
	}
	defer b.Free()
	matrix := func(i int64) cuda.Matrix { return cuda.Matrix{Ref: cuda.Out().At(i * bytes), Half: half, Row: width} }
	product := cuda.Multiply(cuda.Product{M: width, N: width, K: width, A: matrix(0), B: matrix(1), C: matrix(2), Alpha: 1})
	list, err := card.Bind([]cuda.Launch{product}, func(_ int, r cuda.Ref) cuda.Address { return cuda.AddressOf(b) + cuda.Address(r.Offset) })
	if err != nil {
		return 0, 0, err
	}
	defer list.Free()
	took, err = timeQueued(card, func(q cuda.Queue) error { return q.Run(list) })
	return product.FLOPs, took, err
}

// timeQueued is the time of one of several pieces of work that are queued at once. One before them isn't timed: it may
// choose how the others are done.
func timeQueued(card cuda.Card, queue func(q cuda.Queue) error) (took time.Duration, err error) {
	err = card.Do(func(q cuda.Queue) error {
		if err := queue(q); err != nil {
			return err
		}
		if err := q.Wait(); err != nil {
			return err
		}
		start := time.Now()
		for range limitRounds {
			if err := queue(q); err != nil {
				return err
			}
		}
		err := q.Wait()
		took = max(time.Since(start)/limitRounds, 1)
		return err
	})
	return took, err
}
