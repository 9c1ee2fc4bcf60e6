package update

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"konkanitrain/data"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// gradientsOf is the last update's gradient.
func gradientsOf(t *testing.T, u *Updater, tuning Tuning) (all []float32) {
	t.Helper()
	for _, p := range tuning.Learned(model.Parameters(u.Runner.Net)) {
		if err := u.EachGradient(p, func(x float32) { all = append(all, x) }); err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
	}
	return all
}

// checkGradients holds the gradient that is read after each update to the norm that the update has found, looks that it
// is gone with the next pass, and that reading it changes nothing.
func checkGradients(t *testing.T, u, unread *Updater, tuning Tuning) {
	t.Helper()
	net := u.Runner.Net
	some := tuning.Learned(model.Parameters(net))[0]
	ignore := func(float32) {}
	testkit.MustFail(t, u.EachGradient(some, ignore), "there is no gradient")
	for i := range 3 {
		out := mustUpdate(t, u, windowOfFour(net))
		squares := 0.0
		all := gradientsOf(t, u, tuning)
		for _, x := range all {
			squares += float64(x) * float64(x)
		}
		// The replica adds squares up in float32, some thousands at a time, those sums in float64.
		if norm := math.Sqrt(squares); len(all) == 0 || !(math.Abs(norm/out.Norm-1) <= 1e-5) {
			t.Errorf("update %d: %d elements have the norm %v, want %v", i+1, len(all), norm, out.Norm)
		}
		if again := mustUpdate(t, unread, windowOfFour(net)); again.Loss != out.Loss || again.Norm != out.Norm {
			t.Errorf("update %d: loss and norm are %v and %v, %v and %v where nobody reads the gradient", i+1, out.Loss, out.Norm, again.Loss, again.Norm)
		}
	}
	if _, err := u.Runner.Run(windowOfFour(net), Ask{Purpose: model.Scoring}); err != nil {
		t.Fatal(err)
	}
	testkit.MustFail(t, u.EachGradient(some, ignore), "there is no gradient")
}

func TestEachGradient(t *testing.T) {
	net := tinyNetwork(4, 1)
	frozen := Tuning{Freeze: []string{"encoder.subsample"}}
	for _, workers := range []int{1, 3} {
		for _, half := range []bool{false, true} {
			for _, tuning := range []Tuning{{}, frozen} {
				t.Run(fmt.Sprintf("%d workers, half %t, frozen %v", workers, half, tuning.Freeze), func(t *testing.T) {
					o := options
					o.Half, o.GradClip = half, 0.1
					read := New(net, crewWith(t, net, workers, tuning), o)
					checkGradients(t, read, New(net, crewWith(t, net, workers, tuning), o), tuning)
				})
			}
		}
	}
	// The gradient doesn't depend on how a window is cut, but to the rounding of some dozens of sums.
	var want []float32
	for _, rows := range []int{1, 4} {
		o := options
		o.BatchSize = rows
		u := New(net, newCrew(t, net, 1), o)
		mustUpdate(t, u, windowOfFour(net))
		got := gradientsOf(t, u, Tuning{})
		if want == nil {
			want = got
		}
		most := float64(slices.Max(want))
		for i := range want {
			if !(math.Abs(float64(got[i]-want[i])) <= 1e-5*most) {
				t.Fatalf("micro-batches of %d: element %d is %g, want %g", rows, i, got[i], want[i])
			}
		}
	}
	u := New(net, crewWith(t, net, 1, frozen), options)
	mustUpdate(t, u, []*data.Example{windowOfFour(net)[1]})
	testkit.MustFail(t, u.EachGradient(model.Parameters(net)[0], func(float32) {}), "is frozen")
}

// A stream comes in pieces of any size.
func TestElementsInPieces(t *testing.T) {
	want := testkit.Normal[float32](1, 50)
	var stream bytes.Buffer
	if err := binary.Write(&stream, binary.LittleEndian, want); err != nil {
		t.Fatal(err)
	}
	for size := 1; size <= stream.Len(); size++ {
		var got []float32
		e := &elements{scale: 1, add: func(x float32) { got = append(got, x) }}
		for part := range slices.Chunk(stream.Bytes(), size) {
			if n, err := e.Write(part); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("in pieces of %d bytes: %v", size, got)
		}
	}
}
