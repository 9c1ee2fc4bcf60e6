package onnx

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

// A reader of what is written, for tests: it takes nothing else.

// emptyIsNil makes lists without elements equal.
var emptyIsNil = cmp.FilterValues(func(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	return x.Kind() == reflect.Slice && y.Kind() == reflect.Slice && x.Len() == 0 && y.Len() == 0
}, cmp.Ignore())

func decode(b []byte) (*Model, error) {
	m := &Model{}
	err := each(b, func(number protowire.Number, n uint64, v []byte) error {
		switch number {
		case modelIR:
			return expect(n == irVersion)
		case modelProducer:
			m.Producer = string(v)
		case modelVersion:
			m.Version = string(v)
		case modelDoc:
			m.Doc = string(v)
		case modelGraph:
			return each(v, m.Graph.field)
		case modelOpset:
			return each(v, func(number protowire.Number, n uint64, _ []byte) error {
				return expect(number == opsetVersion && n == opset)
			})
		case modelMetadata:
			var p Property
			err := each(v, func(number protowire.Number, _ uint64, v []byte) error {
				return text(number, v, map[protowire.Number]*string{propertyKey: &p.Key, propertyValue: &p.Value})
			})
			m.Metadata = append(m.Metadata, p)
			return err
		default:
			return expect(false)
		}
		return nil
	})
	return m, err
}

func (g *Graph) field(number protowire.Number, _ uint64, v []byte) error {
	switch number {
	case graphName:
		g.Name = string(v)
	case graphNode:
		var n Node
		err := each(v, n.field)
		g.Nodes = append(g.Nodes, n)
		return err
	case graphConstant:
		var t Tensor
		err := each(v, t.field)
		g.Constants = append(g.Constants, t)
		return err
	case graphInput, graphOutput:
		var x Value
		err := each(v, x.field)
		if number == graphInput {
			g.Inputs = append(g.Inputs, x)
		} else {
			g.Outputs = append(g.Outputs, x)
		}
		return err
	default:
		return expect(false)
	}
	return nil
}

func (n *Node) field(number protowire.Number, _ uint64, v []byte) error {
	switch number {
	case nodeIn:
		n.In = append(n.In, string(v))
	case nodeOut:
		n.Out = append(n.Out, string(v))
	case nodeAttribute:
		var a Attribute
		kind, list := uint64(0), []int64(nil)
		err := each(v, func(number protowire.Number, n uint64, v []byte) error {
			switch number {
			case attributeName:
				a.Name = string(v)
			case attributeFloat:
				a.Value = math.Float32frombits(uint32(n))
			case attributeInt:
				a.Value = int64(n)
			case attributeString:
				a.Value = string(v)
			case attributeInts:
				list = append(list, int64(n))
			case attributeType:
				kind = n
			default:
				return expect(false)
			}
			return nil
		})
		if kind == intsAttribute {
			a.Value = list
		}
		n.Attributes = append(n.Attributes, a)
		return err
	default:
		return text(number, v, map[protowire.Number]*string{nodeName: &n.Name, nodeOp: &n.Op})
	}
	return nil
}

func (t *Tensor) field(number protowire.Number, n uint64, v []byte) error {
	switch number {
	case tensorDims:
		t.Dims = append(t.Dims, int64(n))
	case tensorType:
		t.Type = DType(n)
	case tensorData:
		t.Data = v
	default:
		return text(number, v, map[protowire.Number]*string{tensorName: &t.Name})
	}
	return nil
}

func (x *Value) field(number protowire.Number, _ uint64, v []byte) error {
	if number != valueType {
		return text(number, v, map[protowire.Number]*string{valueName: &x.Name})
	}
	return each(v, func(_ protowire.Number, _ uint64, v []byte) error {
		return each(v, func(number protowire.Number, n uint64, v []byte) error {
			if number == tensorTypeElement {
				x.Type = DType(n)
				return nil
			}
			return each(v, func(_ protowire.Number, _ uint64, v []byte) error {
				var d Dim
				err := each(v, func(number protowire.Number, n uint64, v []byte) error {
					if number == dimSize {
						d.Size = int64(n)
						return nil
					}
					return text(number, v, map[protowire.Number]*string{dimName: &d.Name})
				})
				x.Dims = append(x.Dims, d)
				return err
			})
		})
	})
}

// text sets the string that a field is.
func text(number protowire.Number, v []byte, fields map[protowire.Number]*string) error {
	s, ok := fields[number]
	if ok {
		*s = string(v)
	}
	return expect(ok)
}

func expect(ok bool) error {
	if !ok {
		return errors.New("a field that is not expected")
	}
	return nil
}

// each calls f for each field of a message: with a number, or with bytes.
func each(b []byte, f func(number protowire.Number, n uint64, v []byte) error) error {
	for len(b) > 0 {
		number, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		var n uint64
		var v []byte
		switch kind {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var x uint32
			x, size = protowire.ConsumeFixed32(b)
			n = uint64(x)
		case protowire.BytesType:
			v, size = protowire.ConsumeBytes(b)
		default:
			return fmt.Errorf("field %d is of kind %d", number, kind)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		if err := f(number, n, v); err != nil {
			return fmt.Errorf("field %d: %w", number, err)
		}
	}
	return nil
}
