package engine

import (
	"runtime"
	"testing"

	"konkanitrain/device"
	"konkanitrain/model"
)

// BenchmarkCompile measures what a new batch shape costs: building the graph, its gradient, and the program. It
// reports the heap that the program and a machine of it keep; the graph is garbage by then.
func BenchmarkCompile(b *testing.B) {
	for _, p := range presets {
		b.Run(p.name, func(b *testing.B) {
			var prog *Program
			for b.Loop() {
				spec, _ := networkSpec(b, p.config, model.Shape{Batch: 1, Frames: 800, Tokens: 80}, true)
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

// kept is the heap, in bytes, that one program of c and one machine of it hold.
func kept(t testing.TB, c model.Config) int {
	t.Helper()
	shape := model.Shape{Batch: 1, Frames: 800, Tokens: 80}
	layout, crew := paramCrew(t, c)
	before := heap()
	spec, _ := networkSpec(t, c, shape, true)
	prog, err := Compile(spec)
	if err != nil {
		t.Fatal(err)
	}
	spec = Spec{}
	if err := crew.Reserve(prog.ArenaBytes()); err != nil {
		t.Fatal(err)
	}
	m, err := crew.Workers[0].Machine(prog)
	if err != nil {
		t.Fatal(err)
	}
	n := heap() - before
	runtime.KeepAlive(m)
	runtime.KeepAlive(layout)
	runtime.KeepAlive(spec)
	return n
}

// paramCrew is a crew of one worker for a network, its tables made already.
func paramCrew(t testing.TB, c model.Config) (*Layout, *Crew) {
	t.Helper()
	var names []string
	var dims [][]int
	for _, p := range model.Parameters(c) {
		names, dims = append(names, p.Name), append(dims, p.Shape)
	}
	layout, err := NewLayout(names, shapes(dims...))
	if err != nil {
		t.Fatal(err)
	}
	tables := model.NewTables(c.DModel)
	tables.Shared(model.Positions, []int{2*200 - 1, c.DModel})
	crew, err := NewCrew(device.NewHost(), 1, layout, make([]float32, layout.Words), tables.Shared, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(crew.Close)
	return layout, crew
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
