package engine

import (
	"runtime"
	"testing"

	"konkanitrain/model"
)

// eight is 8 seconds of sound.
var eight = variant{model.Shape{Batch: 1, Frames: 800, Tokens: 80}, "training"}

// BenchmarkCompile measures what a new batch shape costs: building the graph, its gradient, and the program. It
// reports the heap that the program and a machine of it keep; the graph is garbage by then.
func BenchmarkCompile(b *testing.B) {
	for _, p := range presets {
		b.Run(p.name, func(b *testing.B) {
			var prog *Program
			for b.Loop() {
				spec, _ := networkSpec(b, p.config, eight.Shape, model.Training)
				var err error
				if prog, err = Compile(spec); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(kept(b, p.config))/1e3, "kB-kept")
			b.ReportMetric(float64(prog.ArenaBytes())/1e6, "MB-arena")
		})
	}
}

// kept is the heap, in bytes, that a crew of one holds for one program of c and one machine of it.
func kept(t testing.TB, c model.Config) int {
	t.Helper()
	net := newTestNet(c)
	net.tables.Shared(model.Positions, []int{2*eight.Encoded(c) - 1, c.DModel}) // tables belong to all programs
	net.tables.Shared(model.DecoderPositions, []int{eight.Tokens + 1, c.DModel})
	crew := crew(t, net, 1, true)
	before := heap()
	if err := crew.Prepare([]Batch[variant]{{Key: eight}}, 0); err != nil {
		t.Fatal(err)
	}
	n := heap() - before
	runtime.KeepAlive(crew)
	return n
}

func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestKept: the graph, several times as large, must not stay alive through a program.
func TestKept(t *testing.T) {
	n := kept(t, preset(192, 8, 4))
	t.Logf("a program of the optimized preset and its machine keep %.2f MB", float64(n)/1e6)
	if n > 2e6 {
		t.Errorf("a program and its machine keep %.2f MB, want less than 2", float64(n)/1e6)
	}
}
