package engine

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// ProgramsKept is the number of programs that a library keeps, unless a single pass has more: a program takes a
// megabyte or two.
const ProgramsKept = 96

// Library compiles the programs of a network: it keeps those used last, and the prices of all. Replicas of one network
// may share it, so that what was compiled for a plan is there when it is carried out. Several goroutines may ask for
// prices; the programs belong to one replica at a time.
type Library[K comparable] struct {
	// Until, if set, ends what compiles for a price: from the time that it returns an error on, Prices returns that error
	// for what it doesn't know yet. Several goroutines call it.
	Until func() error

	net      Network[K]
	programs Cache[K]

	mu     sync.Mutex
	prices map[K]Price // of all that was ever asked for
}

// NewLibrary is an empty library of a network.
func NewLibrary[K comparable](net Network[K]) *Library[K] {
	l := &Library[K]{net: net, prices: map[K]Price{}}
	l.programs = Cache[K]{Limit: ProgramsKept, Build: l.compile}
	return l
}

func (l *Library[K]) compile(key K) (*Program, error) {
	spec, err := l.net.Spec(key)
	if err != nil {
		return nil, err
	}
	return Compile(spec)
}

// Prices are what programs take, in the order of keys. Each is compiled for its price once in the life of the library,
// on all cores; the programs used last stay, the prices of all. Of several errors it returns that of the first key.
func (l *Library[K]) Prices(keys []K) ([]Price, error) {
	prices, errs := make([]Price, len(keys)), make([]error, len(keys))
	var missing []int
	asked := map[K]bool{}
	l.mu.Lock()
	for i, k := range keys {
		if p, known := l.prices[k]; known {
			prices[i] = p
		} else {
			if !asked[k] {
				missing = append(missing, i)
			}
			asked[k] = true
		}
	}
	l.mu.Unlock()
	if len(missing) == 0 {
		return prices, nil
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(missing)) {
		wait.Go(func() {
			for n := int(next.Add(1)) - 1; n < len(missing); n = int(next.Add(1)) - 1 {
				i := missing[n]
				errs[i] = l.price(keys[i])
			}
		})
	}
	wait.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, k := range keys {
		if errs[i] != nil {
			return nil, errs[i]
		}
		prices[i] = l.prices[k]
	}
	return prices, nil
}

// Program is the program of a key, compiled where it isn't kept. It is not to be changed.
func (l *Library[K]) Program(key K) (*Program, error) { return l.programs.Get(key) }

// price compiles a program and keeps its price.
func (l *Library[K]) price(key K) error {
	if l.Until != nil {
		if err := l.Until(); err != nil {
			return err
		}
	}
	p, err := l.programs.Get(key)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prices[key] = priceOf(p)
	return nil
}
