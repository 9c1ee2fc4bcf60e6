package onnx

import (
	"fmt"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers of the fields that are written (onnx.proto).
const (
	modelIR, modelProducer, modelVersion, modelDoc, modelGraph, modelOpset, modelMetadata = 1, 2, 3, 6, 7, 8, 14

	opsetVersion = 2

	propertyKey, propertyValue = 1, 2

	graphNode, graphName, graphConstant, graphInput, graphOutput = 1, 2, 5, 11, 12

	nodeIn, nodeOut, nodeName, nodeOp, nodeAttribute = 1, 2, 3, 4, 5

	attributeName, attributeFloat, attributeInt, attributeString, attributeInts, attributeType = 1, 2, 3, 4, 8, 20

	tensorDims, tensorType, tensorName, tensorData = 1, 2, 8, 9

	valueName, valueType             = 1, 2
	typeTensor                       = 1
	tensorTypeElement, tensorTypeDim = 1, 2
	shapeDim, dimSize, dimName       = 1, 1, 2
)

// The numbers of AttributeProto.AttributeType.
const (
	floatAttribute, intAttribute, stringAttribute, intsAttribute = 1, 2, 3, 7
)

// mostBytes is the largest message that readers of protocol buffers take.
const mostBytes = math.MaxInt32

// Encode is the model's file. The error is about what no file can hold: more than 2 GiB, text that is not UTF-8, an
// attribute of another type than those of [Attribute].
func (m *Model) Encode() ([]byte, error) {
	size := 0
	for _, t := range m.Graph.Constants {
		size += len(t.Data)
	}
	if size > mostBytes {
		return nil, fmt.Errorf("the weights take %d bytes, and an ONNX file has at most %d: write them as float16 or int8", size, mostBytes)
	}
	var w writer
	w.int(modelIR, irVersion)
	w.optional(modelProducer, m.Producer)
	w.optional(modelVersion, m.Version)
	w.optional(modelDoc, m.Doc)
	w.message(modelGraph, func(w *writer) { m.Graph.encode(w) })
	w.message(modelOpset, func(w *writer) { w.int(opsetVersion, opset) })
	for _, p := range m.Metadata {
		w.message(modelMetadata, func(w *writer) {
			w.text(propertyKey, p.Key)
			w.text(propertyValue, p.Value)
		})
	}
	if w.err == nil && len(w.b) > mostBytes {
		w.err = fmt.Errorf("the file would take %d bytes, and an ONNX file has at most %d", len(w.b), mostBytes)
	}
	return w.b, w.err
}

func (g *Graph) encode(w *writer) {
	for _, n := range g.Nodes {
		w.message(graphNode, n.encode)
	}
	w.text(graphName, g.Name)
	for _, t := range g.Constants {
		w.message(graphConstant, t.encode)
	}
	for _, v := range g.Inputs {
		w.message(graphInput, v.encode)
	}
	for _, v := range g.Outputs {
		w.message(graphOutput, v.encode)
	}
}

func (n Node) encode(w *writer) {
	for _, name := range n.In {
		w.text(nodeIn, name)
	}
	for _, name := range n.Out {
		w.text(nodeOut, name)
	}
	w.optional(nodeName, n.Name)
	w.text(nodeOp, n.Op)
	for _, a := range n.Attributes {
		w.message(nodeAttribute, a.encode)
	}
}

func (a Attribute) encode(w *writer) {
	w.text(attributeName, a.Name)
	kind := int64(0)
	switch v := a.Value.(type) {
	case float32:
		kind = floatAttribute
		w.b = protowire.AppendFixed32(protowire.AppendTag(w.b, attributeFloat, protowire.Fixed32Type), math.Float32bits(v))
	case int64:
		kind = intAttribute
		w.int(attributeInt, v)
	case string:
		kind = stringAttribute
		w.text(attributeString, v)
	case []int64:
		kind = intsAttribute
		for _, i := range v {
			w.int(attributeInts, i)
		}
	default:
		w.fail(fmt.Errorf("attribute %q is a %T: int64, float32, string and []int64 are written", a.Name, a.Value))
	}
	w.int(attributeType, kind)
}

func (t Tensor) encode(w *writer) {
	for _, n := range t.Dims {
		w.int(tensorDims, n)
	}
	w.int(tensorType, int64(t.Type))
	w.text(tensorName, t.Name)
	w.b = protowire.AppendBytes(protowire.AppendTag(w.b, tensorData, protowire.BytesType), t.Data)
}

func (v Value) encode(w *writer) {
	w.text(valueName, v.Name)
	w.message(valueType, func(w *writer) {
		w.message(typeTensor, func(w *writer) {
			w.int(tensorTypeElement, int64(v.Type))
			w.message(tensorTypeDim, func(w *writer) {
				for _, d := range v.Dims {
					w.message(shapeDim, d.encode)
				}
			})
		})
	})
}

func (d Dim) encode(w *writer) {
	if d.Name != "" {
		w.text(dimName, d.Name)
	} else {
		w.int(dimSize, d.Size)
	}
}

// writer appends fields to a message, and keeps the first error.
type writer struct {
	b   []byte
	err error
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) int(field protowire.Number, v int64) {
	w.b = protowire.AppendVarint(protowire.AppendTag(w.b, field, protowire.VarintType), uint64(v))
}

func (w *writer) text(field protowire.Number, s string) {
	if !utf8.ValidString(s) {
		w.fail(fmt.Errorf("%q is not UTF-8", s))
	}
	w.b = protowire.AppendString(protowire.AppendTag(w.b, field, protowire.BytesType), s)
}

// optional is text that is left out where it is empty.
func (w *writer) optional(field protowire.Number, s string) {
	if s != "" {
		w.text(field, s)
	}
}

// message appends the message that fill writes. Its length stands before it: it is written where it will lie, and moved
// by the few bytes that the length takes.
func (w *writer) message(field protowire.Number, fill func(*writer)) {
	w.b = protowire.AppendTag(w.b, field, protowire.BytesType)
	start := len(w.b)
	fill(w)
	size := len(w.b) - start
	length := protowire.AppendVarint(nil, uint64(size))
	w.b = append(w.b, length...)
	copy(w.b[start+len(length):], w.b[start:start+size])
	copy(w.b[start:], length)
}
