package engine

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"
	"weak"

	"gorgonia.org/tensor"

	"konkanitrain/device"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// Workers are added up in their order, only those that ran, each time to the same bits.
func TestCrewSumsInOrder(t *testing.T) {
	net := newTestNet(tiny(4, 1))
	for _, times := range [][]int{{3}, {2, 1}, {0, 2}, {1, 1, 1}, {2, 0, 1}} {
		c := crew(t, net, len(times), true)
		w := deal(short, 0, 1)
		for worker, n := range times {
			for range n {
				w.Batches = append(w.Batches, Batch[variant]{short, worker})
			}
		}
		w.ctc = make([]float64, len(w.Batches))
		var first []float32
		for run := range 3 {
			pass(t, c, w)
			var want []float32 // by hand: worker after worker
			for i, worker := range c.workers {
				if worker.runs != times[i] {
					t.Errorf("%v: worker %d counts %d runs", times, i, worker.runs)
				}
				own := floats(c.grads[i].Host())
				switch {
				case worker.runs == 0:
				case want == nil:
					want = slices.Clone(own)
				default:
					for k, v := range own {
						want[k] += v
					}
				}
			}
			squares, err := c.Reduce()
			if err != nil {
				t.Fatal(err)
			}
			sum, exact := floats(c.reduced.Host()), 0.0
			for _, v := range sum {
				exact += float64(v) * float64(v)
			}
			// The kernels add squares in float32 within a piece of 32768, in many sums at a time.
			if d := squares/exact - 1; d > 1e-6 || d < -1e-6 || exact == 0 {
				t.Errorf("%v: the sum of squares is %g, want %g", times, squares, exact)
			}
			if !equalBits(sum, want) {
				t.Errorf("%v: the sum is not that of the workers in their order", times)
			}
			if run == 0 {
				first = slices.Clone(sum)
			} else if !equalBits(sum, first) {
				t.Errorf("%v: run %d gives other bits than the first one", times, run)
			}
			if squares, err := c.Reduce(); squares != 0 || err != nil || c.reduced != nil {
				t.Errorf("%v: gradients that were taken are there again: %g, %v", times, squares, err)
			}
		}
	}
}

// Two passes before Reduce are one of all their batches.
func TestPassesAddUp(t *testing.T) {
	c := crew(t, newTestNet(tiny(4, 0)), 2, true)
	want, _ := gradient(t, c, deal(short, 4, 2))
	pass(t, c, deal(short, 2, 2))
	rest := deal(short, 2, 2)
	rest.first = 2
	if got, _ := gradient(t, c, rest); !equalBits(got, want) {
		t.Error("two passes give another gradient than one")
	}
}

// The same batches on any number of workers give the same sum, to the rounding of another order, and the same losses to
// the bit.
func TestCrewsAgree(t *testing.T) {
	for _, mode := range []string{"training", "half", "recompute"} {
		net := newTestNet(tiny(4, 1))
		var first []float32
		var losses []float64
		for workers := 1; workers <= 3; workers++ {
			c := crew(t, net, workers, true)
			w := deal(variant{short.Shape, mode}, 6, workers)
			sum, _ := gradient(t, c, w)
			again, _ := gradient(t, c, w)
			if !equalBits(sum, again) {
				t.Errorf("%s: %d workers give other bits the second time", mode, workers)
			}
			if first == nil {
				first, losses = sum, slices.Clone(w.ctc)
			}
			testkit.CloseRel(t, fmt.Sprintf("%s: %d workers beside one", mode, workers), sum, first, 1e-6)
			if !slices.Equal(w.ctc, losses) {
				t.Errorf("%s: losses of %d workers are %v, of one %v", mode, workers, w.ctc, losses)
			}
		}
	}
}

// A step allocates nothing once its shapes were met.
func TestStepsAllocateNothing(t *testing.T) {
	for _, mode := range []string{"training", "half", "recompute", "scoring"} {
		c := crew(t, newTestNet(tiny(4, 1)), 2, mode != "scoring")
		w := deal(variant{model.Shape{Batch: 2, Frames: 300, Tokens: 20}, mode}, 4, 2)
		var err error
		number := 0
		step := func() {
			err = errors.Join(err, c.Prepare(w.Batches, 0), c.Run(&w.Pass))
			if mode != "scoring" {
				_, e := c.Reduce()
				number++
				err = errors.Join(err, e, c.Update(AdamW{Number: number, LR: 1e-3, GradScale: 1, Decay: 0.01}))
			}
			odd, e := c.Finite()
			if err = errors.Join(err, e); odd != nil && err == nil {
				err = errors.New(odd.String())
			}
		}
		step()
		bound := make([]map[*Program]*Machine, 2)
		for i, w := range c.workers {
			bound[i] = maps.Clone(w.machines)
		}
		if n := testing.AllocsPerRun(5, step); n != 0 || err != nil {
			t.Errorf("%s: a step allocates %g times (%v)", mode, n, err)
		}
		for i, w := range c.workers {
			if !maps.Equal(w.machines, bound[i]) || len(bound[i]) == 0 {
				t.Errorf("%s: worker %d has bound its machines again", mode, i)
			}
		}
		if w.ctc[0] == 0 {
			t.Errorf("%s: no losses", mode)
		}
	}
}

