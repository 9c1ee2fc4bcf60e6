//go:build gpu

package cuda_test

import (
	"math"
	"strings"
	"testing"

	"konkanitrain/device"
	"konkanitrain/device/cuda"
)

// A grid of three dimensions, and an argument of 8 bytes.
func TestGridSimulated(t *testing.T) {
	r := openRig(t, cuda.Options{})
	const n = 2 * 3 * 4 * 32
	y := r.alloc(make([]float32, n)...)
	l := r.bind([]cuda.Launch{{Kernel: "count", Grid: [3]int{2, 3, 4}, Block: 32, Args: []cuda.Arg{cuda.Ptr(cuda.In(0)), cuda.Long(1)}}}, y)
	if err := r.run(l); err != nil {
		t.Fatal(err)
	}
	equal(t, "the threads' numbers", r.floats(y), ramp(n))
}

// chain is work of every kind in which each launch reads what those before it wrote: operands x [300], y [300] and
// c [10, 10], where c = y[:100] · y[100:200] + c.
func chain() []cuda.Launch {
	matrix := func(operand int, element int64) cuda.Matrix {
		return cuda.Matrix{Ref: cuda.In(operand).At(4 * element), Row: 10}
	}
	return []cuda.Launch{
		multiplyAdd(300, 0.5, 0, 1),
		cuda.Zeros(cuda.In(0).At(400), 80),
		cuda.Multiply(cuda.Product{M: 10, N: 10, K: 10, A: matrix(1, 0), B: matrix(1, 100), C: matrix(2, 0), Alpha: 1e-3, Beta: 0.5}),
		multiplyAdd(100, 1e-3, 2, 0),
		multiplyAdd(300, -1, 0, 1),
	}
}

// results are what some runs of chain leave, and what the card counts for them.
func results(t *testing.T, o cuda.Options, runs int, settings ...string) (x, y, c []float32, counted cuda.Counters, info cuda.Info) {
	t.Helper()
	t.Run(strings.Join(settings, " "), func(t *testing.T) {
		r := openRig(t, o, settings...)
		operands := []device.Buffer{r.alloc(ramp(300)...), r.alloc(ramp(300)...), r.alloc(ramp(100)...)}
		l := r.bind(chain(), operands...)
		if l.Launches() != 5 {
			t.Errorf("%d launches, want 5", l.Launches())
		}
		before := r.Counters()
		err := r.Do(func(q cuda.Queue) error {
			for range runs {
				if err := q.Run(l); err != nil {
					return err
				}
			}
			return q.Wait()
		})
		if err != nil {
			t.Fatal(err)
		}
		after := r.Counters()
		counted = cuda.Counters{
			Launches: after.Launches - before.Launches, Products: after.Products - before.Products, Clears: after.Clears - before.Clears,
			Graphs: after.Graphs - before.Graphs, Synchronizations: after.Synchronizations - before.Synchronizations,
		}
		x, y, c, info = r.floats(operands[0]), r.floats(operands[1]), r.floats(operands[2]), r.Info()
		if v := float64(c[99]); v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("the product has %v: nothing to compare", v)
		}
		if n := r.Count("cuGraphLaunch"); n != counted.Graphs {
			t.Errorf("%d graphs were launched, %d counted", n, counted.Graphs)
		}
	})
	return x, y, c, counted, info
}

// A list gives the same bits launch by launch, as a graph, where the driver refuses to make one, and waiting for each
// launch; and what was done is counted.
func TestGraphsSimulated(t *testing.T) {
	const runs = 4
	wantX, wantY, wantC, single, info := results(t, cuda.Options{NoGraphs: true}, runs)
	if single != (cuda.Counters{Launches: 3 * runs, Products: runs, Clears: runs, Synchronizations: 2}) || info.Graphs {
		t.Errorf("launch by launch: counted %+v, graphs %v", single, info.Graphs)
	}
	for _, c := range []struct {
		name           string
		options        cuda.Options
		setting        string
		graphs, waits  int64
		keepsTheGraphs bool
	}{
		{"graphs", cuda.Options{}, "lazy=1", runs - 1, 2, true},
		{"refused", cuda.Options{}, "capture=0", 0, 2, false},
		{"waiting", cuda.Options{Sync: true}, "lazy=1", 0, 5*runs + 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, y, product, counted, info := results(t, c.options, runs, c.setting)
			equal(t, "x", x, wantX)
			equal(t, "y", y, wantY)
			equal(t, "the product", product, wantC)
			want := single
			want.Graphs, want.Synchronizations = c.graphs, c.waits
			if counted != want || info.Graphs != c.keepsTheGraphs {
				t.Errorf("counted %+v, want %+v; graphs %v", counted, want, info.Graphs)
			}
		})
	}
}

// A list that runs once costs no graph.
func TestOneRunSimulated(t *testing.T) {
	_, _, _, counted, info := results(t, cuda.Options{}, 1)
	if counted.Graphs != 0 || !info.Graphs {
		t.Errorf("%d graphs, possible: %v", counted.Graphs, info.Graphs)
	}
}

