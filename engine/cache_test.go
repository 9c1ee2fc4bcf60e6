package engine

import (
	"errors"
	"fmt"
	"slices"
	"sync"
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

func TestGetAll(t *testing.T) {
	c := newNumbers(3)
	all := func(keys ...int) []*Program {
		t.Helper()
		programs, err := c.GetAll(keys)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range programs {
			if c.key(p) != keys[i] {
				t.Errorf("keys %v: program %d is that of %d", keys, i, c.key(p))
			}
		}
		return programs
	}
	all()
	first := all(5, 1, 2)
	if again := all(2, 5, 1); !slices.Equal(again, []*Program{first[2], first[0], first[1]}) || len(c.built) != 3 {
		t.Errorf("built %v: what was there was built again", c.built)
	}
	// 4 takes the place of what isn't asked for, wherever the others stand in the list.
	if got := all(4, 2, 1); got[1] != first[2] || got[2] != first[1] || !slices.Equal(c.dropped, []int{5}) {
		t.Errorf("dropped %v, want 5 alone", c.dropped)
	}
	all(1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9) // more than are kept
	if len(c.programs) != 3 || len(c.recent) != 3 {
		t.Errorf("%d programs are kept, want 3", len(c.programs))
	}
	if _, err := c.GetAll([]int{1, -4, 2, -7}); err == nil || err.Error() != "no such shape: -4" {
		t.Errorf("error is %v, want that of the first key that has none", err)
	}
	all(1, 2)
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
						_, err := c.GetAll([]int{k % 3, g, 4})
						errs[g] = errors.Join(errs[g], err)
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
