// Package onnx writes networks in the Open Neural Network Exchange format: [Model] and what it is made of are the
// format's messages (onnx.proto of the ONNX project), [Model.Encode] their bytes, and a [Builder] makes a graph node by
// node. It knows nothing of the network: ops say themselves what nodes they are.
//
// What is written is version 8 of the format with operators of set 17 (of 2022), which every runtime of today reads.
package onnx

// The versions of the format and of its operators that are written.
const (
	irVersion = 8
	opset     = 17
)

// DType is the type of a tensor's elements, by its number in TensorProto.DataType.
type DType int32

// The element types that are written.
const (
	Float  DType = 1 // float32
	Int8   DType = 3
	Int64  DType = 7
	Bool   DType = 9
	Half   DType = 10 // float16
	Double DType = 11
)

// Model is a file (ModelProto).
type Model struct {
	Producer, Version string // the program that wrote it
	Doc               string // for people
	Graph             Graph
	Metadata          []Property // for programs, in the order in which they are written
}

// Property is an entry of a model's metadata (StringStringEntryProto).
type Property struct{ Key, Value string }

// Graph is nodes in an order in which each comes behind those that it reads (GraphProto).
type Graph struct {
	Name            string
	Nodes           []Node
	Inputs, Outputs []Value
	Constants       []Tensor // initializers
}

// Node computes Out from In (NodeProto). An input that is "" is left out.
type Node struct {
	Name, Op   string
	In, Out    []string
	Attributes []Attribute
}

// Attribute is a setting of a node (AttributeProto). Its Value is an int64, a float32, a string, or a list of int64.
type Attribute struct {
	Name  string
	Value any
}

// Set is the attribute name with a value.
func Set(name string, value any) Attribute { return Attribute{name, value} }

// Value is a tensor that goes into a graph or comes out of it (ValueInfoProto).
type Value struct {
	Name string
	Type DType
	Dims []Dim
}

// Dim is the size of a dimension: a number, or a name for one that is known when the model runs.
type Dim struct {
	Size int64
	Name string
}

// Tensor is values that are part of the model (TensorProto). Data are the elements, little-endian, row by row.
type Tensor struct {
	Name string
	Type DType
	Dims []int64
	Data []byte
}
