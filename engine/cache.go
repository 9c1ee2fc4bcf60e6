package engine

import "sync"

// Cache keeps programs by key, the ones used last. Its methods may be called from several goroutines.
type Cache[K comparable] struct {
	Limit   int // programs kept
	Build   func(K) (*Program, error)
	Dropped func(*Program) // called for a program that is dropped; may be nil

	mu       sync.Mutex
	programs map[K]*Program
	recent   []K // least recently used first
}

// Get is the program for key, compiled on first use.
func (c *Cache[K]) Get(key K) (*Program, error) {
	if p := c.kept(key); p != nil {
		return p, nil
	}
	p, err := c.Build(key)
	if err != nil {
		return nil, err
	}
	return c.keep(key, p), nil
}

// kept is the program for key if it is there, which counts as a use.
func (c *Cache[K]) kept(key K) *Program {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.programs[key]
	if p == nil {
		return nil
	}
	for i, k := range c.recent {
		if k == key {
			copy(c.recent[i:], c.recent[i+1:])
			c.recent[len(c.recent)-1] = key
			break
		}
	}
	return p
}

// keep takes in what was built for key, unless another goroutine was quicker, and returns what is kept.
func (c *Cache[K]) keep(key K, p *Program) *Program {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.programs == nil {
		c.programs = map[K]*Program{}
	}
	if first := c.programs[key]; first != nil {
		return first
	}
	for len(c.recent) >= max(c.Limit, 1) {
		oldest := c.recent[0]
		c.recent = c.recent[1:]
		if c.Dropped != nil {
			c.Dropped(c.programs[oldest])
		}
		delete(c.programs, oldest)
	}
	c.programs[key] = p
	c.recent = append(c.recent, key)
	return p
}

// Clear drops all programs.
func (c *Cache[K]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Dropped != nil {
		for _, p := range c.programs {
			c.Dropped(p)
		}
	}
	clear(c.programs)
	c.recent = c.recent[:0]
}
