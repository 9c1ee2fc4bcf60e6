//go:build gpu

package cuda_test

import (
	"strings"
	"testing"

	"konkanitrain/device"
	"konkanitrain/device/cuda"
)

// What the host pays for queuing an update's launches, one by one and as a graph, on a driver whose calls do nothing:
//
//	go test -tags gpu -run '^$' -bench Queue ./device/cuda
//
// 2000 is about what a network of 16 blocks launches for a pass forward and back.
func BenchmarkQueueNull(b *testing.B) {
	const launches = 2000
	l := libraries(b)
	for _, single := range []bool{true, false} {
		name := "graph"
		if single {
			name = "single"
		}
		b.Run(name, func(b *testing.B) {
			c, err := cuda.Open(cuda.Options{Driver: l.Null, BLAS: l.Null, NoGraphs: single})
			if err != nil && strings.Contains(err.Error(), "can't be opened beside it") {
				b.Skip("needs a process of its own, with -run '^$': ", err)
			}
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			if err := c.Load(map[string][]byte{"kernels.cu": []byte(kernels)}); err != nil {
				b.Fatal(err)
			}
			memory, err := c.Alloc(1<<20, "a benchmark")
			if err != nil {
				b.Fatal(err)
			}
			var work []cuda.Launch
			m := cuda.Matrix{Ref: cuda.In(0), Row: 64}
			for i := range launches {
				switch {
				case i%5 == 0:
					work = append(work, cuda.Multiply(cuda.Product{M: 64, N: 64, K: 64, A: m, B: m, C: m, Alpha: 1}))
				case i%50 == 1:
					work = append(work, cuda.Zeros(cuda.In(0), 4096))
				default:
					work = append(work, multiplyAdd(64, 1, 0, 0))
				}
			}
			list, err := c.Bind(work, at([]device.Buffer{memory}))
			if err != nil {
				b.Fatal(err)
			}
			update := func(q cuda.Queue) error {
				if err := q.Run(list); err != nil {
					return err
				}
				return q.Wait()
			}
			for b.Loop() {
				if err := c.Do(update); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/launches, "ns/launch")
		})
	}
}
