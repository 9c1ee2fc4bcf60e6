package op

import (
	"errors"
	"fmt"
	"slices"
)

// What ops ask of their operands when they are made.

// want is an error for operands that don't fit, in the words of the op's shapes.
func want(name, shapes string, in []Type) error {
	got := make([]string, len(in))
	for i, t := range in {
		got[i] = shapeString(t.Shape)
		if t.Of == Int32 {
			got[i] += " int"
		}
	}
	return errors.New(name + ": inputs are " + fmt.Sprint(got) + ", want " + shapes)
}

// isFloats says whether t is float32 with so many dimensions.
func isFloats(t Type, dims int) bool { return t.Of == Float32 && t.Shape.Dims() == dims }

// isInts says whether t is int32 with so many dimensions.
func isInts(t Type, dims int) bool { return t.Of == Int32 && t.Shape.Dims() == dims }

// isVector says whether t is a float32 vector of n elements.
func isVector(t Type, n int) bool { return isFloats(t, 1) && t.Shape[0] == n }

// same says whether a and b are of one shape, both float32. (To tensor.Shape.Eq [D] and [D, 1] would be one.)
func same(a, b Type) bool {
	return a.Of == Float32 && b.Of == Float32 && slices.Equal(a.Shape, b.Shape)
}

// isLengths says whether t holds one integer for each of the utterances of x.
func isLengths(t, x Type) bool { return isInts(t, 1) && x.Shape.Dims() > 1 && t.Shape[0] == x.Shape[0] }

// isSeeds says whether t holds the low and high half of a 64-bit random seed for each utterance of x.
func isSeeds(t, x Type) bool {
	return isInts(t, 2) && t.Shape[1] == 2 && x.Shape.Dims() > 1 && t.Shape[0] == x.Shape[0]
}

// isFactor says whether the network can subsample by factor: 1 (not at all), 2, 4 or 8.
func isFactor(factor int) bool { return factor == 1 || factor == 2 || factor == 4 || factor == 8 }
