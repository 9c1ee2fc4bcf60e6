package engine

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"konkanitrain/device"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// newCrew is a crew that trains the rig's network.
func (r *rig) crew(dev device.Device, workers int) *Crew {
	r.t.Helper()
	c, err := NewCrew(dev, workers, r.layout, r.flat, r.shared, r.spec.Grads != nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(c.Close)
	return c
}

// job is a task of a crew: worker i runs p times[i] times, each time on other features. It allocates nothing once
// the machines are bound.
func (r *rig) job(p *Program, times []int) func(*Worker) {
	features := testkit.Normal[float32](5, 10000)
	return func(w *Worker) {
		m, err := w.Machine(p)
		if err != nil {
			panic(err)
		}
		for k := range times[w.Index] {
			r.fill(m)
			copy(m.Input(model.Features).Data, features[100*(3*w.Index+k):])
			w.Run(m)
		}
	}
}

func TestCrewSumsInOrder(t *testing.T) {
	r, _ := networkRig(t, tiny(4, 1), model.Shape{Batch: 2, Frames: 37, Tokens: 4}, true)
	p := r.compile()
	for _, times := range [][]int{{3}, {2, 1}, {0, 2}, {1, 1, 1}, {2, 0, 1}} {
		c := r.crew(device.NewHost(), len(times))
		if err := c.Reserve(p.ArenaBytes()); err != nil {
			t.Fatal(err)
		}
		var first, want []float32
		for run := range 5 {
			if err := c.Do(r.job(p, times)); err != nil {
				t.Fatal(err)
			}
			if run == 0 { // by hand: worker after worker
				for i, w := range c.Workers {
					if w.Runs != times[i] {
						t.Errorf("%v: worker %d counts %d runs", times, i, w.Runs)
					}
					switch {
					case w.Runs == 0:
					case want == nil:
						want = slices.Clone(w.grads.Floats())
					default:
						for k, v := range w.grads.Floats() {
							want[k] += v
						}
					}
				}
			}
			sum, _, err := c.Reduce()
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = slices.Clone(sum)
				if !slices.Equal(sum, want) {
					t.Errorf("%v: the sum is not that of the workers in their order", times)
				}
			}
			if !slices.Equal(sum, first) {
				t.Errorf("%v: run %d gives other bits than the first one", times, run)
			}
			if sum, _, err := c.Reduce(); sum != nil || err != nil {
				t.Errorf("%v: gradients that were taken are there again (%v)", times, err)
			}
		}
	}
}

