package update

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"

	"konkanitrain/data"
	"konkanitrain/data/audio"
	"konkanitrain/data/feature"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/model"
)

// specs is a network that counts how often the graph of each variant is built.
type specs struct {
	engine.Network[Variant]
	mu    sync.Mutex
	built map[Variant]int
}

func (s *specs) Spec(v Variant) (engine.Spec, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.built[v]++
	return s.Network.Spec(v)
}

// planned is a run on the bundled examples whose shapes are known beforehand.
type planned struct {
	crew    *engine.Crew[Variant]
	network *specs
	counts  *counting
	updater *Updater
	loader  *data.Loader
	met     []Met
	most    Met
	bytes   int64
}

// plan prepares updates over a stretch of windows.
func plan(t *testing.T, set *data.Set, o Options, s Span, ways ...engine.Recompute) *planned {
	t.Helper()
	net := listener(t, set)
	inner, err := onHost(net)
	if err != nil {
		t.Fatal(err)
	}
	p := &planned{network: &specs{Network: inner, built: map[Variant]int{}}, loader: newLoader(t, set, 24)}
	if p.crew, err = engine.NewCrew(device.NewHost(), engine.NewLibrary(p.network), 2, true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.crew.Close)
	if err := p.crew.Initialize(1); err != nil {
		t.Fatal(err)
	}
	p.counts = &counting{Replica: p.crew}
	p.updater = New(net, p.counts, o)
	p.updater.Runner.Fit.Recompute = ways
	var left []Left
	if p.met, left, err = p.updater.Shapes(p.loader, s); err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
	if p.most, p.bytes, err = p.updater.Runner.Largest(p.met); err != nil {
		t.Fatal(err)
	}
	if err := p.crew.Prepare(nil, p.bytes); err != nil {
		t.Fatal(err)
	}
	return p
}

// check holds what was run to what was foretold.
func (p *planned) check(t *testing.T) {
	t.Helper()
	foretold := map[Variant]int{}
	for _, m := range p.met {
		foretold[m.Variant] = m.Times
	}
	if !maps.Equal(foretold, p.counts.runs) {
		t.Errorf("shapes that were run, with how often: %v\nforetold: %v", p.counts.runs, foretold)
	}
	if got := p.crew.Usage().Arenas; got != 2*p.bytes {
		t.Errorf("the arenas take %d bytes, 2 times %d were foretold", got, p.bytes)
	}
	if p.network.built[p.most.Variant] == 0 {
		t.Errorf("the largest shape, %+v, was not compiled", p.most)
	}
	for v, n := range p.network.built {
		if n != 1 || foretold[v] == 0 {
			t.Errorf("%+v was compiled %d times and run %d times", v, n, foretold[v])
		}
	}
	if len(foretold) < 5 {
		t.Errorf("%d shapes: this test says little", len(foretold))
	}
}

// What a run on real files will meet is known to the shape, and what it takes to the byte, also where files that were
// there when the manifest was read can't be read any more, and from the middle of an epoch on.
func TestShapesAreThoseMet(t *testing.T) {
	half := options
	half.Half, half.BatchSize = true, 8
	for _, c := range []struct {
		name    string
		o       Options
		span    Span
		damaged bool
		way     engine.Recompute
	}{
		{"three epochs", options, Span{Count: 3 * 14}, false, engine.RecomputeNone},
		{"a twentieth of the files is lost", options, Span{Count: 3 * 14}, true, engine.RecomputeAll},
		{"from the middle of an epoch", options, Span{Epoch: 1, From: 9, Count: 20}, false, engine.RecomputeNone},
		{"part of an epoch", half, Span{Epoch: 2, From: 3, Count: 5}, false, engine.RecomputeBlocks},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := bundled
			if c.damaged {
				dir = copied(t)
			}
			set := examples(t, dir)
			p := plan(t, set, c.o, c.span, c.way)
			if p.loader.Windows() != 14 {
				t.Fatalf("an epoch has %d windows", p.loader.Windows())
			}
			if c.damaged {
				damage(t, dir, 20)
			}
			lost := map[string]bool{}
			read(t, p.loader, c.span, func(w *data.Window) {
				for _, id := range mustUpdate(t, p.updater, w.Examples).Unreadable {
					lost[id] = true
				}
			})
			p.check(t)
			named := map[string]bool{}
			for _, n := range set.News() {
				named[n.ID] = true
			}
			if !maps.Equal(lost, named) || (len(lost) >= 16) != c.damaged {
				t.Errorf("%d utterances are unreadable by the updates, %d by the set", len(lost), len(named))
			}
		})
	}
}

