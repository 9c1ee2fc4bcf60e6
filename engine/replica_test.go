package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"konkanitrain/device"
	"konkanitrain/model"
)

// limited is a device with a limit, as device.Null has one.
type limited struct {
	device.Device
	limit int64
}

func (l *limited) Alloc(size int64, what string) (device.Buffer, error) {
	if held := l.Usage().Allocated; l.limit > 0 && size > l.limit-held {
		return nil, &device.OutOfMemory{What: what, Size: size, Allocated: held, Limit: l.limit}
	}
	return l.Device.Alloc(size, what)
}

// kinds are the replicas that keep the contract.
var kinds = []struct {
	name string
	make func(limit int64) (dev device.Device, setLimit func(int64), replica func(Network[variant], int, bool) (Replica[variant], error))
}{
	{"crew", func(limit int64) (device.Device, func(int64), func(Network[variant], int, bool) (Replica[variant], error)) {
		dev := &limited{device.NewHost(), limit}
		return dev, func(n int64) { dev.limit = n }, func(net Network[variant], workers int, train bool) (Replica[variant], error) {
			c, err := NewCrew(dev, NewLibrary(net), workers, train)
			if err != nil {
				return nil, err
			}
			return c, nil
		}
	}},
	{"null", func(limit int64) (device.Device, func(int64), func(Network[variant], int, bool) (Replica[variant], error)) {
		dev := device.NewNull(limit)
		return dev, func(n int64) { dev.Limit = n }, func(net Network[variant], workers int, train bool) (Replica[variant], error) {
			n, err := NewNull(dev, NewLibrary(net), workers, train)
			if err != nil {
				return nil, err
			}
			return n, nil
		}
	}},
}

var (
	short = variant{model.Shape{Batch: 2, Frames: 37, Tokens: 4}, "training"}
	long  = variant{model.Shape{Batch: 2, Frames: 90, Tokens: 9}, "training"}
)

// onEach runs a test of the contract for each kind of replica: two workers, for training.
func onEach(t *testing.T, test func(t *testing.T, r Replica[variant], dev device.Device, setLimit func(int64))) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			dev, setLimit, replica := kind.make(0)
			r, err := replica(newTestNet(tiny(4, 1)), 2, true)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				r.Close()
				if u := dev.Usage(); u.Allocated != 0 || u.Buffers != 0 {
					t.Errorf("after Close the device still has %+v", u)
				}
			}()
			if err := r.Initialize(1); err != nil {
				t.Fatal(err)
			}
			test(t, r, dev, setLimit)
		})
	}
}

// wants fails unless err says what it should.
func wants(t *testing.T, what string, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: error is %v, want %q", what, err, says)
	}
}

// Prices are those of the programs, and take no memory of the device.
func TestPrices(t *testing.T) {
	onEach(t, func(t *testing.T, r Replica[variant], dev device.Device, _ func(int64)) {
		before := dev.Usage()
		var keys []variant
		for _, m := range modes {
			keys = append(keys, variant{short.Shape, m.name}, variant{long.Shape, m.name})
		}
		prices, err := r.Prices(keys)
		if err != nil {
			t.Fatal(err)
		}
		for i, key := range keys {
			spec, err := newTestNet(tiny(4, 1)).Spec(key)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Compile(spec)
			if err != nil {
				t.Fatal(err)
			}
			if want := priceOf(p); !reflect.DeepEqual(prices[i], want) || want.Bytes != p.ArenaBytes() || want.FLOPs != p.FLOPs() {
				t.Errorf("%+v: price %+v, want %+v", key, prices[i], want)
			}
		}
		if u := dev.Usage(); u != before {
			t.Errorf("after a look at prices the device has %+v, before %+v", u, before)
		}
		_, err = r.Prices([]variant{short, {short.Shape, "knitting"}})
		wants(t, "a variant that isn't there", err, `no mode "knitting"`)
	})
}

