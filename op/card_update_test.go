//go:build gpu

package op_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"konkanitrain/device"
	"konkanitrain/device/cuda"
	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

// flatTensors are weights in a flat buffer: their sizes, of which every second one decays. Each begins at a multiple of
// op.DecayElements. The last one is more than a block sums the squares of.
var flatTensors = []int{37, 16, 5, 1, 9000}

// flat is the state of an update, on the host.
type flat struct {
	weights, first, second, grads, averages []float32
	decays                                  []byte
}

// newFlat fills tensors with numbers and leaves 0 between them.
func newFlat(scale float64) *flat {
	f, r := &flat{}, optest.Rand(90)
	for i, n := range flatTensors {
		padded := (n + op.DecayElements - 1) / op.DecayElements * op.DecayElements
		for k := range padded {
			x := [5]float64{r.NormFloat64(), r.NormFloat64(), math.Abs(r.NormFloat64()), r.NormFloat64() * scale, r.NormFloat64()}
			if k >= n {
				x = [5]float64{}
			}
			f.weights, f.first = append(f.weights, float32(x[0])), append(f.first, float32(x[1]))
			f.second, f.grads = append(f.second, float32(x[2])), append(f.grads, float32(x[3]))
			f.averages = append(f.averages, float32(x[4]))
		}
		f.decays = append(f.decays, bytes.Repeat([]byte{byte(i % 2)}, padded/op.DecayElements)...)
	}
	return f
}

// update is the same on the processor: AdamW tensor by tensor, behind clipping, and with averages a step of these. It
// says whether it was made.
func (f *flat) update(t *testing.T, s op.CardStep, odd int, averages bool) (squares float64, applied bool) {
	for _, g := range f.grads {
		squares += float64(g) * float64(g)
	}
	norm := math.Sqrt(squares) / s.LossScale
	if norm-norm != 0 || odd > 0 {
		return squares, false
	}
	at := 0
	for i, n := range flatTensors {
		kernel, err := op.NewAdamW(n).Kernel(op.CPU)
		if err != nil {
			t.Fatal(err)
		}
		step, constants := s.AdamStep, make([]float32, 8)
		step.GradScale = float32(min(1, s.Clip/(norm+1e-6)) / s.LossScale)
		if i%2 == 0 {
			step.Decay = 0
		}
		step.Put(constants)
		of := func(x []float32) op.Tensor { return op.Tensor{Data: x[at:][:n]} }
		kernel.Run(&op.Env{}, of(f.weights), []op.Tensor{of(f.weights), of(f.first), of(f.second), of(f.grads), {Data: constants}})
		if averages {
			kernel, err := op.NewEMA(n).Kernel(op.CPU)
			if err != nil {
				t.Fatal(err)
			}
			kernel.Run(&op.Env{}, of(f.averages), []op.Tensor{of(f.averages), of(f.weights), {Data: []float32{s.Share}}})
		}
		at += (n + op.DecayElements - 1) / op.DecayElements * op.DecayElements
	}
	return squares, true
}

// onCard runs kernels on operands in a card's memory, and has what they leave there.
func onCard(t *testing.T, card cuda.Card, kernels []op.Kernel, at func(kernel int) []int, operands ...any) [][]byte {
	t.Helper()
	var buffers []device.Buffer
	place := func(content []byte) device.Buffer {
		b, err := card.Alloc(int64(len(content)), "operand")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Free)
		if _, err := b.WriteAt(content, 0); err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, x := range operands {
		content, err := binary.Append(nil, binary.LittleEndian, x)
		if err != nil {
			t.Fatal(err)
		}
		buffers = append(buffers, place(content))
	}
	for i, k := range kernels {
		scratch := place(bytes.Repeat([]byte{0xff}, int(k.Scratch)+1))
		for j := range k.Launches {
			if err := k.Launches[j].Check(); err != nil {
				t.Fatal(err)
			}
		}
		list, err := card.Bind(k.Launches, func(_ int, r cuda.Ref) cuda.Address {
			b := scratch
			if r.Place == cuda.Operand {
				b = buffers[at(i)[r.Index]]
			}
			return cuda.AddressOf(b) + cuda.Address(r.Offset)
		})
		if err != nil {
			t.Fatal(err)
		}
		err = card.Do(func(q cuda.Queue) error { return q.Run(list) })
		list.Free()
		if err != nil {
			t.Fatal(err)
		}
	}
	var left [][]byte
	for _, b := range buffers {
		content := make([]byte, b.Size())
		if _, err := b.ReadAt(content, 0); err != nil {
			t.Fatal(err)
		}
		left = append(left, content)
	}
	return left
}

// decoded are the elements of a content.
func decoded[T any](t *testing.T, content []byte, n int) []T {
	t.Helper()
	x := make([]T, n)
	if _, err := binary.Decode(content, binary.LittleEndian, x); err != nil {
		t.Fatal(err)
	}
	return x
}