// plainShapes is the specification of Runner.Shapes: window after window.
func plainShapes(w Windows, s Span, d *dealer, ask Ask) map[Variant]Met {
	all := map[Variant]Met{}
	epoch, k := s.Epoch, s.From
	for range s.Count {
		batches, err := d.deal(w.Lengths(epoch, k, nil), ask)
		if err != nil {
			panic(err)
		}
		for _, b := range batches {
			v := ask.variant(b.shape, b.recompute)
			m, known := all[v]
			if !known {
				m = Met{Variant: v, Epoch: epoch, Window: k, Row: b.rows[0]}
			}
			m.Times++
			all[v] = m
		}
		if k++; k == w.Windows() {
			epoch, k = epoch+1, 0
		}
	}
	return all
}

// The list is that of a plain loop, sorted, whatever the number of cores.
func TestShapesDontDependOnCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	w := synthetic(t, 3000, 16)
	net := tinyNetwork(4, 1)
	r := NewRunner(net, newCrew(t, net, 2), 8)
	ask := Ask{Purpose: model.Training, Half: true}
	for _, s := range []Span{{}, {Count: 1}, {Epoch: 1, From: 187, Count: 2}, {Epoch: 3, From: 100, Count: 500}} {
		want := plainShapes(w, s, &dealer{net: net, batchSize: 8, wishes: r.Replica.Wishes()}, ask)
		for _, cores := range []int{1, 2, 5} {
			runtime.GOMAXPROCS(cores)
			got, _, err := r.Shapes(w, s, ask)
			if err != nil {
				t.Fatal(err)
			}
			as := map[Variant]Met{}
			for _, m := range got {
				as[m.Variant] = m
			}
			if !maps.Equal(as, want) || len(got) != len(want) {
				t.Errorf("%+v on %d cores: %d shapes\n%v\nwant %d\n%v", s, cores, len(got), got, len(want), want)
			}
			sorted := slices.IsSortedFunc(got, func(a, b Met) int {
				return slices.Compare([]int{b.Batch, b.Frames, b.Tokens}, []int{a.Batch, a.Frames, a.Tokens})
			})
			if !sorted {
				t.Errorf("%+v on %d cores: not sorted: %v", s, cores, got)
			}
		}
	}
}

// A set that is scored or transcribed has shapes of its own; without targets their lengths don't count.
func TestShapesOfAnEvaluation(t *testing.T) {
	set := examples(t, bundled)
	f := feature.Default()
	f.NumMels = 20
	l, err := data.NewLoader(set, data.LoaderOptions{Window: 32, Feature: f, Evaluate: true})
	if err != nil {
		t.Fatal(err)
	}
	net := listener(t, set)
	crew := newCrew(t, net, 2)
	for _, purpose := range []model.Purpose{model.Scoring, model.Transcribing} {
		c := &counting{Replica: crew}
		r := NewRunner(net, c, 4)
		r.Fit.Recompute = []engine.Recompute{engine.RecomputeBlocks}
		ask := Ask{Purpose: purpose, Half: true}
		s := Span{Count: l.Windows()}
		want := map[Variant]int{}
		met, _, err := r.Shapes(l, s, ask)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range met {
			want[m.Variant] = m.Times
			if m.Half || m.Recompute != engine.RecomputeNone || (m.Tokens == 1) != (purpose == model.Transcribing) {
				t.Errorf("purpose %d: %+v", purpose, m)
			}
		}
		read(t, l, s, func(w *data.Window) {
			if _, err := r.Run(w.Examples, ask); err != nil {
				t.Fatal(err)
			}
		})
		if !maps.Equal(want, c.runs) {
			t.Errorf("purpose %d: shapes that were run: %v, foretold: %v", purpose, c.runs, want)
		}
	}
}