// Prepare takes exactly what Usage says, of each kind of replica the same.
func TestUsageIsWhatIsHeld(t *testing.T) {
	var totals []Usage
	onEach(t, func(t *testing.T, r Replica[variant], dev device.Device, _ func(int64)) {
		net := newTestNet(tiny(4, 1))
		l, err := NewLayout(net.Parameters())
		if err != nil {
			t.Fatal(err)
		}
		prices, err := r.Prices([]variant{short, long})
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, arena int64) {
			t.Helper()
			u := r.Usage()
			if u.Weights != l.Bytes || u.Gradients != 2*l.Bytes || u.Moments != 2*l.Bytes || u.Arenas != 2*arena {
				t.Errorf("%s: usage is %+v for %d bytes of parameters and arenas of %d", what, u, l.Bytes, arena)
			}
			if held := dev.Usage().Allocated; held != u.Weights+u.Gradients+u.Moments+u.Arenas || u.Total() != held+u.Workspaces+u.Tables {
				t.Errorf("%s: the device has %d bytes for %+v, %d in all", what, held, u, u.Total())
			}
			totals = append(totals, u)
		}
		prepare := func(bytes int64, batches ...Batch[variant]) {
			t.Helper()
			if err := r.Prepare(batches, bytes); err != nil {
				t.Fatal(err)
			}
		}
		check("at the start", 0)
		prepare(0, Batch[variant]{short, 0})
		check("a short batch", prices[0].Bytes)
		prepare(0, Batch[variant]{short, 0}, Batch[variant]{long, 1})
		check("a long batch", prices[1].Bytes)
		prepare(0, Batch[variant]{short, 1})
		check("a short one again", prices[1].Bytes)
		prepare(2*prices[1].Bytes, Batch[variant]{short, 1})
		check("more than needed", 2*prices[1].Bytes)
	})
	half := len(totals) / 2
	for i := range half {
		if totals[i] != totals[half+i] {
			t.Errorf("look %d: a crew holds %+v, a null replica counts %+v", i, totals[i], totals[half+i])
		}
	}
	if totals[1].Tables == 0 || totals[2].Tables <= totals[1].Tables {
		t.Errorf("tables are not counted: %+v", totals)
	}
}

// What was not prepared is refused, in Prepare and in Run, and the replica goes on.
func TestUnpreparedBatches(t *testing.T) {
	onEach(t, func(t *testing.T, r Replica[variant], _ device.Device, _ func(int64)) {
		batches := func(v variant, worker int) *window {
			w := deal(v, 2, 1)
			w.Batches[1].Worker = worker
			return w
		}
		wants(t, "nothing was prepared", r.Run(&batches(short, 0).Pass), "batch 0, ")
		for _, worker := range []int{-1, 2} {
			says := fmt.Sprintf("is for worker %d: there are workers 0 to 1", worker)
			wants(t, "a worker that isn't there", r.Prepare(batches(short, worker).Batches, 0), says)
			wants(t, "a worker that isn't there", r.Run(&batches(short, worker).Pass), says)
		}
		wants(t, "a variant that isn't there", r.Prepare(batches(variant{short.Shape, "knitting"}, 0).Batches, 0), `no mode "knitting"`)
		pass(t, r, batches(short, 0))
		if _, err := r.Prices([]variant{long}); err != nil { // a price is no preparation
			t.Fatal(err)
		}
		wants(t, "another variant", r.Run(&batches(long, 0).Pass), "was not prepared for worker 0")
		for _, v := range []variant{short, long, short} {
			pass(t, r, batches(v, 1))
		}
		if w := r.Wishes(); w.Workers != 2 || w.Rows < 1 {
			t.Errorf("wishes are %+v", w)
		}
	})
	for _, kind := range kinds {
		_, _, replica := kind.make(0)
		_, err := replica(newTestNet(tiny(4, 1)), -1, true)
		wants(t, kind.name+" of nobody", err, "a replica of -1 workers")
	}
}

// counting counts how often a program's graph is built.
type counting struct {
	*testNet
	built atomic.Int64
}

func (c *counting) Spec(v variant) (Spec, error) {
	c.built.Add(1)
	return c.testNet.Spec(v)
}

// More variants than programs are kept: each is compiled once for its price, a pass compiles each once and keeps all of
// its own, and of those that were priced only what wasn't kept is compiled again.
func TestManyVariants(t *testing.T) {
	for _, kind := range kinds {
		for _, priced := range []bool{false, true} {
			_, _, replica := kind.make(0)
			net := &counting{testNet: newTestNet(tiny(4, 0))}
			r, err := replica(net, 1, false)
			if err != nil {
				t.Fatal(err)
			}
			w := &window{features: make([]float32, 50_000)}
			var keys []variant
			for i := range ProgramsKept + 10 {
				keys = append(keys, variant{model.Shape{Batch: 1, Frames: 5 + i, Tokens: 1}, "transcribing"})
				w.Batches = append(w.Batches, Batch[variant]{Key: keys[i]})
			}
			w.Fill = w.fillInputs
			w.Collect = func(int, Outputs) error { return nil }
			want := len(keys)
			if priced {
				for range 2 {
					if _, err := r.Prices(keys); err != nil || int(net.built.Load()) != want {
						t.Fatalf("%s: %d programs were compiled for %d prices (%v)", kind.name, net.built.Load(), want, err)
					}
				}
				want += len(keys) - ProgramsKept
			}
			for range 2 {
				pass(t, r, w)
			}
			if n := int(net.built.Load()); n != want {
				t.Errorf("%s, priced %v: %d programs were compiled for %d variants, want %d", kind.name, priced, n, len(keys), want)
			}
			r.Close()
		}
	}
}

