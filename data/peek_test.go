package data

import (
	"context"
	"io"
	"testing"
	"time"
)

// What is looked at comes next, whole, once, in order; after the last window there is nothing to look at.
func TestPeek(t *testing.T) {
	s := spoken(t, 23)
	for _, evaluate := range []bool{false, true} {
		o := options8k(6)
		if o.Peeks, o.Evaluate = true, evaluate; !evaluate {
			o = augmented(o)
		}
		l := newLoader(t, s, o)
		want := prints(t, l, 0, 0, 4)
		r, err := l.Start(context.Background(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			var seen *Window
			for deadline := time.Now().Add(30 * time.Second); seen == nil && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
				seen = r.Peek()
			}
			if seen == nil || fingerprint(seen) != want[i] || r.Peek() != seen {
				t.Fatalf("window %d is not the one that is looked at", i)
			}
			w, err := r.Next()
			if err != nil || w != seen {
				t.Fatalf("window %d: another one comes, %v", i, err)
			}
			w.Release()
		}
		if evaluate {
			if _, err := r.Next(); err != io.EOF || r.Peek() != nil {
				t.Errorf("after the end: %v, %v", err, r.Peek())
			}
		} else {
			for r.Peek() == nil {
				time.Sleep(time.Millisecond)
			}
		}
		r.Close() // also with one that was looked at and never asked for
	}
}