// The largest shape needn't have the most rows or frames: of all, the one with the most bytes is found, and of equals
// the first.
func TestLargest(t *testing.T) {
	net := tinyNetwork(4, 1)
	r := NewRunner(net, newCrew(t, net, 1), 8)
	shape := func(batch, frames, tokens int) Met {
		return Met{Variant: Variant{Shape: model.Shape{Batch: batch, Frames: frames, Tokens: tokens}}}
	}
	wide, long, deep := shape(4, 80, 8), shape(1, 640, 8), shape(1, 80, 320)
	again := long
	again.Times = 7
	for _, list := range [][]Met{{wide, long, again, deep}, {deep, wide, long, again}} {
		most, bytes, err := r.Largest(list)
		if err != nil {
			t.Fatal(err)
		}
		prices, err := r.Replica.Prices([]Variant{wide.Variant, long.Variant, deep.Variant})
		if err != nil {
			t.Fatal(err)
		}
		if most != long || bytes != prices[1].Bytes || bytes <= prices[0].Bytes || bytes <= prices[2].Bytes {
			t.Errorf("%+v with %d bytes of %+v", most, bytes, prices)
		}
	}
	if most, bytes, err := r.Largest(nil); most != (Met{}) || bytes != 0 || err != nil {
		t.Errorf("of nothing: %+v, %d, %v", most, bytes, err)
	}
}

// synthetic is a loader of n utterances that are in no file, at three speeds.
func synthetic(t testing.TB, n, window int) *data.Loader {
	t.Helper()
	var us []*data.Utterance
	tokens := tokensFor(200)
	for i := range n {
		samples := 8000 + (i*7919)%160000
		us = append(us, &data.Utterance{
			ID: fmt.Sprint(i), Key: uint64(i) * 0x9e3779b97f4a7c15, Recording: &data.Recording{Info: audio.Info{Rate: 16000}}, Samples: samples, Frames: samples / 160,
			Tokens: tokens[:samples/1600],
		})
	}
	return newLoader(t, data.NewSet("", 16000, us...), window)
}

// A hundred thousand utterances are enumerated without garbage for each of them.
func TestShapesOfALargeSet(t *testing.T) {
	const n = 100_000
	w := synthetic(t, n, 32)
	net := tinyNetwork(4, 1)
	r := NewRunner(net, newCrew(t, net, 2), 16)
	var met []Met
	epoch := 0
	allocations := testing.AllocsPerRun(1, func() {
		met, _, _ = r.Shapes(w, Span{Epoch: epoch, Count: w.Windows()}, Ask{})
		epoch += 5 // whose order is not known yet
	})
	rows := 0
	for _, m := range met {
		rows += m.Times * m.Batch
	}
	if rows != n {
		t.Errorf("the shapes hold %d utterances, want %d", rows, n)
	}
	// An epoch's order, the dealer's memory, and the maps of shapes, of which there are some 150.
	if !(allocations <= n/500) {
		t.Errorf("%v allocations for %d utterances", allocations, n)
	}
	t.Logf("%d shapes, %v allocations", len(met), allocations)
}

// BenchmarkShapes enumerates ten epochs of 100,000 utterances.
func BenchmarkShapes(b *testing.B) {
	w := synthetic(b, 100_000, 32)
	net := tinyNetwork(4, 1)
	r := NewRunner(net, newCrew(b, net, 2), 16)
	const epochs = 10
	first := 0
	for b.Loop() {
		if _, _, err := r.Shapes(w, Span{Epoch: first, Count: epochs * w.Windows()}, Ask{}); err != nil {
			b.Fatal(err)
		}
		first += epochs
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/epochs, "s/epoch")
}

// What the loader hands out is what it said beforehand.
func TestLoaderKeepsItsWord(t *testing.T) {
	l := newLoader(t, examples(t, bundled), 24)
	var lengths []data.Length
	read(t, l, Span{Epoch: 1, From: 3, Count: 4}, func(w *data.Window) {
		lengths = l.Lengths(w.Epoch, w.Index, lengths)
		var got []data.Length
		for _, e := range w.Examples {
			got = append(got, data.Length{Frames: e.Frames, Tokens: len(e.Tokens)})
		}
		if !reflect.DeepEqual(got, lengths) {
			t.Errorf("window %d holds %v, and %v were promised", w.Index, got, lengths)
		}
	})
}
