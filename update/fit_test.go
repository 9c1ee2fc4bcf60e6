package update

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

var allWays = []engine.Recompute{engine.RecomputeNone, engine.RecomputeBlocks, engine.RecomputeAll}

// fitting is an updater over a pool on the host's memory, with a counting replica between the two.
type fitting struct {
	*rig
	*counting
	u    *Updater
	pool *device.Pool
	lib  *engine.Library[Variant]
	said []Relief
}

// newFitting makes one whose pool holds so many bytes at most; 0 for any number.
func newFitting(t testing.TB, net model.Config, o Options, workers int, limit int64) *fitting {
	t.Helper()
	network, err := onHost(net)
	if err != nil {
		t.Fatal(err)
	}
	return fittingWith(t, engine.NewLibrary(network), net, o, workers, limit)
}

// again is one like f, with the programs that f has compiled; f is not used any more.
func (f *fitting) again(workers int, limit int64) *fitting {
	f.rig.Close()
	return fittingWith(f.t, f.lib, f.net, f.u.o, workers, limit)
}

func fittingWith(t testing.TB, lib *engine.Library[Variant], net model.Config, o Options, workers int, limit int64) *fitting {
	t.Helper()
	f := &fitting{pool: device.NewPool(device.NewHost(), limit), lib: lib}
	crew, err := engine.NewCrew(f.pool, lib, workers, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(crew.Close)
	if err := crew.Initialize(7); err != nil {
		t.Fatal(err)
	}
	f.rig = &rig{Replica: crew, t: t, net: net}
	f.counting = &counting{Replica: crew}
	f.u = New(net, f.counting, o)
	f.u.Runner.Fit.Recompute = allWays
	f.u.Runner.Fit.Relieved = func(r Relief) { f.said = append(f.said, r) }
	return f
}

// takes is what arenas take at most in updates with these windows and with room for everything, in bytes of each.
func takes(t *testing.T, net model.Config, o Options, workers int, windows ...[]*data.Example) int64 {
	t.Helper()
	f := newFitting(t, net, o, workers, 0)
	for _, w := range windows {
		mustUpdate(t, f.u, w)
	}
	return f.rig.Usage().Arenas / int64(workers)
}

// Under any limit an update is that without a limit, to rounding: weights, moments, losses and counts. Arenas keep to
// the limit, and where it is tight micro-batches are smaller or values are computed again.
func TestUpdatesFitALimit(t *testing.T) {
	for _, decoder := range []int{0, 1} {
		net := tinyNetwork(4, decoder)
		net.EncoderLayers = 4
		o := options
		o.BatchSize = 4
		window := windowOfEight(net)
		most := takes(t, net, o, 2, window)
		free := newFitting(t, net, o, 2, 0)
		want := mustUpdate(t, free.u, window)
		smallest, again := math.MaxInt, 0
		f := newFitting(t, net, o, 2, 0)
		for _, share := range []int64{100, 50, 30, 20, 12, 8, 4} {
			f = f.again(2, 0)
			limit := most * share / 100
			f.u.Runner.Fit.SetLimit(limit)
			got, err := f.u.Update(window)
			var large *TooLarge
			if errors.As(err, &large) {
				if share > 8 || large.ID != "utt1" || large.Need <= limit || large.Room != limit || f.u.Updates != 0 {
					t.Errorf("%d decoder layers, %d %% of the arena: %v", decoder, share, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if held := f.rig.Usage().Arenas / 2; held > limit {
				t.Errorf("%d %%: arenas of %d bytes, the limit is %d", share, held, limit)
			}
			// As for other splits of a window: float32 sums in another order.
			testkit.CloseRel(t, fmt.Sprintf("gradient under %d %%", share), f.all(engine.FirstMoments), free.all(engine.FirstMoments), 1.5e-6)
			if !(math.Abs(got.Loss-want.Loss) <= 1e-6*want.Loss) || got.Utterances != want.Utterances || got.TooLarge != nil {
				t.Errorf("%d %%: %+v, want %+v", share, got, want)
			}
			for v := range f.runs {
				smallest = min(smallest, v.Batch)
				again = max(again, int(v.Recompute))
			}
		}
		if smallest != 1 || again != int(engine.RecomputeAll) {
			t.Errorf("at the least %d rows, recompute %v: the limits were not tight", smallest, engine.Recompute(again))
		}
	}
}

// What is fastest by the costs is chosen: smaller micro-batches where computing again is dear, and the other way round
// where a small micro-batch is.
func TestFastestIsChosen(t *testing.T) {
	net := tinyNetwork(4, 0)
	net.EncoderLayers = 6
	o := options
	o.BatchSize = 4
	var window []*data.Example
	for i := range 4 {
		window = append(window, noise(i, 60, net.NumMels, tokensFor(4)...))
	}
	most := takes(t, net, o, 1, window)
	chosen := func(dear string) Variant {
		f := newFitting(t, net, o, 1, 0)
		f.u.Runner.Fit.SetLimit(most * 9 / 10)
		c := &engine.Costs{Ops: map[string]engine.Cost{}}
		prices, err := f.rig.Prices([]Variant{{Shape: model.Shape{Batch: 4, Frames: 64, Tokens: 4}, Recompute: engine.RecomputeAll}})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range prices[0].Shares {
			c.Ops[s.Op] = engine.Cost{Byte: 1e-9}
		}
		if dear != "" { // an op whose cost falls with the number of micro-batches, not of rows: it reads weights
			c.Ops[dear] = engine.Cost{Byte: 1}
		}
		f.u.Runner.Fit.Costs = c
		mustUpdate(t, f.u, window)
		for v := range f.runs {
			return v
		}
		return Variant{}
	}
	if v := chosen(""); v.Batch != 2 || v.Recompute != engine.RecomputeNone {
		t.Errorf("with nothing dear %+v is run", v)
	}
	if v := chosen("linear.dw"); v.Batch != 4 || v.Recompute == engine.RecomputeNone {
		t.Errorf("with small micro-batches dear %+v is run", v)
	}
}

// The ladder: idle memory is given back, then programs, then arenas are smaller. After any number of refusals that
// leaves something to do the update is what it would have been, and a limit that was learned stays.
func TestLadder(t *testing.T) {
	net := tinyNetwork(4, 1)
	o := options
	o.Half, o.BatchSize = true, 4
	window := windowOfEight(net)
	calm := newFitting(t, net, o, 2, 0)
	mustUpdate(t, calm.u, window)
	lack := &device.OutOfMemory{What: "arena of worker 1"}
	f := newFitting(t, net, o, 2, 0)
	for refusals := range 6 {
		f = f.again(2, 0)
		f.fail = slices.Repeat([]error{lack}, refusals)
		before := f.everything(f.u)
		out, err := f.u.Update(window)
		var large *TooLarge
		if errors.As(err, &large) { // halved too often
			if refusals < 4 || !errors.Is(err, lack) {
				t.Errorf("%d refusals: %v", refusals, err)
			}
			testkit.Close(t, "after the error", f.everything(f.u), before, 0)
			continue
		}
		if err != nil || out.Skipped != Made {
			t.Fatalf("%d refusals: %+v, %v", refusals, out, err)
		}
		tolerance := 0.0
		if refusals > 2 { // other micro-batches: half precision stores only what has 1024 elements, as in absent rows
			tolerance = 1e-3
		}
		testkit.CloseRel(t, fmt.Sprintf("moments after %d refusals", refusals), f.all(engine.FirstMoments), calm.all(engine.FirstMoments), tolerance)
		if len(f.said) != refusals || (f.u.Runner.Fit.Limit() > 0) != (refusals > 2) {
			t.Errorf("%d refusals: %+v was said, the limit is %d", refusals, f.said, f.u.Runner.Fit.Limit())
		}
		for i, r := range f.said {
			if r.Rung != min(Rung(i), Lowered) || r.Err != error(lack) || (r.Limit > 0) != (r.Rung == Lowered) {
				t.Errorf("relief %d is %+v", i, r)
			}
		}
		prepared := f.prepared
		mustUpdate(t, f.u, window)
		if f.prepared != prepared+1 {
			t.Errorf("the next update is tried %d times", f.prepared-prepared)
		}
	}
	// What is not for lack of memory comes through at once.
	f = f.again(2, 0)
	broken := errors.New("broken")
	f.fail = []error{broken}
	if _, err := f.u.Update(window); err != broken || f.said != nil {
		t.Errorf("%v, %+v was done", err, f.said)
	}
	// Nothing smaller is tried where that is not wanted.
	f.u.Runner.Fit.Rigid = true
	f.fail = slices.Repeat([]error{lack}, 3)
	if _, err := f.u.Update(window); !errors.Is(err, lack) || len(f.said) != 2 {
		t.Errorf("%v, %+v was done", err, f.said)
	}
}

// A pool that is really too small makes the ladder, without any fault: the update fits what there is.
func TestLadderFitsThePool(t *testing.T) {
	net := tinyNetwork(4, 1)
	net.EncoderLayers = 4
	o := options
	o.BatchSize = 4
	window := windowOfEight(net)
	calm := newFitting(t, net, o, 2, 0)
	mustUpdate(t, calm.u, window)
	all := calm.pool.Usage().Allocated
	f := newFitting(t, net, o, 2, all*8/10)
	mustUpdate(t, f.u, window)
	if u := f.pool.Usage(); u.PeakReserved > u.Limit || u.Allocated >= all || f.u.Runner.Fit.Limit() != f.rig.Room() {
		t.Errorf("%+v, want less than %d; the limit is %d for a room of %d", u, all, f.u.Runner.Fit.Limit(), f.rig.Room())
	}
	testkit.CloseRel(t, "moments", f.all(engine.FirstMoments), calm.all(engine.FirstMoments), 1.5e-6) // another split
}

// A limit that falls while the run goes on takes memory away between two updates, twice; the updates are as without it.
func TestYield(t *testing.T) {
	net := tinyNetwork(4, 1)
	net.EncoderLayers = 4
	o := options
	o.BatchSize = 4
	calm, f := newFitting(t, net, o, 2, 0), newFitting(t, net, o, 2, 0)
	window := windowOfEight(net)
	for i := range 3 {
		if yielded := f.u.Runner.Fit.Yield(); yielded != (i > 0) {
			t.Errorf("before update %d something was given back: %v", i+1, yielded)
		}
		if got, want := mustUpdate(t, f.u, window), mustUpdate(t, calm.u, window); !(math.Abs(got.Loss-want.Loss) <= 1e-5*want.Loss) {
			t.Errorf("update %d: loss %v, want %v", i+1, got.Loss, want.Loss)
		}
		if f.pool.Over() > 0 {
			t.Errorf("update %d: %+v", i+1, f.pool.Usage())
		}
		fixed := f.pool.Usage().Allocated - f.rig.Usage().Arenas
		f.pool.SetLimit(fixed + f.rig.Usage().Arenas*7/10)
	}
}

// An utterance that doesn't fit even alone is left out where that is wanted, and the others are as they are without it,
// in training and in scoring; what comes later is foretold.
func TestTooLargeIsLeftOut(t *testing.T) {
	net := tinyNetwork(4, 1)
	o := options
	window := windowOfEight(net)
	window[3] = noise(3, 2000, net.NumMels, tokensFor(9)...)
	rest := slices.Delete(slices.Clone(window), 3, 4)
	limit := takes(t, net, o, 2, rest)
	for _, leave := range []bool{false, true} {
		f, without := newFitting(t, net, o, 2, 0), newFitting(t, net, o, 2, 0)
		f.u.Runner.Fit.SetLimit(limit)
		without.u.Runner.Fit.SetLimit(limit)
		f.u.Runner.Fit.Leave = leave
		large := *window[3]
		window[3] = &large
		out, err := f.u.Update(window)
		if !leave {
			testkit.MustFail(t, err, "utt3 (20.0 s): a pass over it alone takes ", fmt.Sprintf(" bytes, and a worker can have %d", limit))
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		want := mustUpdate(t, without.u, rest)
		if out.Utterances != 7 || len(out.TooLarge) != 1 || out.TooLarge[0].ID != "utt3" || out.Unreadable != nil || !(math.Abs(out.Loss-want.Loss) <= (productTolerance+1e-15)*want.Loss) {
			t.Errorf("%+v, want %+v without utt3", out, want)
		}
		testkit.CloseRel(t, "moments", f.all(engine.FirstMoments), without.all(engine.FirstMoments), 1e-6) // as the deal differs
		if out, err := f.u.Update([]*data.Example{noise(3, 2000, net.NumMels, tokensFor(9)...)}); err != nil || out.Skipped != NothingFits || f.u.Updates != 1 {
			t.Errorf("nothing else in the window: %+v, %v", out, err)
		}
		scored := noise(3, 4000, net.NumMels, tokensFor(9)...)
		f.u.Runner.Fit.SetLimit(20_000)
		losses, err := f.u.Runner.Run([]*data.Example{scored, noise(4, 30, net.NumMels, tokensFor(3)...)}, Ask{Purpose: model.Scoring})
		var left *TooLarge
		if err != nil || losses[0] != (Loss{}) || losses[1] == (Loss{}) || !errors.As(scored.Err, &left) {
			t.Errorf("scored: %+v, %v; %v", losses, err, scored.Err)
		}
	}
}

// Under a limit, too, the shapes and the utterances left out are known beforehand, and listed alike on any number of
// cores.
func TestShapesUnderALimitAreThoseMet(t *testing.T) {
	set := examples(t, bundled)
	l := newLoader(t, set, 24)
	net := listener(t, set)
	o := options
	o.BatchSize = 8
	span := Span{Count: 14}
	f := newFitting(t, net, o, 2, 0)
	if _, left, err := f.u.Shapes(l, span); err != nil || left != nil {
		t.Fatal(left, err)
	}
	var rows []data.Length
	for k := range span.Count {
		rows = append(rows, l.Lengths(0, k, nil)...)
	}
	slices.SortFunc(rows, func(a, b data.Length) int { return a.Frames - b.Frames })
	limit, err := f.u.Runner.Least(rows[len(rows)*9/10], f.u.ask(1)) // nine in ten fit, this one just so
	if err != nil {
		t.Fatal(err)
	}
	f.u.Runner.Fit.Leave = true
	f.u.Runner.Fit.SetLimit(limit)
	met, left, err := f.u.Shapes(l, span)
	if err != nil || len(left) == 0 || len(left) > 100 {
		t.Fatal(len(left), err)
	}
	foretold, again := map[Variant]int{}, 0
	for _, m := range met {
		foretold[m.Variant] = m.Times
		if m.Recompute != engine.RecomputeNone {
			again++
		}
	}
	if again == 0 {
		t.Error("nothing is computed again: this test says little")
	}
	var out []Left
	read(t, l, span, func(w *data.Window) {
		mustUpdate(t, f.u, w.Examples)
		for row, e := range w.Examples {
			if e.Err != nil {
				out = append(out, Left{w.Epoch, w.Index, row})
			}
		}
	})
	if !maps.Equal(foretold, f.runs) || !slices.Equal(out, left) {
		t.Errorf("foretold %v and %v,\nmet %v and %v", foretold, left, f.runs, out)
	}
	if held := f.rig.Usage().Arenas / 2; held > limit {
		t.Errorf("arenas of %d bytes", held)
	}
}

// An estimate is what the pass takes; costs are measured without a trace.
func TestEstimate(t *testing.T) {
	net := tinyNetwork(4, 1)
	f := newFitting(t, net, options, 2, 0)
	window := windowOfEight(net)
	before := f.everything(f.u)
	costs, err := f.u.Runner.Measure(Variant{Shape: model.Shape{Batch: 2, Frames: 80, Tokens: 6}})
	if err != nil || len(costs.Ops) < 20 || costs.Kernels == "" {
		t.Fatalf("%+v, %v", costs, err)
	}
	for name, c := range costs.Ops {
		if !(c.Byte > 0) || c.FLOP < 0 {
			t.Errorf("%s costs %+v", name, c)
		}
	}
	testkit.Close(t, "after measuring", f.everything(f.u), before, 0)
	if squares, err := f.rig.Reduce(); squares != 0 || err != nil {
		t.Errorf("measuring has left a gradient, %v, %v", squares, err)
	}
	f.u.Runner.Fit.Costs = costs
	var rows []data.Length
	for _, e := range window {
		rows = append(rows, data.Length{Frames: e.Planned, Tokens: len(e.Tokens)})
	}
	e, err := f.u.Runner.Estimate(rows, f.u.ask(1))
	if err != nil {
		t.Fatal(err)
	}
	clear(f.runs)
	mustUpdate(t, f.u, window)
	sum := 0.0
	for v, n := range f.runs {
		prices, err := f.rig.Prices([]Variant{v})
		if err != nil {
			t.Fatal(err)
		}
		sum += float64(n) * costs.Seconds(prices[0])
	}
	if e.Bytes*2 != f.rig.Usage().Arenas || !(e.Seconds >= sum/2 && e.Seconds < sum) {
		t.Errorf("%+v; %d bytes are held, and all workers together take %v s", e, f.rig.Usage().Arenas, sum)
	}
}
