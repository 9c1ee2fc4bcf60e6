package update

import (
	"encoding/binary"
	"math"

	"konkanitrain/engine"
	"konkanitrain/model"
)

// EachGradient calls add for each element of a parameter's part of the last update's gradient, in row-major order:
// without the loss scale and before clipping, the mean over the window's utterances. It is there until the next pass.
// What is frozen has none.
func (u *Updater) EachGradient(p model.Parameter, add func(x float32)) error {
	return u.Runner.Replica.Export(engine.Gradients, p.Name, &elements{add: add, scale: u.scale})
}

// elements takes a stream of float32, divides them by the scale, and gives each to add.
type elements struct {
	add   func(x float32)
	scale float64
	rest  [4]byte // of an element that came in pieces
	have  int     // bytes of it
}

// Write takes the next bytes.
func (e *elements) Write(b []byte) (int, error) {
	n := len(b)
	for e.have > 0 && len(b) > 0 {
		e.rest[e.have] = b[0]
		e.have, b = (e.have+1)%4, b[1:]
		if e.have == 0 {
			e.take(e.rest[:])
		}
	}
	for ; len(b) >= 4; b = b[4:] {
		e.take(b)
	}
	e.have += copy(e.rest[e.have:], b)
	return n, nil
}

func (e *elements) take(b []byte) {
	e.add(float32(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) / e.scale))
}