// Where little of the card's memory is left lists go without graphs: the driver needs it for more than these.
func TestGraphsLeaveMemorySimulated(t *testing.T) {
	r := openRig(t, cuda.Options{})
	l := r.bind([]cuda.Launch{multiplyAdd(64, 1, 0, 1)}, r.alloc(ramp(64)...), r.alloc(make([]float32, 64)...))
	free, total, err := r.Memory()
	if err != nil {
		t.Fatal(err)
	}
	if taken := free - total/256; !r.Take(0, taken) {
		t.Fatalf("no %d bytes to take", taken)
	} else {
		defer r.Take(0, -taken)
	}
	for range 3 {
		if err := r.run(l); err != nil {
			t.Fatal(err)
		}
	}
	if c := r.Counters(); c.Launches != 3 || c.Graphs != 0 || !r.Info().Graphs {
		t.Errorf("counted %+v, graphs %v", c, r.Info().Graphs)
	}
}

// All graphs together have a part of the card's memory at most: what doesn't fit goes on launch by launch.
func TestGraphsHaveABudgetSimulated(t *testing.T) {
	r := openRig(t, cuda.Options{})
	x, y := r.alloc(ramp(64)...), r.alloc(make([]float32, 64)...)
	work := make([]cuda.Launch, 4000)
	for i := range work {
		work[i] = multiplyAdd(64, 1, 0, 1)
	}
	_, total, err := r.Memory()
	if err != nil {
		t.Fatal(err)
	}
	fits := int(total / 64 / (10 << 10) / int64(len(work)))
	var lists []cuda.List
	run := func() (graphs int64) {
		before := r.Counters().Graphs
		for _, l := range lists {
			for range 2 { // the second run is that of a graph
				if err := r.run(l); err != nil {
					t.Fatal(err)
				}
			}
		}
		return r.Counters().Graphs - before
	}
	for range fits + 2 {
		lists = append(lists, r.bind(work, x, y))
	}
	if n := run(); n != int64(fits) {
		t.Errorf("%d of %d lists are graphs, want %d", n, len(lists), fits)
	}
	lists[0].Free()
	lists = append(lists[1:], r.bind(work, x, y))
	if n := run(); n != int64(2*(fits-1)+1) {
		t.Errorf("%d runs of graphs after one was given back, want %d", n, 2*(fits-1)+1)
	}
	for _, l := range lists {
		l.Free()
	}
	if b := r.Counters().GraphBytes; b != 0 {
		t.Errorf("%d bytes of graphs are left", b)
	}
}

// Where there is no memory for one graph the list goes on without, and other lists still get theirs.
func TestGraphWithoutMemorySimulated(t *testing.T) {
	r := openRig(t, cuda.Options{})
	x, y := r.alloc(ramp(64)...), r.alloc(make([]float32, 64)...)
	work := []cuda.Launch{multiplyAdd(64, 1, 0, 1)}
	first, second := r.bind(work, x, y), r.bind(work, x, y)
	r.Fail(faultOf("cuGraphInstantiateWithFlags", outOfMemory))
	for _, l := range []cuda.List{first, second} {
		for range 3 {
			if err := r.run(l); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := r.Counters().Graphs; n != 2 || !r.Info().Graphs {
		t.Errorf("%d runs of graphs, want the 2 of the second list; possible: %v", n, r.Info().Graphs)
	}
	if got := r.floats(y)[9]; got != 60 {
		t.Errorf("y[9] is %v after adding 10 six times", got)
	}
}

// What can't be bound or queued is an error that says why.
func TestListErrorsSimulated(t *testing.T) {
	r := openRig(t, cuda.Options{})
	x := r.alloc(ramp(64)...)
	for want, launch := range map[string]cuda.Launch{
		"no kernel no_such_kernel in the 1 modules": {Kernel: "no_such_kernel", Block: 32},
		"blocks of 33 threads":                      {Kernel: "count", Block: 33},
		"without a kernel":                          {},
		"rows of A are 7 elements long and 6 apart": cuda.Multiply(cuda.Product{M: 1, N: 1, K: 7, A: cuda.Matrix{Row: 6}, B: cuda.Matrix{Row: 1}, C: cuda.Matrix{Row: 1}}),
		"a product of [1, 0] and [0, 1]":            cuda.Multiply(cuda.Product{M: 1, N: 1, A: cuda.Matrix{Row: 6}, B: cuda.Matrix{Row: 1}, C: cuda.Matrix{Row: 1}}),
	} {
		if _, err := r.Bind([]cuda.Launch{launch}, at([]device.Buffer{x})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("binding gives %v, want an error with %q", err, want)
		}
	}
	l := r.bind([]cuda.Launch{cuda.Zeros(cuda.In(0), 4)}, x)
	if err := r.run(l); err != nil {
		t.Fatal(err)
	}
	l.Free()
	l.Free()
	if err := r.run(l); err == nil || !strings.Contains(err.Error(), "was freed") {
		t.Errorf("queuing a freed list: %v", err)
	}
	if err := r.run(nil); err == nil || !strings.Contains(err.Error(), "not bound to cuda:0") {
		t.Errorf("queuing a foreign list: %v", err)
	}
	empty := r.bind(nil)
	if err := r.run(empty); err != nil || empty.Launches() != 0 {
		t.Errorf("an empty list: %v, %d launches", err, empty.Launches())
	}
}
