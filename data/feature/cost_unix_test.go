//go:build unix

package feature

import (
	"maps"
	"slices"
	"syscall"
	"testing"
	"time"
)

// processTime is what the process has had of processors.
func processTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// What features and each augmentation cost, in processor time for a second of sound at 16 kHz, in utterances of 5 s.
func BenchmarkAugment(b *testing.B) {
	const seconds = 5
	x := voice(seconds * 16000)
	run := func(name string, a Augment) {
		b.Run(name, func(b *testing.B) {
			e, err := New(Default())
			if err != nil {
				b.Fatal(err)
			}
			var dst []float32
			began, n := processTime(b), 0
			for ; b.Loop(); n++ {
				dst, _, _ = e.Extract(dst, x, 16000, &a, Key(1, n, 1))
			}
			b.ReportMetric(float64((processTime(b)-began).Microseconds())/float64(n)/seconds, "us/s")
		})
	}
	run("none", Augment{})
	for _, name := range slices.Sorted(maps.Keys(alone)) {
		run(name, alone[name])
	}
	run("together", together())
}
