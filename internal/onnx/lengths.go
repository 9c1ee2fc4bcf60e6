package onnx

import "fmt"

// What nodes need to keep utterances of a batch apart. A length is a number of an utterance's own frames in a tensor
// [B, T, ...], whose other frames are padding and may hold anything.

// Subsampled adds the lengths [n] that are left after halving, rounded up, until so many are one: 1, 2, 4 or 8.
func (b *Builder) Subsampled(lengths string, factor int) string {
	if factor == 1 {
		return lengths
	}
	return b.Node("Div", []string{b.Node("Add", []string{lengths, b.Int(int64(factor) - 1)}), b.Int(int64(factor))})
}

// Size adds the size of a dimension of x, an int64 without dimensions.
func (b *Builder) Size(x string, dim int64) string {
	return b.Node("Gather", []string{b.Node("Shape", []string{x}), b.Int(dim)})
}

// OwnFrames is [B, T], true where a frame is one of the utterance: x [B, T, ...] is subsampled by factor, and lengths
// are of before. All tensors that are subsampled alike have it in common.
func (b *Builder) OwnFrames(x, lengths string, factor int) string {
	return b.Once(fmt.Sprint("frames of ", lengths, " by ", factor), func() string {
		frames := b.Node("Range", []string{b.Int(0), b.Size(x, 1), b.Int(1)})
		own := b.Unsqueeze(b.Subsampled(lengths, factor), 1)
		return b.Node("Less", []string{b.Unsqueeze(frames, 0), own})
	})
}

// Masked is x [B, T, ...] of so many dimensions, with 0 past each utterance's own frames, whatever x holds there. zero
// is the constant 0 of the type of x.
func (b *Builder) Masked(x, lengths string, factor, dims int, zero string) string {
	var rest []int64
	for d := 2; d < dims; d++ {
		rest = append(rest, int64(d))
	}
	return b.Node("Where", []string{b.Unsqueeze(b.OwnFrames(x, lengths, factor), rest...), x, zero})
}

// Some is x [B, T, ...] of so many dimensions, with one frame of padding where T is 0: runtimes gather nothing from
// nothing, and have no convolution over it.
func (b *Builder) Some(x string, dims int) string {
	lacks := b.Node("Max", []string{b.Node("Sub", []string{b.Int(1), b.Size(x, 1)}), b.Int(0)})
	none := func(n int) string { return b.Ints(make([]int64, n)...) }
	pads := []string{none(dims + 1), b.Unsqueeze(lacks, 0)}
	if dims > 2 {
		pads = append(pads, none(dims-2))
	}
	return b.Node("Pad", []string{x, b.Node("Concat", pads, Attribute{"axis", int64(0)})})
}

// Unsqueeze adds x with dimensions of size 1 at these places of the result.
func (b *Builder) Unsqueeze(x string, at ...int64) string {
	return b.Node("Unsqueeze", []string{x, b.Ints(at...)})
}

// Cast adds x as another type.
func (b *Builder) Cast(x string, to DType) string { return b.Node("Cast", []string{x}, castTo(to)) }

func castTo(t DType) Attribute { return Attribute{"to", int64(t)} }
