package faulty_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"konkanitrain/device"
	"konkanitrain/device/faulty"
)

// failed are the calls of eight, of 1, 2, ... 8 bytes, that fail.
func failed(t *testing.T, dev *faulty.Device) (calls []int) {
	t.Helper()
	for i := 1; i <= 8; i++ {
		before := dev.Usage()
		b, err := dev.Alloc(int64(i), fmt.Sprint("buffer ", i))
		if err == nil {
			defer b.Free()
			continue
		}
		calls = append(calls, i)
		var short *device.OutOfMemory
		if !errors.As(err, &short) || short.What != fmt.Sprint("buffer ", i) || short.Size != int64(i) || short.Allocated != before.Allocated {
			t.Errorf("call %d: error is %v, want one of memory", i, err)
		}
		if dev.Usage() != before {
			t.Errorf("a failed call takes memory: %+v, before %+v", dev.Usage(), before)
		}
	}
	return calls
}

func TestFailures(t *testing.T) {
	odd := errors.New("odd")
	for _, c := range []struct {
		name string
		rule faulty.Rule
		want []int
	}{
		{"none", nil, nil},
		{"the third", faulty.Nth(3), []int{3}},
		{"from the seventh", faulty.From(7), []int{7, 8}},
		{"by a function", func(n int, size int64, what string) error {
			if n%3 == 0 && size == int64(n) && what == fmt.Sprint("buffer ", n) {
				return odd
			}
			return nil
		}, []int{3, 6}},
	} {
		dev := faulty.New(device.NewNull(0), c.rule)
		for range 2 { // Arm counts from 1 again
			if got := failed(t, dev); !slices.Equal(got, c.want) || dev.Calls() != 8 {
				t.Errorf("%s: of %d calls %v failed, want %v", c.name, dev.Calls(), got, c.want)
			}
			dev.Arm(c.rule)
		}
		if u := dev.Usage(); u.Buffers != 0 || dev.Calls() != 0 {
			t.Errorf("%s: %d calls, %+v", c.name, dev.Calls(), u)
		}
	}
	dev := faulty.New(device.NewNull(0), func(int, int64, string) error { return odd })
	if _, err := dev.Alloc(1, "b"); !errors.Is(err, odd) {
		t.Errorf("the cause is lost: %v", err)
	}
	dev.Arm(faulty.From(1))
	if _, err := dev.Alloc(1, "b"); !errors.Is(err, faulty.Err) {
		t.Errorf("the cause is lost: %v", err)
	}
}