// No memory, at whatever allocation: the error says for what, and nothing is left behind by a replica that can't be
// made.
func TestOutOfMemoryAtTheStart(t *testing.T) {
	for _, kind := range kinds {
		_, _, replica := kind.make(0)
		r, err := replica(newTestNet(tiny(4, 1)), 2, true)
		if err != nil {
			t.Fatal(err)
		}
		each := r.Usage().Weights
		r.Close()
		for n, what := range []string{"weights", "gradients of worker 0", "gradients of worker 1", "first moments", "second moments"} {
			dev, _, replica := kind.make(each*int64(n) + each - 1)
			_, err := replica(newTestNet(tiny(4, 1)), 2, true)
			var oom *device.OutOfMemory
			if !errors.As(err, &oom) || oom.What != what || oom.Size != each {
				t.Errorf("%s with memory for %d buffers: error is %v, want one for %s", kind.name, n, err, what)
			}
			if u := dev.Usage(); u.Allocated != 0 || u.Buffers != 0 {
				t.Errorf("%s that could not be made leaves %+v", kind.name, u)
			}
		}
	}
}

// No memory for larger arenas: those that were there are there again, and do their work.
func TestOutOfMemoryLater(t *testing.T) {
	onEach(t, func(t *testing.T, r Replica[variant], dev device.Device, setLimit func(int64)) {
		var oom *device.OutOfMemory
		prices, err := r.Prices([]variant{short})
		if err != nil {
			t.Fatal(err)
		}
		held := dev.Usage().Allocated
		for n := range 2 { // arenas that fit
			setLimit(held + prices[0].Bytes*int64(n+1) - 1)
			err := r.Prepare(deal(short, 2, 2).Batches, 0)
			if !errors.As(err, &oom) || oom.What != fmt.Sprintf("arena of worker %d", n) {
				t.Errorf("error is %v, want that arena %d doesn't fit", err, n)
			}
			if r.Usage().Arenas != 0 || dev.Usage().Allocated != held {
				t.Errorf("usage is %+v after the first arenas did not fit", r.Usage())
			}
		}
		setLimit(0)
		work := func() []float32 {
			w := deal(short, 4, 2)
			pass(t, r, w)
			if c, ok := r.(*Crew[variant]); ok {
				g, _ := gradient(t, c, w)
				return g
			}
			return nil
		}
		want := work()
		before := r.Usage()
		for n := range 2 { // arenas that fit
			const large = 1 << 20
			setLimit(before.Weights + before.Gradients + before.Moments + int64(n)*large + max(before.Arenas, large-1))
			err := r.Prepare(deal(short, 2, 2).Batches, large)
			if !errors.As(err, &oom) || oom.What != fmt.Sprintf("arena of worker %d", n) || oom.Size != large {
				t.Errorf("error is %v, want that arena %d doesn't fit", err, n)
			}
			if r.Usage() != before {
				t.Errorf("usage is %+v after it failed, %+v before", r.Usage(), before)
			}
			if got := work(); !equalBits(got, want) {
				t.Error("other gradients after memory ran out")
			}
		}
		// Others have taken what the old arenas held: then there are none, until there is room again.
		setLimit(before.Weights + before.Gradients + before.Moments)
		if err := r.Prepare(nil, 1<<20); !errors.As(err, &oom) {
			t.Errorf("error is %v", err)
		}
		wants(t, "there are no arenas", r.Run(&deal(short, 2, 2).Pass), "was not prepared")
		setLimit(0)
		if got := work(); !equalBits(got, want) {
			t.Error("other gradients after there were no arenas")
		}
	})
}

