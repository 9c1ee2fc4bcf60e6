package data

import (
	"slices"
	"sync"
)

// buffers keeps the feature buffers that were given back, so that a steady loop allocates nothing. A request
// gets the smallest buffer that fits, so a few long utterances don't make every buffer long.
type buffers struct {
	limit int64 // bytes that all buffers may take, those in use included, before free ones are given up

	mu    sync.Mutex
	bytes int64       // of all buffers
	free  [][]float32 // by capacity, the smallest first
}

// frameStep rounds buffers up, so that lengths that differ a little share them.
const frameStep = 128

// bufferLen is the length of a new buffer for frames x bins values.
func bufferLen(frames, bins int) int { return (frames + frameStep - 1) / frameStep * frameStep * bins }

// get returns an empty buffer with room for frames x bins values. If none fits, the largest free one makes way
// for the new one, and others where the limit asks for it: there are never more buffers than were in use at once.
func (b *buffers) get(frames, bins int) []float32 {
	need := frames * bins
	b.mu.Lock()
	defer b.mu.Unlock()
	i, _ := slices.BinarySearchFunc(b.free, need, func(f []float32, n int) int { return cap(f) - n })
	if i < len(b.free) {
		f := b.free[i]
		b.free = slices.Delete(b.free, i, i+1)
		return f[:0]
	}
	f := make([]float32, 0, bufferLen(frames, bins))
	b.bytes += 4 * int64(cap(f))
	for first := true; len(b.free) > 0 && (first || b.bytes > b.limit); first = false {
		n := len(b.free) - 1
		b.bytes -= 4 * int64(cap(b.free[n]))
		b.free = slices.Delete(b.free, n, n+1)
	}
	return f
}

func (b *buffers) put(f []float32) {
	if cap(f) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i, _ := slices.BinarySearchFunc(b.free, cap(f), func(g []float32, n int) int { return cap(g) - n })
	b.free = slices.Insert(b.free, i, f[:0])
}

// waves keeps decoded sound in memory up to a limit. What came first stays: every epoch reads everything once,
// so throwing out old sound for new would never pay.
type waves struct {
	limit int64 // bytes

	mu    sync.Mutex
	used  int64
	waves map[waveKey][]float32
}

// waveKey is the sound of an utterance, which others may have too.
type waveKey struct {
	recording *Recording
	offset    float64
	samples   int
}

func (u *Utterance) wave() waveKey { return waveKey{u.Recording, u.Offset, u.Samples} }

// waveBytes is what kept sound takes: Go's heap gives whole pages to what is large.
func waveBytes(samples int) int64 {
	const page = 8 << 10
	bytes := 4 * int64(samples)
	if bytes > 32<<10 {
		bytes = (bytes + page - 1) / page * page
	}
	return bytes
}

// get returns the samples of u at the file's rate, or nil. They must not be changed.
func (c *waves) get(u *Utterance) []float32 {
	if c.limit == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waves[u.wave()]
}

// put keeps a copy of x if there is room.
func (c *waves) put(u *Utterance, x []float32) {
	bytes := waveBytes(len(x))
	if c.limit == 0 || len(x) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used+bytes > c.limit || c.waves[u.wave()] != nil {
		return
	}
	if c.waves == nil {
		c.waves = map[waveKey][]float32{}
	}
	c.waves[u.wave()] = slices.Clone(x)
	c.used += bytes
}