// An update on a simulated card is that of the processor, where it is made at all; where it is not, nothing changes.
func TestCardUpdate(t *testing.T) {
	card := openCard(t)
	finite := []float32{1, 0, -3, math.MaxFloat32}
	for _, c := range []struct {
		name       string
		scale      float64 // of the gradients
		clip, loss float64
		halves     bool
		averages   bool
		bad        float64 // a gradient
		losses     []float32
		odd        float64
	}{
		{name: "clipped", scale: 1, clip: 5, loss: 1, losses: finite},
		{name: "not clipped, averages", scale: 1e-3, clip: 5, loss: 1, averages: true, losses: finite},
		{name: "half precision", scale: 65536, clip: 1e9, loss: 65536, halves: true, losses: finite},
		{name: "half precision, averages", scale: 65536, clip: 1e9, loss: 65536, halves: true, averages: true, losses: finite},
		{name: "squares beyond float32", scale: 1e30, clip: 5, loss: 1024, halves: true, losses: finite},
		{name: "an infinite gradient", scale: 1, clip: 5, loss: 1, averages: true, bad: math.Inf(-1), losses: finite},
		{name: "a gradient that is no number", scale: 1, clip: 5, loss: 1, halves: true, bad: math.NaN(), losses: finite},
		{name: "losses that are not finite", scale: 1, clip: 5, loss: 1, halves: true, odd: 3,
			losses: []float32{1, float32(math.NaN()), float32(math.Inf(1)), 2, float32(math.Inf(-1))}},
	} {
		t.Run("simulated/"+c.name, func(t *testing.T) {
			f := newFlat(c.scale)
			n := len(f.weights)
			if c.bad != 0 {
				f.grads[n-1000] = float32(c.bad)
			}
			set := op.AdamSettings{LR: 1e-2, Decay: 0.1, Beta1: 0.9, Beta2: 0.98, Eps: 1e-9}
			step := op.CardStep{AdamStep: set.Step(7), Clip: c.clip, LossScale: c.loss, Share: 0.3}
			constants := make([]float64, op.CardConstants)
			step.Put(constants)
			before := newFlat(c.scale)
			halves := slices.Repeat([]uint16{0x7e00}, n)

			kernels := []op.Kernel{
				{Launches: []cuda.Launch{op.CardHalves(n)}}, {Launches: []cuda.Launch{op.CardLosses(len(c.losses))}}, op.CardUpdate([]int{n}, c.halves, c.averages),
			}
			at := [][]int{{0, 4}, {8, 7}, {0, 1, 2, 3, 4, 5, 6, 7, 9}}
			run := func() [][]byte {
				return onCard(t, card, kernels, func(i int) []int { return at[i] },
					f.weights, f.first, f.second, f.grads, halves, f.decays, constants, make([]float64, op.CardStatus), c.losses, f.averages)
			}
			left := run()
			card.inEachMode(t, false, func() error {
				if again := run(); !slices.EqualFunc(left, again, bytes.Equal) {
					return errors.New("another run leaves other bits")
				}
				return nil
			})

			squares, applied := f.update(t, step, int(c.odd), c.averages)
			if want := c.bad == 0 && c.odd == 0; applied != want {
				t.Fatalf("the processor's update: made %v, want %v", applied, want)
			}
			status := decoded[float64](t, left[7], op.CardStatus)
			if !(math.Abs(status[op.StatusSquares]-squares) <= 1e-12*squares) && c.bad == 0 {
				t.Errorf("the sum of squares is %g, want %g", status[op.StatusSquares], squares)
			}
			if status[op.StatusOdd] != c.odd || (status[op.StatusApplied] == 1) != applied || status[op.StatusApplied] > 1 {
				t.Errorf("the status is %v, want %g losses that are not finite, and applied %v", status, c.odd, applied)
			}
			for _, x := range []struct {
				i         int
				want, old []float32
				changes   bool
			}{
				{0, f.weights, before.weights, applied}, {1, f.first, before.first, applied}, {2, f.second, before.second, applied},
				{9, f.averages, before.averages, applied && c.averages},
			} {
				i, got := x.i, decoded[float32](t, left[x.i], n)
				if slices.Equal(got, x.old) == x.changes {
					t.Errorf("operand %d has changed: %v, want %v", i, !x.changes, x.changes)
				}
				// A dozen roundings, on either side, of terms as large as the result.
				closeTo(t, fmt.Sprint("operand ", i), got, optest.NewArray(op.Tensor{Data: x.want}).Data, 1e-6)
				at := 0
				for _, size := range flatTensors {
					for at += size; at%op.DecayElements > 0; at++ {
						if got[at] != 0 {
							t.Fatalf("operand %d: padding element %d is %g", i, at, got[at])
						}
					}
				}
			}
			checkHalves(t, decoded[float32](t, left[0], n), decoded[uint16](t, left[4], n), c.halves || !applied)
		})
	}
}

// checkHalves compares a float16 copy with the weights: it is theirs where it is kept up to date, else that of the
// weights before.
func checkHalves(t *testing.T, weights []float32, halves []uint16, fresh bool) {
	t.Helper()
	kernel, err := op.NewHalfStore(len(weights)).Kernel(op.CPU)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]uint16, len(weights))
	kernel.Run(&op.Env{}, op.Tensor{Halves: want}, []op.Tensor{{Data: weights}})
	if slices.Equal(halves, want) != fresh {
		t.Errorf("the float16 copy is that of the weights: %v, want %v", !fresh, fresh)
	}
}

// Weights and averages change places on a simulated card, to the bit, and nothing else does.
func TestCardExchange(t *testing.T) {
	card, f := openCard(t), newFlat(1)
	n := len(f.weights) - 3 // less than all
	kernel := []op.Kernel{{Launches: []cuda.Launch{op.CardExchange(n)}}}
	left := onCard(t, card, kernel, func(int) []int { return []int{0, 1} }, f.weights, f.averages)
	for i, want := range [][]float32{
		append(slices.Clone(f.averages[:n]), f.weights[n:]...), append(slices.Clone(f.weights[:n]), f.averages[n:]...),
	} {
		if !slices.Equal(decoded[float32](t, left[i], len(want)), want) {
			t.Errorf("operand %d is not what the other was", i)
		}
	}
}
