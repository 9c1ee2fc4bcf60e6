package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// numbers is a cache of programs that are called by their keys; negative keys can't be built.
type numbers struct {
	Cache[int]
	mu      sync.Mutex
	built   []int
	dropped []int
	of      map[*Program]int
}

func newNumbers(limit int) *numbers {
	n := &numbers{of: map[*Program]int{}}
	n.Cache = Cache[int]{Limit: limit, Build: n.build, Dropped: func(p *Program) { n.dropped = append(n.dropped, n.key(p)) }}
	return n
}

func (n *numbers) build(key int) (*Program, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.built = append(n.built, key)
	if key < 0 {
		return nil, fmt.Errorf("no such shape: %d", key)
	}
	p := &Program{}
	n.of[p] = key
	return p, nil
}

func (n *numbers) key(p *Program) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	key, ok := n.of[p]
	if !ok {
		return -1
	}
	return key
}

func TestCache(t *testing.T) {
	c := newNumbers(2)
	for _, k := range []int{1, 2, 1, 3, 1, 2, 3, 3} {
		if p, err := c.Get(k); err != nil || c.key(p) != k {
			t.Fatalf("shape %d: program of %d, %v", k, c.key(p), err)
		}
	}
	if want := []int{1, 2, 3, 2, 3}; !slices.Equal(c.built, want) {
		t.Errorf("built %v, want %v", c.built, want)
	}
	if want := []int{2, 3, 1}; !slices.Equal(c.dropped, want) {
		t.Errorf("dropped %v, want %v: the one not used for longest", c.dropped, want)
	}
	for range 2 {
		if _, err := c.Get(-1); err == nil {
			t.Error("no error")
		}
	}
	if len(c.built) != 7 {
		t.Errorf("built %v: a failure is not kept", c.built)
	}
	if n := testing.AllocsPerRun(5, func() { c.Get(2); c.Get(3) }); n != 0 {
		t.Errorf("a program that is there costs %g allocations", n)
	}
	var none Cache[int] // without Dropped, and without a limit it keeps one
	none.Build = c.build
	for _, k := range []int{1, 2, 2} {
		if _, err := none.Get(k); err != nil {
			t.Fatal(err)
		}
	}
	if want := []int{1, 2}; !slices.Equal(c.built[7:], want) {
		t.Errorf("built %v, want %v", c.built[7:], want)
	}
}

// What has a price is compiled for it once, however many sets of shapes come one after the other and though fewer
// programs are kept; the error is that of the first key that has none.
func TestPricesAreFoundOnce(t *testing.T) {
	h := NewLibrary[int](nil)
	c := newNumbers(2)
	built := map[int]int{}
	var mu sync.Mutex
	h.programs = Cache[int]{Limit: 2, Build: func(k int) (*Program, error) {
		mu.Lock()
		defer mu.Unlock()
		built[k]++
		p, err := c.build(k)
		if err == nil {
			p.Plan.Size = int64(100 * k)
		}
		return p, err
	}}
	for range 2 {
		for _, keys := range [][]int{{}, {1, 2, 3, 3}, {5, 4}, {3, 6, 1}} {
			prices, err := h.Prices(keys)
			if err != nil || len(prices) != len(keys) {
				t.Fatal(prices, err)
			}
			for i, p := range prices {
				if p.Bytes != int64(100*keys[i]) {
					t.Errorf("keys %v: price %d is %+v", keys, i, p)
				}
			}
		}
	}
	if want := (map[int]int{1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1}); !maps.Equal(built, want) || len(h.programs.recent) != 2 {
		t.Errorf("compiled %v and kept %v, want each once and the last two", built, h.programs.recent)
	}
	if _, err := h.Prices([]int{1, -4, 2, -7}); err == nil || err.Error() != "no such shape: -4" {
		t.Errorf("error is %v, want that of the first key that has none", err)
	}
}

// Once Until has an error nothing more is compiled for a price, and what has one still has it.
func TestPricesEnd(t *testing.T) {
	h := NewLibrary[int](nil)
	over := errors.New("over")
	var asked atomic.Int64
	h.Until = func() error {
		if asked.Add(1) > 2 {
			return over
		}
		return nil
	}
	var built atomic.Int64
	h.programs = Cache[int]{Limit: 2, Build: func(int) (*Program, error) {
		built.Add(1)
		return &Program{}, nil
	}}
	if _, err := h.Prices([]int{1, 2, 3, 4, 5, 6}); err != over || built.Load() != 2 {
		t.Errorf("compiled %d, want 2; the error is %v, want %v", built.Load(), err, over)
	}
	if _, err := h.Prices([]int{1, 2}); err != nil {
		t.Errorf("what is known has no price any more: %v", err)
	}
}

// Several goroutines: each gets the program of its key, and while it is kept there is one for a key.
func TestCacheOfSeveralGoroutines(t *testing.T) {
	for _, limit := range []int{2, 10} {
		c := newNumbers(limit)
		var wait sync.WaitGroup
		got := make([][]*Program, 6)
		errs := make([]error, len(got))
		for g := range got {
			wait.Go(func() {
				for k := range 200 {
					if k%10 == 0 {
						for _, other := range []int{k % 3, g, 4} {
							_, err := c.Get(other)
							errs[g] = errors.Join(errs[g], err)
						}
					}
					p, err := c.Get((g + k) % 7)
					errs[g] = errors.Join(errs[g], err)
					if key := c.key(p); key != (g+k)%7 {
						errs[g] = errors.Join(errs[g], fmt.Errorf("key %d has the program of %d", (g+k)%7, key))
					}
					got[g] = append(got[g], p)
				}
			})
		}
		wait.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
		different := map[*Program]bool{}
		for _, list := range got {
			for _, p := range list {
				different[p] = true
			}
		}
		if limit == 10 && (len(different) != 7 || len(c.dropped) != 0) {
			t.Errorf("%d programs for 7 keys, %d dropped", len(different), len(c.dropped))
		}
		if len(c.programs) > limit || len(c.programs) != len(c.recent) {
			t.Errorf("%d programs and %d keys are kept, the limit is %d", len(c.programs), len(c.recent), limit)
		}
	}
}

// Two goroutines that build for one key at the same time get one program.
func TestCacheKeepsTheFirstOfTwo(t *testing.T) {
	n := newNumbers(2)
	var both sync.WaitGroup
	both.Add(2)
	c := Cache[int]{Limit: 2, Build: func(k int) (*Program, error) {
		both.Done()
		both.Wait() // until the other builds too
		return n.build(k)
	}}
	var got [2]*Program
	var wait sync.WaitGroup
	for i := range got {
		wait.Go(func() { got[i], _ = c.Get(1) })
	}
	wait.Wait()
	if got[0] == nil || got[0] != got[1] || got[0] != c.kept(1) || len(n.built) != 2 || len(c.recent) != 1 {
		t.Errorf("programs %p and %p, kept %p, of %d built", got[0], got[1], c.kept(1), len(n.built))
	}
}