// What Fill and Collect say ends the pass and comes back from Run; so does a panic, with its place. Then there is no
// gradient, and the crew goes on.
func TestErrorsInAPass(t *testing.T) {
	c := crew(t, newTestNet(tiny(4, 0)), 2, true)
	want, _ := gradient(t, c, deal(short, 4, 2))
	bad := errors.New("the cable is out")
	fail := func(i int) error {
		if i == 3 {
			return bad
		}
		return nil
	}
	panics := func(i int) error {
		if i == 2 {
			var none []int
			_ = none[i]
		}
		return nil
	}
	for name, set := range map[string]func(*window){
		"fill":     func(w *window) { w.fail = fail },
		"collect":  func(w *window) { w.collect = fail },
		"panic":    func(w *window) { w.fail = panics },
		"panic, 2": func(w *window) { w.collect = panics },
	} {
		w := deal(short, 4, 2)
		pass(t, c, deal(short, 2, 2)) // an earlier pass, whose gradient is lost too
		set(w)
		err := c.Run(&w.Pass)
		if strings.HasPrefix(name, "panic") {
			wants(t, name, err, "worker 0 broke down: runtime error: index out of range [2]")
			wants(t, name, err, "crew_test.go")
		} else if !errors.Is(err, bad) {
			t.Errorf("%s: error is %v", name, err)
		}
		if squares, err := c.Reduce(); squares != 0 || err != nil {
			t.Errorf("%s: a gradient of %g is there, %v", name, squares, err)
		}
		wants(t, name, c.Update(AdamW{Number: 1}), "no gradient to apply")
		if got, _ := gradient(t, c, deal(short, 4, 2)); !equalBits(got, want) {
			t.Errorf("%s: other gradients afterwards", name)
		}
	}
}

// Update needs a gradient, and uses it up.
func TestUpdateNeedsAGradient(t *testing.T) {
	c := crew(t, newTestNet(tiny(4, 0)), 2, true)
	says := "there is no gradient to apply"
	wants(t, "at the start", c.Update(AdamW{Number: 1}), says)
	pass(t, c, deal(short, 2, 2))
	wants(t, "without Reduce", c.Update(AdamW{Number: 1}), says)
	if squares, err := c.Reduce(); squares == 0 || err != nil {
		t.Fatal(squares, err)
	}
	if err := c.Update(AdamW{Number: 1, LR: 1e-3, GradScale: 1}); err != nil {
		t.Fatal(err)
	}
	wants(t, "a second time", c.Update(AdamW{Number: 2}), says)
	if squares, err := c.Reduce(); squares != 0 || err != nil {
		t.Fatal(squares, err)
	}
	wants(t, "after nothing was reduced", c.Update(AdamW{Number: 2}), says)
	// What has no backward pass leaves no gradient.
	pass(t, c, deal(variant{short.Shape, "scoring"}, 2, 2))
	if squares, err := c.Reduce(); squares != 0 || err != nil {
		t.Error("scoring leaves a gradient")
	}
}

// A profile is the sum of all workers' and begins when it is asked for.
func TestProfileOfACrew(t *testing.T) {
	c := crew(t, newTestNet(tiny(4, 0)), 2, true)
	pass(t, c, deal(short, 3, 2))
	if c.Profile() != nil {
		t.Error("a profile that nobody has started")
	}
	c.StartProfile()
	pass(t, c, deal(short, 3, 2))
	p, err := c.programs.Get(short)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, row := range c.Profile().Rows {
		calls += row.Calls
	}
	if calls != 3*len(p.Steps) {
		t.Errorf("%d calls, want 3 of each of %d steps", calls, len(p.Steps))
	}
	c.StartProfile()
	if len(c.Profile().Rows) != 0 {
		t.Error("a profile begins with what another has measured")
	}
}

