package onnx

import (
	"encoding/binary"
	"math"

	"konkanitrain/internal/simd"
)

// Form is how weights are stored. They are always computed with as float32.
type Form string

// The forms.
const (
	Float32 Form = "float32"
	// Float16 rounds what has two dimensions or more to 11 significant bits. A tensor with a value beyond float16's
	// range (65504) stays float32.
	Float16 Form = "float16"
	// Int8Weights rounds the matrices of products to whole numbers from -127 to 127, times a scale for each output. All
	// else is float32.
	Int8Weights Form = "int8"
)

// weight is a tensor of the network.
type weight struct {
	name       string
	dims       []int64
	data       []float32
	transposed string // the name of the matrix turned over; "" where nobody asked for it
}

// Weight adds a tensor of the network. It is written if a node reads it.
func (b *Builder) Weight(name string, dims []int64, data []float32) string {
	b.claim(name)
	b.weights = append(b.weights, &weight{name: name, dims: dims, data: data})
	return name
}

// Transposed is a matrix [m, n] turned over, [n, m]. A weight is stored so.
func (b *Builder) Transposed(name string) string {
	for _, w := range b.weights {
		if w.name == name && len(w.dims) == 2 {
			if w.transposed == "" {
				w.transposed = name + ".transposed"
				b.claim(w.transposed)
			}
			return w.transposed
		}
	}
	return b.Transpose(name, 1, 0)
}

// store is what the graph holds of a weight, and the nodes that make float32 of it.
func (w *weight) store(f Form, read map[string]bool) (constants []Tensor, nodes []Node) {
	if read[w.name] {
		c, n := stored(w.name, w.dims, w.data, f, false)
		constants, nodes = append(constants, c...), append(nodes, n...)
	}
	if w.transposed != "" {
		rows, columns := int(w.dims[0]), int(w.dims[1])
		data := make([]float32, len(w.data))
		for r := range rows {
			for c := range columns {
				data[c*rows+r] = w.data[r*columns+c]
			}
		}
		c, n := stored(w.transposed, []int64{w.dims[1], w.dims[0]}, data, f, true)
		constants, nodes = append(constants, c...), append(nodes, n...)
	}
	return constants, nodes
}

// stored is a tensor in a form; product says that it is the matrix [n, outputs] of a product.
func stored(name string, dims []int64, data []float32, f Form, product bool) ([]Tensor, []Node) {
	switch {
	case f == Float16 && len(dims) >= 2:
		if half, ok := halves(data); ok {
			t := Tensor{name + ".float16", Half, dims, half}
			cast := Node{Name: name, Op: "Cast", In: []string{t.Name}, Out: []string{name}, Attributes: []Attribute{castTo(Float)}}
			return []Tensor{t}, []Node{cast}
		}
	case f == Int8Weights && product:
		whole, scales := quantize(data, int(dims[1]))
		t := Tensor{name + ".int8", Int8, dims, whole}
		s := Tensor{name + ".scale", Float, dims[1:], floats(scales)}
		node := Node{Name: name, Op: "DequantizeLinear", In: []string{t.Name, s.Name}, Out: []string{name}, Attributes: []Attribute{{"axis", int64(1)}}}
		return []Tensor{t, s}, []Node{node}
	}
	return []Tensor{{name, Float, dims, floats(data)}}, nil
}

func floats(data []float32) []byte {
	b := make([]byte, 0, 4*len(data))
	for _, v := range data {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// halves are the float16 values nearest to data; ok is false where one would be infinite.
func halves(data []float32) (b []byte, ok bool) {
	half := make([]uint16, len(data))
	simd.ToHalf(half, data)
	b = make([]byte, 0, 2*len(data))
	for _, h := range half {
		if h&0x7c00 == 0x7c00 {
			return nil, false
		}
		b = binary.LittleEndian.AppendUint16(b, h)
	}
	return b, true
}

// quantize rounds a matrix [n, outputs] to whole numbers: value = whole * scale of its output, where the largest value
// of an output is 127.
func quantize(data []float32, outputs int) (whole []byte, scales []float32) {
	scales = make([]float32, outputs)
	for i, v := range data {
		scales[i%outputs] = max(scales[i%outputs], float32(math.Abs(float64(v))))
	}
	for o, largest := range scales {
		if scales[o] = largest / 127; scales[o] == 0 {
			scales[o] = 1 // all are 0
		}
	}
	whole = make([]byte, len(data))
	for i, v := range data {
		n := math.RoundToEven(float64(v) / float64(scales[i%outputs]))
		whole[i] = byte(int8(min(max(n, -127), 127)))
	}
	return whole, scales
}
