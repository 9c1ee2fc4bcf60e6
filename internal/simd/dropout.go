package simd

// Drop says which elements a dropout site of one utterance zeroes. The draws come from Philox4x32 with 7 rounds:
// element j of row r belongs to group g = j/128, and with o = j%128, lane = o%16, v = o/16 its draw is the 16-bit
// number (word >> (16*(v%2))) & 0xffff, word = philox.Block(Key, g*16+lane, r, Site, 0)[v/2]. The element is kept if
// draw >= Threshold, and kept elements are multiplied by Scale. (16 counters side by side give 8 vectors of 16 lanes
// with no shuffle.) A Threshold of 0 keeps all without drawing.
type Drop struct {
	Key       uint64 // of the utterance and the update
	Site      uint32 // the place in the network
	Threshold uint32 // round(p*65536), at most 65536
}

// Scale returns what kept elements are multiplied by: 65536/(65536-Threshold), and 0 where all are dropped.
func (d Drop) Scale() float32 {
	if d.Threshold >= 65536 {
		return 0
	}
	return 65536 / float32(65536-d.Threshold)
}

// Dropout sets dst = drop(x) for one whole row, starting at its element 0.
func Dropout(dst, x []float32, row uint32, d Drop) {
	if d.Threshold == 0 {
		copy(dst, x[:len(dst)])
		return
	}
	active.dropout(dst, x[:len(dst)], row, d)
}

// AddDropout sets dst = x + alpha*drop(y) for one whole row.
func AddDropout(dst, x []float32, alpha float32, y []float32, row uint32, d Drop) {
	if d.Threshold == 0 {
		AddScaled(dst, x, alpha, y)
		return
	}
	active.addDropout(dst, x[:len(dst)], alpha, y[:len(dst)], row, d)
}

// SwishDropout sets dst = drop(swish(x)) for one whole row.
func SwishDropout(dst, x []float32, row uint32, d Drop) {
	if d.Threshold == 0 {
		Swish(dst, x)
		return
	}
	active.swishDropout(dst, x[:len(dst)], row, d)
}

// SwishDropoutGrad sets dx = drop(dy) * swish'(x), the gradient of SwishDropout, for one whole row.
func SwishDropoutGrad(dx, x, dy []float32, row uint32, d Drop) {
	if d.Threshold == 0 {
		SwishGrad(dx, x, dy)
		return
	}
	active.swishDropoutGrad(dx, x[:len(dx)], dy[:len(dx)], row, d)
}