// A larger arena: machines are bound to it, results stay, and the old one is freed. A dropped program is forgotten.
func TestRebinding(t *testing.T) {
	dev := device.NewHost()
	c, err := NewCrew(dev, NewLibrary(newTestNet(tiny(4, 1))), 1, true)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Initialize(1); err != nil {
		t.Fatal(err)
	}
	want, _ := gradient(t, c, deal(short, 2, 1))
	p, err := c.programs.Get(short)
	if err != nil {
		t.Fatal(err)
	}
	before := c.workers[0].machines[p]
	if err := c.Prepare(nil, p.ArenaBytes()/2); err != nil || c.workers[0].machines[p] != before {
		t.Error("an arena that was large enough has moved")
	}
	if err := c.Prepare(nil, 10*p.ArenaBytes()); err != nil {
		t.Fatal(err)
	}
	if len(c.workers[0].machines) != 0 {
		t.Error("a machine is still bound to the old arena")
	}
	if got, _ := gradient(t, c, deal(short, 2, 1)); !equalBits(got, want) {
		t.Error("another arena, another gradient")
	}
	if u := dev.Usage(); u.Allocated != 10*p.ArenaBytes()+4*c.layout.Bytes || u.Buffers != 5 {
		t.Errorf("the device has %+v, want the new arena, and weights, gradients and moments", u)
	}
	c.programs.Limit = 1
	pass(t, c, deal(long, 1, 1))
	if len(c.workers[0].machines) != 1 || c.workers[0].machines[p] != nil {
		t.Error("a dropped program is still bound")
	}
}

// A table that has grown is not kept alive by machines that were bound to the smaller one.
func TestTablesThatGrow(t *testing.T) {
	net := newTestNet(tiny(4, 1))
	c := crew(t, net, 2, true)
	if err := c.Prepare(nil, 1<<22); err != nil { // so that no larger arena makes machines be bound again
		t.Fatal(err)
	}
	want, _ := gradient(t, c, deal(short, 2, 2))
	old := weak.Make(unsafe.SliceData(net.Table(model.Positions, tensor.Shape{2*short.Encoded(net.config) - 1, net.config.DModel})))
	small := net.TableBytes()
	runtime.GC()
	if old.Value() == nil {
		t.Fatal("the table is gone although it is in use: this test has lost its point")
	}
	longer := variant{model.Shape{Batch: 1, Frames: 400, Tokens: 40}, "training"}
	gradient(t, c, deal(longer, 1, 2))
	if net.TableBytes() <= small || c.Usage().Tables != net.TableBytes() {
		t.Errorf("tables take %d bytes, %d before; usage %+v", net.TableBytes(), small, c.Usage())
	}
	runtime.GC()
	if old.Value() != nil {
		t.Error("a table that has grown is still there as it was")
	}
	if got, _ := gradient(t, c, deal(short, 2, 2)); !equalBits(got, want) {
		t.Error("another table, another gradient")
	}
}

// After Close everything is freed, whatever happened before, and the workers are gone.
func TestCloseFreesEverything(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	dev := device.NewHost()
	for range 3 {
		c, err := NewCrew(dev, NewLibrary(newTestNet(tiny(4, 0))), 3, true)
		if err != nil {
			t.Fatal(err)
		}
		pass(t, c, deal(short, 3, 3))
		if err := c.Prepare(nil, 2*c.arenas[0].Size()); err != nil {
			t.Fatal(err)
		}
		c.Close()
		if u := dev.Usage(); u.Allocated != 0 || u.Buffers != 0 {
			t.Fatalf("after Close the device still has %+v", u)
		}
	}
	for try := 0; runtime.NumGoroutine() > goroutines; try++ { // they end on their own after Close
		if try == 1000 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
		}
		time.Sleep(time.Millisecond)
	}
}

// A crew has a worker for each core if not told otherwise, and needs memory that the host can address.
func TestNewCrew(t *testing.T) {
	c := crew(t, newTestNet(tiny(4, 0)), 0, false)
	if len(c.workers) != runtime.GOMAXPROCS(0) || c.Wishes() != (Wishes{len(c.workers), enoughRows}) {
		t.Errorf("%d workers, wishes %+v, of %d cores", len(c.workers), c.Wishes(), runtime.GOMAXPROCS(0))
	}
	null := device.NewNull(0)
	_, err := NewCrew(null, NewLibrary(newTestNet(tiny(4, 0))), 1, true)
	wants(t, "a crew on nothing", err, "that of device null is not")
	if u := null.Usage(); u.Allocated != 0 {
		t.Errorf("a crew that could not be made leaves %+v", u)
	}
}
