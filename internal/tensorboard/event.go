package tensorboard

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Event is one entry of a file.
type Event struct {
	Wall    float64 // seconds since 1970
	Step    int64
	Version string  // of the format, in a file's first event
	Writer  string  // whose file it is, beside Version
	Start   bool    // a session starts: what was written of Step and later steps before doesn't count
	Values  []Value // what is shown
}

// Value is a curve's point, a text, a histogram or an image: the one that is set.
type Value struct {
	Tag    string
	Scalar *float32
	Text   *string // Markdown
	Histo  *Buckets
	Image  *Image
}

// Image is a picture as a PNG file.
type Image struct {
	Width, Height int
	PNG           []byte
}

// Buckets are a histogram: Counts[i] values are above Limits[i-1] and at most Limits[i].
type Buckets struct {
	Min, Max, Num, Sum, Squares float64
	Limits, Counts              []float64
}

const (
	formatVersion = "brain.Event:2"
	textPlugin    = "text"
	stringType    = 7 // DT_STRING
	rgba          = 4 // channels
	sessionStart  = 1
)

// Numbers of the fields of messages.
const (
	eventWall, eventStep, eventVersion, eventSummary, eventSession, eventSource = 1, 2, 3, 5, 7, 10
	sourceWriter, sessionStatus, summaryValue                                   = 1, 1, 1

	valueTag, valueScalar, valueImage, valueHisto, valueTensor, valueMetadata = 1, 2, 4, 5, 8, 9
	metadataPlugin, pluginName                                                = 1, 1

	imageHeight, imageWidth, imageChannels, imageBytes                                              = 1, 2, 3, 4
	histoMin, histoMax, histoNum, histoSum, histoSquares, histoLimits, histoCounts                  = 1, 2, 3, 4, 5, 6, 7
	tensorType, tensorShape, tensorStrings                                         protowire.Number = 1, 2, 8
)

func appendDouble(b []byte, field protowire.Number, x float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), math.Float64bits(x))
}

func appendInt(b []byte, field protowire.Number, n int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(n))
}

func appendBytes(b []byte, field protowire.Number, data []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), data)
}

func appendDoubles(b []byte, field protowire.Number, list []float64) []byte {
	b = protowire.AppendVarint(protowire.AppendTag(b, field, protowire.BytesType), uint64(8*len(list)))
	for _, x := range list {
		b = protowire.AppendFixed64(b, math.Float64bits(x))
	}
	return b
}

// marshal is the event as a protocol buffer.
func (e *Event) marshal() []byte {
	b := appendDouble(nil, eventWall, e.Wall)
	b = appendInt(b, eventStep, e.Step)
	if e.Version != "" {
		b = appendBytes(b, eventVersion, []byte(e.Version))
		b = appendBytes(b, eventSource, appendBytes(nil, sourceWriter, []byte(e.Writer)))
	}
	if e.Start {
		b = appendBytes(b, eventSession, appendInt(nil, sessionStatus, sessionStart))
	}
	if len(e.Values) > 0 {
		var summary []byte
		for i := range e.Values {
			summary = appendBytes(summary, summaryValue, e.Values[i].marshal())
		}
		b = appendBytes(b, eventSummary, summary)
	}
	return b
}

func (v *Value) marshal() []byte {
	b := appendBytes(nil, valueTag, []byte(v.Tag))
	switch {
	case v.Scalar != nil:
		b = protowire.AppendFixed32(protowire.AppendTag(b, valueScalar, protowire.Fixed32Type), math.Float32bits(*v.Scalar))
	case v.Image != nil:
		image := appendInt(nil, imageHeight, int64(v.Image.Height))
		image = appendInt(image, imageWidth, int64(v.Image.Width))
		image = appendInt(image, imageChannels, rgba)
		b = appendBytes(b, valueImage, appendBytes(image, imageBytes, v.Image.PNG))
	case v.Histo != nil:
		b = appendBytes(b, valueHisto, v.Histo.marshal())
	case v.Text != nil:
		tensor := appendInt(nil, tensorType, stringType)
		tensor = appendBytes(tensor, tensorShape, nil) // no dimensions: one text
		b = appendBytes(b, valueTensor, appendBytes(tensor, tensorStrings, []byte(*v.Text)))
		b = appendBytes(b, valueMetadata, appendBytes(nil, metadataPlugin, appendBytes(nil, pluginName, []byte(textPlugin))))
	}
	return b
}

