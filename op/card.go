package op

import (
	"fmt"
	"slices"

	"konkanitrain/device/cuda"
)

// A card's kernels take their operands in one of two precisions: float32 throughout, or, under half precision, the
// activations as float16 and the rest as float32. Which operands are activations is a property of the op.

// Precision says which operands of an op a card keeps as float16 under half precision.
type Precision struct {
	In  []bool // of each operand
	Out Rounding
	// Parts are those of a packed result, in their order, each with a type of its own; nil for a result that is no pack.
	Parts []Part
}

// Rounding says what a card's kernel writes under half precision.
type Rounding uint8

// The values of Rounding.
const (
	Full   Rounding = iota // float32
	Halved                 // float16
	Either                 // what the readers want
)

// Part is a part of a packed result.
type Part struct {
	Elements int
	Half     bool // float16 under half precision
}

// partAlign is where parts of a pack begin on a card, in bytes: products want aligned operands.
const partAlign = 64

// Packed is where in a card's memory the parts of a pack begin, in bytes, and how many bytes they take in all.
func Packed(parts []Part, half bool) (offsets []int64, total int64) {
	for _, p := range parts {
		offsets = append(offsets, total)
		size := int64(p.Elements) * 4
		if half && p.Half {
			size /= 2
		}
		total += (size + partAlign - 1) / partAlign * partAlign
	}
	return offsets, total
}

// Setting is how a step wants its kernel on a card.
type Setting struct {
	In   []DType // element types of the operands
	Out  DType   // of the result; of a packed one Float32
	Half bool    // half precision: of a packed result the parts that are Half are float16
	Add  bool    // add to the result instead of writing it, for a kernel that Accumulates
}

// setting is that of float32 throughout.
func (o *Op) setting() Setting {
	s := Setting{Out: o.Out.Of}
	for _, t := range o.In {
		s.In = append(s.In, t.Of)
	}
	return s
}

// HalfSetting is the setting under half precision, with out as the result's type where the kernel writes Either.
func (o *Op) HalfSetting(out DType) (Setting, error) {
	p, err := o.Precision()
	if err != nil {
		return Setting{}, err
	}
	s := o.setting()
	s.Half = true
	for k, half := range p.In {
		if half {
			s.In[k] = Float16
		}
	}
	switch p.Out {
	case Halved:
		s.Out = Float16
	case Either:
		s.Out = out
	}
	return s, nil
}

// cardKernel is a family with kernels for a card.
type cardKernel interface {
	precision() Precision
	// cuda is the kernel for a setting: one of float32 throughout, or one that precision allows. It has no Run.
	cuda(s Setting) Kernel
}

// Precision is that of o on a card.
func (o *Op) Precision() (Precision, error) {
	f, ok := o.family.(cardKernel)
	if !ok {
		return Precision{}, fmt.Errorf("no kernel of %s for %s", o.Name, CUDA)
	}
	p := f.precision()
	p.In = append(slices.Clone(p.In), make([]bool, max(0, len(o.In)-len(p.In)))...)
	return p, nil
}

// CardKernel is the kernel of o on a card for a setting.
func (o *Op) CardKernel(s Setting) (Kernel, error) {
	f, ok := o.family.(cardKernel)
	if !ok {
		return Kernel{}, fmt.Errorf("no kernel of %s for %s", o.Name, CUDA)
	}
	k := f.cuda(s)
	for i := range k.Launches {
		if err := k.Launches[i].Check(); err != nil {
			return Kernel{}, fmt.Errorf("%v for %s: %w", o, CUDA, err)
		}
	}
	return k, nil
}

// What families share.

// threads is the block size of kernels that go element by element.
const threads = 256

// blocks is how many blocks of so many threads n elements take.
func blocks(n, threads int) int { return (n + threads - 1) / threads }

// typed is the name of a kernel for an element type: "swish_f16".
func typed(name string, of DType) string {
	if of == Float16 {
		return name + "_f16"
	}
	return name + "_f32"
}

// addFlag is a kernel's last argument "add": 1 adds to the result.
func addFlag(s Setting) cuda.Arg {
	if s.Add {
		return cuda.Int(1)
	}
	return cuda.Int(0)
}

// dropArgs are the arguments of dropout at a place: seeds [B, 2], site, threshold, scale; no seeds means none.
func dropArgs(d Drop, seeds int, dropping bool) []cuda.Arg {
	if !dropping {
		return []cuda.Arg{cuda.Null(), cuda.Uint(0), cuda.Uint(0), cuda.Float(1)}
	}
	return []cuda.Arg{cuda.Ptr(cuda.In(seeds)), cuda.Uint(d.Site), cuda.Uint(d.threshold()), cuda.Float(float32(d.scale()))}
}

// byLanes launches a kernel that goes by the Lanes of lanes.cuh: batch utterances of n elements each. moved are the
// types of the arrays of this size that it reads and writes.
func byLanes(kernel string, batch, n int, args []cuda.Arg, moved ...DType) cuda.Launch {
	l := cuda.Launch{Kernel: kernel, Grid: [3]int{blocks(blocks(n, 128)*16, threads), batch}, Block: threads, Args: args}
	for _, t := range moved {
		l.Bytes += int64(batch) * int64(n) * t.Bytes()
	}
	return l
}
