package engine

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Prices are what programs take, in the order of keys. Each is compiled for its price once in the life of the replica,
// on all cores; the programs used last stay, the prices of all.
func (h *holding[K]) Prices(keys []K) ([]Price, error) {
	var missing []K
	asked := map[K]bool{}
	for _, k := range keys {
		if _, known := h.prices[k]; !known && !asked[k] {
			asked[k] = true
			missing = append(missing, k)
		}
	}
	found, err := h.price(missing)
	if err != nil {
		return nil, err
	}
	for i, k := range missing {
		h.prices[k] = found[i]
	}
	prices := make([]Price, len(keys))
	for i, k := range keys {
		prices[i] = h.prices[k]
	}
	return prices, nil
}

// price compiles what has no price yet. Of several errors it returns that of the first key.
func (h *holding[K]) price(keys []K) ([]Price, error) {
	prices, errs := make([]Price, len(keys)), make([]error, len(keys))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(keys)) {
		wait.Go(func() {
			for i := int(next.Add(1) - 1); i < len(keys); i = int(next.Add(1) - 1) {
				p, err := h.programs.Get(keys[i])
				if errs[i] = err; err == nil {
					prices[i] = Price{Bytes: p.ArenaBytes(), FLOPs: p.FLOPs()}
				}
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return prices, nil
}