// Parameters come and go as streams of their own length; what can't be, is an error that names it.
func TestStreamsOfParameters(t *testing.T) {
	onEach(t, func(t *testing.T, r Replica[variant], _ device.Device, _ func(int64)) {
		_, crew := r.(*Crew[variant])
		for of := Weights; of <= SecondMoments; of++ {
			for i, p := range newTestNet(tiny(4, 1)).Parameters() {
				n := Placed{Parameter: p}.Bytes()
				want := make([]byte, n)
				for k := range want {
					want[k] = byte(int(of) + i + 3*k)
				}
				in := bytes.NewReader(append(want, 1, 2, 3))
				if err := r.Import(of, p.Name, in); err != nil || in.Len() != 3 {
					t.Fatalf("%s: %v, and %d bytes are left, want 3", p.Name, err, in.Len())
				}
				var got bytes.Buffer
				if err := r.Export(of, p.Name, &got); err != nil || int64(got.Len()) != n {
					t.Fatalf("%s: %v, and %d bytes, want %d", p.Name, err, got.Len(), n)
				}
				if crew && !bytes.Equal(got.Bytes(), want) {
					t.Errorf("%s: what was imported isn't what is exported", p.Name)
				}
			}
		}
		for _, size := range []int{0, 7} {
			err := r.Import(Weights, "ctc.bias", bytes.NewReader(make([]byte, size)))
			wants(t, "a short stream", err, "ctc.bias, 44 bytes")
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("error of a short stream is %v", err)
			}
		}
		wants(t, "an unknown name", r.Import(Weights, "ctc.bios", &bytes.Buffer{}), "no parameter ctc.bios")
		wants(t, "an unknown name", r.Export(FirstMoments, "ctc.bios", io.Discard), "no parameter ctc.bios")
		wants(t, "an unknown buffer", r.Export(Gradients+1, "ctc.bias", io.Discard), "no flat buffer 5")
		wants(t, "gradients of nothing", r.Export(Gradients, "ctc.bias", io.Discard), "there is no gradient")
		wants(t, "gradients that come in", r.Import(Gradients, "ctc.bias", bytes.NewReader(make([]byte, 44))), "can't be imported")
		wants(t, "a buffer that nobody wants", r.Export(Averages, "ctc.bias", io.Discard), "keeps no averages")
		wants(t, "a writer that fails", r.Export(Weights, "ctc.bias", failing{}), "disk full")
		wants(t, "a reader that fails", r.Import(Weights, "ctc.bias", failing{}), "disk full")
	})
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }
func (failing) Read([]byte) (int, error)  { return 0, errors.New("disk full") }

// A replica that was not made for training holds weights and arenas only, and says what it can't do.
func TestReplicaWithoutTraining(t *testing.T) {
	for _, kind := range kinds {
		_, _, replica := kind.make(0)
		r, err := replica(newTestNet(tiny(4, 1)), 1, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Initialize(1); err != nil {
			t.Fatal(err)
		}
		pass(t, r, deal(variant{short.Shape, "scoring"}, 2, 1))
		if u := r.Usage(); u.Gradients != 0 || u.Moments != 0 || u.Weights == 0 || u.Arenas == 0 {
			t.Errorf("%s: usage is %+v", kind.name, u)
		}
		says := "not made for training"
		wants(t, kind.name, r.Export(FirstMoments, "ctc.bias", io.Discard), says)
		wants(t, kind.name, r.Import(SecondMoments, "ctc.bias", &bytes.Buffer{}), says)
		_, err = r.Mean(1, func(int) error { return nil })
		wants(t, kind.name, err, says)
		if err := r.Export(Weights, "ctc.bias", io.Discard); err != nil {
			t.Error(err)
		}
		r.Close()
	}
}

// After Close nothing is held, nothing runs, and nothing breaks down.
func TestNothingAfterClose(t *testing.T) {
	onEach(t, func(t *testing.T, r Replica[variant], dev device.Device, _ func(int64)) {
		w := deal(short, 2, 2)
		pass(t, r, w)
		r.Close()
		r.Close()
		_, crew := r.(*Crew[variant])
		says := "closed"
		wants(t, "Prepare", r.Prepare(w.Batches, 0), says)
		wants(t, "Export", r.Export(Weights, "ctc.bias", io.Discard), says)
		wants(t, "Import", r.Import(FirstMoments, "ctc.bias", &bytes.Buffer{}), says)
		_, err := r.Mean(1, func(int) error { return nil })
		wants(t, "Mean", err, says)
		if err := r.Run(&w.Pass); err == nil {
			t.Error("a closed replica runs")
		}
		if crew {
			wants(t, "Run", r.Run(&w.Pass), says)
			wants(t, "Initialize", r.Initialize(1), says)
			_, err = r.Finite()
			wants(t, "Finite", err, says)
			_, err = r.Reduce()
			wants(t, "Reduce", err, says)
			wants(t, "Update", r.Update(AdamW{Number: 1}), "no gradient")
		}
		r.Trim()
		if u := r.Usage(); u.Weights+u.Gradients+u.Moments+u.Arenas != 0 {
			t.Errorf("usage is %+v", u)
		}
		if u := dev.Usage(); u.Allocated != 0 || u.Buffers != 0 {
			t.Errorf("the device still has %+v", u)
		}
	})
}