func (h *Buckets) marshal() (b []byte) {
	for i, x := range []float64{h.Min, h.Max, h.Num, h.Sum, h.Squares} {
		b = appendDouble(b, histoMin+protowire.Number(i), x)
	}
	return appendDoubles(appendDoubles(b, histoLimits, h.Limits), histoCounts, h.Counts)
}

// parse calls take for each field of a message, with its number (of a varint, or the bits of a float) or its bytes.
func parse(b []byte, take func(field protowire.Number, n uint64, data []byte) error) error {
	for len(b) > 0 {
		field, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		var n uint64
		var data []byte
		switch kind {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			n, size = protowire.ConsumeFixed64(b)
		case protowire.Fixed32Type:
			var x uint32
			x, size = protowire.ConsumeFixed32(b)
			n = uint64(x)
		case protowire.BytesType:
			data, size = protowire.ConsumeBytes(b)
		default:
			size = protowire.ConsumeFieldValue(field, kind, b)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		if err := take(field, n, data); err != nil {
			return err
		}
	}
	return nil
}

// parseEvent reads what marshal writes; what else an event may have is passed over.
func parseEvent(b []byte) (*Event, error) {
	e := &Event{}
	err := parse(b, func(field protowire.Number, n uint64, data []byte) error {
		switch field {
		case eventWall:
			e.Wall = math.Float64frombits(n)
		case eventStep:
			e.Step = int64(n)
		case eventVersion:
			e.Version = string(data)
		case eventSource:
			return parse(data, func(field protowire.Number, _ uint64, data []byte) error {
				if field == sourceWriter {
					e.Writer = string(data)
				}
				return nil
			})
		case eventSession:
			return parse(data, func(field protowire.Number, n uint64, _ []byte) error {
				e.Start = e.Start || field == sessionStatus && n == sessionStart
				return nil
			})
		case eventSummary:
			return parse(data, func(field protowire.Number, _ uint64, data []byte) error {
				if field != summaryValue {
					return nil
				}
				v, err := parseValue(data)
				e.Values = append(e.Values, v)
				return err
			})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("a record that is no event: %w", err)
	}
	return e, nil
}

func parseValue(b []byte) (v Value, err error) {
	err = parse(b, func(field protowire.Number, n uint64, data []byte) error {
		switch field {
		case valueTag:
			v.Tag = string(data)
		case valueScalar:
			x := math.Float32frombits(uint32(n))
			v.Scalar = &x
		case valueImage:
			v.Image = &Image{}
			return parse(data, func(field protowire.Number, n uint64, data []byte) error {
				switch field {
				case imageHeight:
					v.Image.Height = int(n)
				case imageWidth:
					v.Image.Width = int(n)
				case imageBytes:
					v.Image.PNG = slices.Clone(data)
				}
				return nil
			})
		case valueHisto:
			v.Histo = &Buckets{}
			return parse(data, v.Histo.take)
		case valueTensor:
			return parse(data, func(field protowire.Number, _ uint64, data []byte) error {
				if field == tensorStrings {
					text := string(data)
					v.Text = &text
				}
				return nil
			})
		}
		return nil
	})
	return v, err
}

// take takes a field of a histogram.
func (h *Buckets) take(field protowire.Number, n uint64, data []byte) error {
	switch x := math.Float64frombits(n); field {
	case histoMin:
		h.Min = x
	case histoMax:
		h.Max = x
	case histoNum:
		h.Num = x
	case histoSum:
		h.Sum = x
	case histoSquares:
		h.Squares = x
	case histoLimits, histoCounts:
		list := &h.Limits
		if field == histoCounts {
			list = &h.Counts
		}
		if len(data)%8 != 0 {
			return errors.New("a list of float64 with a rest")
		}
		for ; len(data) > 0; data = data[8:] {
			bits, _ := protowire.ConsumeFixed64(data)
			*list = append(*list, math.Float64frombits(bits))
		}
	}
	return nil
}