// The same jobs on one worker give the same sum, to the rounding of another order.
func TestCrewsAgree(t *testing.T) {
	r, _ := networkRig(t, tiny(4, 0), model.Shape{Batch: 1, Frames: 37, Tokens: 4}, true)
	p := r.compile()
	var sums [][]float32
	for _, workers := range []int{1, 2} {
		c := r.crew(device.NewHost(), workers)
		if err := c.Reserve(p.ArenaBytes()); err != nil {
			t.Fatal(err)
		}
		features := testkit.Normal[float32](6, 4*37*12)
		err := c.Do(func(w *Worker) {
			m, err := w.Machine(p)
			if err != nil {
				panic(err)
			}
			for k := w.Index; k < 4; k += workers {
				r.fill(m)
				copy(m.Input(model.Features).Data, features[k*37*12:])
				w.Run(m)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		sum, _, err := c.Reduce()
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, slices.Clone(sum))
	}
	testkit.CloseRel(t, "two workers beside one", sums[1], sums[0], 1e-6)
}

func TestRunsAllocateNothing(t *testing.T) {
	for _, mode := range []string{"train", "half", "eval"} {
		r, _ := networkRig(t, tiny(4, 1), model.Shape{Batch: 2, Frames: 300, Tokens: 20}, mode != "eval")
		r.spec.Half = mode == "half"
		p := r.compile()
		c := r.crew(device.NewHost(), 2)
		if err := c.Reserve(p.ArenaBytes()); err != nil {
			t.Fatal(err)
		}
		bound := make([]*Machine, 2)
		job := r.job(p, []int{1, 1})
		again := func(w *Worker) {
			m, err := w.Machine(p)
			if err != nil {
				panic(err)
			}
			if bound[w.Index] != m {
				panic("bound again")
			}
			for _, x := range []string{model.Features, model.Lengths, model.Targets, model.TargetLengths} {
				in := m.Input(x)
				clear(in.Data) // as good as any features
				for i := range in.Ints {
					in.Ints[i] = 4
				}
			}
			w.Run(m)
			if out := m.Output("ctc"); len(out.Data) != 2 {
				panic("no losses")
			}
		}
		if err := c.Do(job); err != nil {
			t.Fatal(err)
		}
		for i, w := range c.Workers {
			bound[i], _ = w.Machine(p)
		}
		var err error
		step := func() {
			if e := c.Do(again); e != nil {
				err = e
			}
			if _, _, e := c.Reduce(); e != nil {
				err = e
			}
		}
		if n := testing.AllocsPerRun(5, step); n != 0 || err != nil {
			t.Errorf("%s: a step allocates %g times (%v)", mode, n, err)
		}
	}
}

func TestPanicOfAWorkerIsAnError(t *testing.T) {
	r, _ := networkRig(t, tiny(4, 0), model.Shape{Batch: 1, Frames: 37, Tokens: 4}, true)
	c := r.crew(device.NewHost(), 2)
	err := c.Do(func(w *Worker) {
		if w.Index == 1 {
			var none []int
			_ = none[w.Index]
		}
	})
	if err == nil || !strings.Contains(err.Error(), "worker 1 broke down: runtime error: index out of range") || !strings.Contains(err.Error(), "crew_test.go") {
		t.Errorf("error is %v, want one that names the worker, the reason and the place", err)
	}
	ran := make([]bool, 2)
	if err := c.Do(func(w *Worker) { ran[w.Index] = true }); err != nil || !ran[0] || !ran[1] {
		t.Errorf("the crew does not go on: %v %v", ran, err)
	}
	c.Close()
	c.Close()
	if err := c.Do(func(*Worker) {}); err == nil {
		t.Error("a closed crew does something")
	}
}

func TestReserveAndRebind(t *testing.T) {
	r, _ := networkRig(t, tiny(4, 1), model.Shape{Batch: 2, Frames: 37, Tokens: 4}, true)
	p := r.compile()
	dev := device.NewHost()
	c := r.crew(dev, 1)
	w := c.Workers[0]
	if _, err := w.Machine(p); err == nil {
		t.Error("a machine without an arena")
	}
	if err := c.Reserve(p.ArenaBytes() - 4); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Machine(p); err == nil || !strings.Contains(err.Error(), "the program needs an arena of") {
		t.Errorf("error of an arena that is too small is %v", err)
	}
	step := func() []float32 {
		t.Helper()
		if err := c.Do(r.job(p, []int{2})); err != nil {
			t.Fatal(err)
		}
		sum, _, err := c.Reduce()
		if err != nil {
			t.Fatal(err)
		}
		return slices.Clone(sum)
	}
	if err := c.Reserve(p.ArenaBytes()); err != nil {
		t.Fatal(err)
	}
	want := step()
	before, _ := w.Machine(p)
	if err := c.Reserve(p.ArenaBytes() / 2); err != nil {
		t.Fatal(err)
	}
	if m, _ := w.Machine(p); m != before {
		t.Error("an arena that was large enough has moved")
	}
	if err := c.Reserve(10 * p.ArenaBytes()); err != nil {
		t.Fatal(err)
	}
	if got := step(); !slices.Equal(got, want) {
		t.Error("another arena, another gradient")
	}
	if m, _ := w.Machine(p); m == before {
		t.Error("the machine is still bound to the old arena")
	}
	c.Forget(p)
	if len(w.machines) != 0 {
		t.Error("a forgotten program is still bound")
	}
	if u := dev.Usage(); u.Allocated != int64(10*p.ArenaBytes()+4*r.layout.Words) || u.Buffers != 2 {
		t.Errorf("the device has %+v, want the new arena and the gradients", u)
	}
}

// After Close everything is freed, whatever happened before, and the workers are gone.
func TestCloseFreesEverything(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	r, _ := networkRig(t, tiny(4, 0), model.Shape{Batch: 1, Frames: 37, Tokens: 4}, true)
	p := r.compile()
	dev := device.NewHost()
	for range 3 {
		c := r.crew(dev, 3)
		if err := c.Reserve(p.ArenaBytes()); err != nil {
			t.Fatal(err)
		}
		if err := c.Do(r.job(p, []int{1, 1, 1})); err != nil {
			t.Fatal(err)
		}
		if err := c.Reserve(2 * p.ArenaBytes()); err != nil {
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

func TestCrewOutOfMemory(t *testing.T) {
	r, _ := networkRig(t, tiny(4, 0), model.Shape{Batch: 1, Frames: 37, Tokens: 4}, true)
	grads := int64(4 * r.layout.Words)
	var oom *device.OutOfMemory

	null := device.NewNull(2*grads + 1000)
	if _, err := NewCrew(null, 3, r.layout, r.flat, nil, true); !errors.As(err, &oom) || oom.What != "gradients of worker 2" {
		t.Errorf("error is %v, want the third worker's gradients not to fit", err)
	}
	if u := null.Usage(); u.Allocated != 0 {
		t.Errorf("a crew that could not be made leaves %+v", u)
	}
	c, err := NewCrew(null, 2, r.layout, r.flat, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Reserve(600); !errors.As(err, &oom) || oom.What != "arena of worker 1" {
		t.Errorf("error is %v, want the second worker's arena not to fit", err)
	}
	c.Close()
	if u := null.Usage(); u.Allocated != 0 || u.Peak != 2*grads+600 {
		t.Errorf("after Close the device has %+v", u)
	}
	if _, err := NewCrew(null, 0, r.layout, r.flat, nil, true); err == nil {
		t.Error("a crew of nobody")
	}
}

func TestCache(t *testing.T) {
	var built []int
	var dropped []string
	names := map[*Program]string{}
	c := Cache[int]{
		Limit: 2,
		Build: func(k int) (*Program, error) {
			built = append(built, k)
			if k < 0 {
				return nil, errors.New("no such shape")
			}
			p := &Program{}
			names[p] = fmt.Sprint(k)
			return p, nil
		},
		Dropped: func(p *Program) { dropped = append(dropped, names[p]) },
	}
	for _, k := range []int{1, 2, 1, 3, 1, 2, 3, 3} {
		p, err := c.Get(k)
		if err != nil || names[p] != fmt.Sprint(k) {
			t.Fatalf("shape %d: program of %s, %v", k, names[p], err)
		}
	}
	if want := []int{1, 2, 3, 2, 3}; !slices.Equal(built, want) {
		t.Errorf("built %v, want %v", built, want)
	}
	if want := []string{"2", "3", "1"}; !slices.Equal(dropped, want) {
		t.Errorf("dropped %v, want %v: the one not used for longest", dropped, want)
	}
	for range 2 {
		if _, err := c.Get(-1); err == nil {
			t.Error("no error")
		}
	}
	if len(built) != 7 {
		t.Errorf("built %v: a failure is not kept", built)
	}
	if n := testing.AllocsPerRun(5, func() { c.Get(2); c.Get(3) }); n != 0 {
		t.Errorf("a program that is there costs %g allocations", n)
	}
}
