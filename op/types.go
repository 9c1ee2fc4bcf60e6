package op

import (
	"fmt"
	"strings"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// DType is an element type.
type DType uint8

// The element types. Lengths, tokens and random seeds are Int32; Float16 is how a float32 is stored to save memory;
// Float64 occurs as the result of Reduce only.
const (
	Float32 DType = iota
	Float16
	Int32
	Float64
)

// Bytes is the size of one element.
func (d DType) Bytes() int64 {
	switch d {
	case Float16:
		return 2
	case Float64:
		return 8
	}
	return 4
}

// String is the type's name in Go, "float32" for instance.
func (d DType) String() string {
	switch d {
	case Float32:
		return "float32"
	case Float16:
		return "float16"
	case Int32:
		return "int32"
	case Float64:
		return "float64"
	}
	return fmt.Sprintf("DType(%d)", uint8(d))
}

// Type is the shape and element type of an operand or result; every shape is known when the graph is built.
type Type struct {
	Shape tensor.Shape // empty for a scalar
	Of    DType        // the zero value is Float32
}

// Elements is the number of elements, of which a scalar has one.
func (t Type) Elements() int { return Size(t.Shape) }

// Bytes is the memory that the elements take.
func (t Type) Bytes() int64 { return int64(t.Elements()) * t.Of.Bytes() }

// Tensor is what a kernel computes on: a dense row-major array, with one slice set, that of its element type.
type Tensor struct {
	Data    []float32
	Ints    []int32
	Halves  []uint16 // the bits of float16 values (IEEE 754 binary16)
	Doubles []float64
	Shape   tensor.Shape
}

// Array is what a specification computes on: a Tensor whose floats of any size are float64.
type Array struct {
	Data  []float64
	Ints  []int32
	Shape tensor.Shape
}

// FromValue makes a Tensor of v. It shares the memory of v, except for a scalar's, which Gorgonia gives by value.
func FromValue(v G.Value) (Tensor, error) {
	t := Tensor{Shape: v.Shape()}
	switch data := v.Data().(type) {
	case float32:
		t.Data = []float32{data}
	case []float32:
		t.Data = data
	case []int32:
		t.Ints = data
	default:
		return t, fmt.Errorf("a value of %v: graphs of ops hold float32 and int32", v.Dtype())
	}
	return t, nil
}

// Size is the number of elements, of which a scalar has one.
func Size(s tensor.Shape) int { return s.TotalSize() }

// last is the length of the last dimension.
func last(s tensor.Shape) int { return s[s.Dims()-1] }

// rows is the number of vectors along the last dimension.
func rows(s tensor.Shape) int { return Size(s) / last(s) }

func shapeString(s tensor.Shape) string {
	return strings.ReplaceAll(fmt.Sprint([]int(s)), " ", "×")
}
