package data

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"konkanitrain/data/audio"
	"konkanitrain/data/feature"
)

// long is a Set of n utterances of 7 to 9 s at a rate.
func long(t testing.TB, n, rate int) *Set {
	files := map[string]string{}
	var b strings.Builder
	for i := range n {
		files[fmt.Sprintf("%d.wav", i)] = string(wav((7*n+2*i)*rate/n, rate))
		fmt.Fprintf(&b, `{"id": "u%d", "audio_filepath": "%d.wav", "text": "a"}`+"\n", i, i)
	}
	files["x.jsonl"] = b.String()
	return mustLoad(t, filepath.Join(corpus(t, files), "x.jsonl"), Options{SampleRate: 8000})
}

func liveHeap() int64 {
	runtime.GC()
	runtime.GC() // frees what pools still held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// settled is what a heap comes to when the goroutines that work are done: when it has stayed the same, but for small
// things, in 50 looks at it.
func settled(heap func() int64) (bytes int64) {
	same := 0
	for deadline := time.Now().Add(30 * time.Second); same < 50 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		now := heap()
		if same++; max(now-bytes, bytes-now) > 4096 {
			same = 0
		}
		bytes = now
	}
	return bytes
}

// What a Loader says it will hold is what the heap grows by over some epochs: not less but for 1 % of small things, and
// not more than 15 % above, which is room for windows that would be longer than any that came.
func TestMemory(t *testing.T) {
	for name, c := range map[string]struct {
		rate int
		set  func(o *LoaderOptions)
	}{
		"as it is":       {8000, func(o *LoaderOptions) {}},
		"augmented":      {8000, func(o *LoaderOptions) { *o = augmented(*o) }},
		"resampled":      {16000, func(o *LoaderOptions) { *o = augmented(*o) }},
		"odd rate":       {11025, func(o *LoaderOptions) { *o = augmented(*o) }},
		"cached":         {16000, func(o *LoaderOptions) { *o = augmented(*o); o.CacheWaves = 1 << 30 }},
		"cached in part": {8000, func(o *LoaderOptions) { o.CacheWaves = 1 << 20 }},
		"warped":         {8000, func(o *LoaderOptions) { *o = augmented(*o); o.Augment.VTLP = 0.1 }},
		"with noise":     {8000, func(o *LoaderOptions) { o.Augment = &feature.Augment{NoiseShare: 1} }},
		"pitched":        {8000, func(o *LoaderOptions) { o.Augment = &feature.Augment{Pitch: 4} }},
		"in rooms":       {16000, func(o *LoaderOptions) { o.Augment = &feature.Augment{ReverbShare: 1} }},
		"perturbed":      {16000, func(o *LoaderOptions) { *o = perturbed(*o) }},
		"peeks":          {8000, func(o *LoaderOptions) { *o = augmented(*o); o.Peeks = true }},
		"far ahead":      {8000, func(o *LoaderOptions) { *o = augmented(*o); o.Ahead = 5; o.Workers = 2 }},
	} {
		t.Run(name, func(t *testing.T) {
			s := long(t, 24, c.rate)
			o := options8k(4)
			o.Workers = 1
			c.set(&o)
			before := liveHeap()
			l := newLoader(t, s, o)
			said := l.Memory()
			r, err := l.Start(context.Background(), 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for range 6 * l.Windows() {
				w, err := r.Next()
				if err != nil {
					t.Fatal(err)
				}
				w.Release()
			}
			held, err := r.Next() // stays in use, while the workers read ahead as far as they may
			if err != nil {
				t.Fatal(err)
			}
			// Of several workers it is left to chance which ones meet the longest files: only one surely has.
			sure := said.Total() - said.Scratch*int64(o.Workers-1)/int64(o.Workers)
			grown := settled(func() int64 {
				if o.Peeks {
					r.Peek()
				}
				return liveHeap() - before
			})
			off, over := float64(said.Total())/float64(grown)-1, float64(sure)/float64(grown)-1
			if off < -0.01 || over > 0.15 {
				t.Errorf("said %+v, %d in all; the heap has grown by %d: %.1f %% off", said, said.Total(), grown, 100*off)
			}
			l.buffers.mu.Lock()
			bytes := l.buffers.bytes
			l.buffers.mu.Unlock()
			if bytes > said.Windows {
				t.Errorf("feature buffers take %d bytes, and %d was the most", bytes, said.Windows)
			}
			runtime.KeepAlive(held)
			runtime.KeepAlive(l)
		})
	}
}

// An evaluation ends with its workers; its buffers stay, and take no more than was said: just that where there is
// but one window.
func TestMemoryOfEvaluation(t *testing.T) {
	o := options8k(4)
	o.Evaluate = true
	for _, n := range []int{3, 24} {
		l := newLoader(t, long(t, n, 8000), o)
		r, err := l.Start(context.Background(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for w, err := r.Next(); err == nil; w, err = r.Next() {
			w.Release()
		}
		r.Close()
		if said := l.Memory().Windows; l.buffers.bytes > said || n == 3 && l.buffers.bytes < said {
			t.Errorf("%d utterances: feature buffers take %d bytes, said %d", n, l.buffers.bytes, said)
		}
	}
}

// The kernels that KernelBytes foresees are those that a Resampler makes.
func TestMemoryOfKernels(t *testing.T) {
	r := audio.NewResampler()
	var ratios []audio.Ratio
	x := make([]float32, 1000)
	grown := -liveHeap()
	for _, from := range []int{8000, 11025, 44100} {
		ratio, err := audio.Convert(from, 16000, audio.Ratio{P: 9, Q: 10})
		if err != nil {
			t.Fatal(err)
		}
		ratios = append(ratios, ratio, ratio)
		r.Resample(nil, x, ratio)
	}
	grown += liveHeap()
	said := r.KernelBytes(ratios) + r.ScratchBytes(len(x), ratios[0])
	if off := float64(said)/float64(grown) - 1; off < -0.02 || off > 0.02 { // sizes of objects are rounded up
		t.Errorf("said %d, the heap has grown by %d", said, grown)
	}
	runtime.KeepAlive(r)
}
