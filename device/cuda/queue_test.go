//go:build gpu

package cuda_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"konkanitrain/device/cuda"
)

func (r *rig) pinned(n int) cuda.Pinned {
	r.Helper()
	p, err := r.Pinned(int64(n), "a test")
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(p.Free)
	return p
}

// Copies of every kind, in the order in which they are queued; bytes are counted.
func TestCopiesSimulated(t *testing.T) {
	r := openRig(t, cuda.Options{}, "lazy=1")
	host, back, a, b := r.pinned(400), r.pinned(400), r.alloc(make([]float32, 100)...), r.alloc(make([]float32, 100)...)
	if strings.Trim(string(host.Bytes()), "\x00") != "" {
		t.Error("pinned memory is not zeros")
	}
	copy(host.Bytes(), bytesOf(ramp(100)))
	before := r.Counters()
	to, from := cuda.AddressOf(b), cuda.AddressOf(a)
	err := r.Do(func(q cuda.Queue) error {
		return errors.Join(
			q.Upload(from, host, 0, 400), q.Copy(to+40, from, 360), q.Clear(to+80, 8), q.Download(back, 200, to+36, 100),
			q.Upload(from, host, 0, 0), q.Copy(to, from, 0), q.Clear(to, 0), q.Download(back, 0, to, 0), q.Wait())
	})
	if err != nil {
		t.Fatal(err)
	}
	want := append(make([]float32, 10), ramp(90)...)
	want[20], want[21] = 0, 0
	equal(t, "the copy", r.floats(b), want)
	part := make([]float32, 100)
	copy(part[50:], want[9:34])
	equal(t, "the host's memory", floatsOf(back.Bytes()), part)
	after := r.Counters()
	if up, down, clears := after.Uploaded-before.Uploaded, after.Downloaded-before.Downloaded, after.Clears-before.Clears; up != 400 || down != 500 || clears != 1 {
		t.Errorf("%d bytes up, %d down, %d cleared; want 400, 500 (with 400 by the test) and 1", up, down, clears)
	}
	for _, outside := range [][2]int64{{-1, 4}, {0, 401}, {400, 1}, {4, -1}} {
		err := r.Do(func(q cuda.Queue) error { return q.Upload(from, host, outside[0], outside[1]) })
		if err == nil || !strings.Contains(err.Error(), "of 400 bytes of pinned memory") {
			t.Errorf("uploading %v: %v", outside, err)
		}
	}
	if err := r.Do(func(q cuda.Queue) error { return q.Upload(from, nil, 0, 4) }); err == nil || !strings.Contains(err.Error(), "not pinned by cuda:0") {
		t.Errorf("uploading nothing: %v", err)
	}
}

// A training loop's way with prefetched batches: while one is worked on the next is copied, into one of two buffers. In
// whatever order the card does what isn't ordered, each batch is added once, and none is overwritten too early.
func TestPrefetchSimulated(t *testing.T) {
	const batches, n = 9, 64
	for seed := 1; seed <= 5; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := openRig(t, cuda.Options{}, "lazy=1", fmt.Sprint("seed=", seed))
			host, sum := r.pinned(4*n*batches), r.alloc(make([]float32, n)...)
			for k := range batches {
				for i := range n {
					copy(host.Bytes()[4*(k*n+i):], bytesOf([]float32{float32((k + 1) * (i + 1))}))
				}
			}
			inputs := [2]cuda.Address{}
			var lists [2]cuda.List
			for k := range lists {
				input := r.alloc(make([]float32, n)...)
				inputs[k] = cuda.AddressOf(input)
				lists[k] = r.bind([]cuda.Launch{multiplyAdd(n, 1, 0, 1)}, input, sum)
			}
			fetch := func(q cuda.Queue, k int) error {
				return q.Prefetch(inputs[k%2], host, int64(4*n*k), 4*n)
			}
			err := r.Do(func(q cuda.Queue) error {
				err := fetch(q, 0)
				for k := 0; k < batches && err == nil; k++ {
					err = q.Join()
					if k+1 < batches {
						err = errors.Join(err, fetch(q, k+1))
					}
					err = errors.Join(err, q.Run(lists[k%2]))
				}
				return errors.Join(err, q.Wait())
			})
			if err != nil {
				t.Fatal(err)
			}
			want := make([]float32, n)
			for i := range want {
				want[i] = float32(batches * (batches + 1) / 2 * (i + 1))
			}
			equal(t, "the sum of the batches", r.floats(sum), want)
		})
	}
}

// What Do's function returns is the caller's; a panic in it is an error, and the card goes on.
func TestDoSimulated(t *testing.T) {
	r := openRig(t, cuda.Options{})
	own := errors.New("the test's own")
	if err := r.Do(func(cuda.Queue) error { return own }); err != own {
		t.Errorf("error %v", err)
	}
	if err := r.Do(func(cuda.Queue) error { panic("the test's own") }); err == nil ||
		!strings.Contains(err.Error(), "broke down: the test's own\n") || !strings.Contains(err.Error(), "TestDoSimulated") {
		t.Errorf("a panic is %v", err)
	}
	if err := r.Do(func(q cuda.Queue) error { return q.Wait() }); err != nil {
		t.Errorf("after a panic: %v", err)
	}
}
