package engine

import (
	"math"
	"runtime"
	"testing"
	"time"

	"konkanitrain/device"
	"konkanitrain/model"
)

// heapGrowth is how many bytes more the heap holds for good after f.
func heapGrowth(f func()) int64 {
	live := func() int64 {
		runtime.GC() // the second one frees what pools still held in the first
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := live()
	f()
	return live() - before
}

// What programs and machines say they take is what the heap grows by. 15 % are for kernels, whose size is only known
// by and large, and for the heap's own steps of sizes.
func TestHeapBytes(t *testing.T) {
	const most = 0.15
	compile := func(frames int, purpose model.Purpose) *Program {
		spec, _ := networkSpec(t, tiny(4, 2), model.Shape{Batch: 2, Frames: frames, Tokens: 6}, purpose)
		p, err := Compile(spec)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	compile(16, model.Training) // what is made once
	for name, purpose := range map[string]model.Purpose{"training": model.Training, "scoring": model.Scoring} {
		programs := make([]*Program, 0, 20)
		grown := heapGrowth(func() {
			for i := range cap(programs) {
				programs = append(programs, compile(20+4*i, purpose))
			}
		})
		said, machines := int64(0), int64(0)
		for _, p := range programs {
			said += p.HeapBytes()
			machines += 10 * p.MachineBytes()
		}
		if off := float64(said)/float64(grown) - 1; math.Abs(off) > most {
			t.Errorf("%s: %d programs say %d bytes and take %d: %.1f %% off", name, len(programs), said, grown, 100*off)
		}

		memory := machineMemory(t, programs)
		bound := make([]*Machine, 0, 10*len(programs))
		grown = heapGrowth(func() {
			for _, p := range programs {
				for range 10 {
					m, err := p.Bind(memory)
					if err != nil {
						t.Fatal(err)
					}
					bound = append(bound, m)
				}
			}
		})
		if off := float64(machines)/float64(grown) - 1; math.Abs(off) > most {
			t.Errorf("%s: %d machines say %d bytes and take %d: %.1f %% off", name, len(bound), machines, grown, 100*off)
		}
		runtime.KeepAlive(bound)
	}
}

// machineMemory is memory that any of the programs can be bound to.
func machineMemory(t *testing.T, programs []*Program) Memory {
	t.Helper()
	arena := int64(0)
	for _, p := range programs {
		arena = max(arena, p.Plan.Size)
	}
	c := tiny(4, 2)
	var parameters []Parameter
	for _, p := range model.Parameters(c) {
		parameters = append(parameters, Parameter{Name: p.Name, Shape: p.Shape})
	}
	layout, err := NewLayout(parameters)
	if err != nil {
		t.Fatal(err)
	}
	return Memory{
		Arena: make([]byte, arena), Layout: layout, Weights: make([]byte, layout.Bytes), Grads: make([]byte, layout.Bytes),
		Shared: model.NewTables(c.DModel).Shared,
	}
}

// The graph is gone once its program is compiled.
func TestProgramKeepsNoGraph(t *testing.T) {
	gone := make(chan struct{})
	compile := func() *Program {
		spec, net := networkSpec(t, tiny(4, 1), model.Shape{Batch: 2, Frames: 20, Tokens: 4}, model.Training)
		runtime.AddCleanup(net.Graph.ExprGraph, func(done chan struct{}) { close(done) }, gone)
		p, err := Compile(spec)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := compile()
	deadline := time.After(time.Minute)
	for {
		runtime.GC()
		select {
		case <-gone:
			runtime.KeepAlive(p)
			return
		case <-time.After(time.Millisecond):
		case <-deadline:
			t.Fatal("the graph is still there")
		}
	}
}

// A crew counts each program that it keeps once, and a machine of it for each worker.
func TestCrewProgramBytes(t *testing.T) {
	c := crew(t, newTestNet(tiny(4, 1)), 3, true)
	if got := c.ProgramBytes() + c.MachineBytes(); got != 0 {
		t.Errorf("%d bytes without a program", got)
	}
	if _, err := c.Prices([]variant{short}); err != nil {
		t.Fatal(err)
	}
	p, err := c.programs.Get(short)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.ProgramBytes(), p.HeapBytes(); got != want || want == 0 {
		t.Errorf("one program takes %d bytes, want %d", got, want)
	}
	if got, want := c.MachineBytes(), 3*p.MachineBytes(); got != want || want == 0 {
		t.Errorf("three machines take %d bytes, want %d", got, want)
	}
	null, err := NewNull(device.NewNull(0), c.Library, 3, true)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := null.Program(short); same != p || err != nil || null.MachineBytes() != c.MachineBytes() {
		t.Errorf("a null replica's machines take %d bytes, a crew's %d (%v)", null.MachineBytes(), c.MachineBytes(), err)
	}
	if null.Wishes() != c.Wishes() {
		t.Errorf("a null replica wishes %+v, a crew %+v", null.Wishes(), c.Wishes())
	}
	if null.Rows = 7; null.Wishes() != (Wishes{3, 7}) {
		t.Errorf("%+v, want 7 rows", null.Wishes())
	}
}
