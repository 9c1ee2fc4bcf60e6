package op

import (
	"fmt"

	"konkanitrain/device/cuda"
)

// Target names what a kernel runs on.
type Target string

// The targets: one core of the processor, whose kernels are those of internal/simd, and an NVIDIA card.
const (
	CPU  Target = "cpu"
	CUDA Target = "cuda"
)

// Env is what a CPU kernel may use beside its operands. It belongs to one worker.
type Env struct {
	BLAS    BLAS
	Scratch []float32 // at least Kernel.Scratch bytes, with any content; the engine aligns it to 64 bytes
	Add     bool      // add to out instead of writing it; only set for a kernel that Accumulates
}

// Kernel computes an op on one target.
type Kernel struct {
	// Run writes, or with Env.Add adds to, all of out, whatever is there before, and returns with the work done: no
	// goroutine, no allocation, no error, no argument kept for later. It writes to no input but those of Op.Updates,
	// and those whose memory out shares.
	Run func(e *Env, out Tensor, in []Tensor)
	// Scratch is the number of bytes that Run needs in Env.Scratch.
	Scratch int64
	// InPlace lists the inputs that may lie in the very memory of out, the better choice first, if nobody reads them
	// later: Run gives the same bits then, and the input is gone. Such an input has as many elements of the same type as
	// out. Any other input must not overlap out.
	InPlace []int
	// Accumulates says that Run honors Env.Add: a parameter's gradient is then summed without a copy.
	Accumulates bool
	// Floats lists the element types, beside Float32, that the op's float32 operands may have.
	Floats []DType
	// Launches is what a card does in place of Run.
	Launches []cuda.Launch
}

// Kernel is the kernel of o on a target. A program asks once, when it is compiled.
func (o *Op) Kernel(t Target) (Kernel, error) {
	there := "none yet"
	if f, ok := o.family.(cpuKernel); ok {
		if t == CPU {
			return f.cpu(), nil
		}
		there = "one for " + string(CPU)
	}
	if t == CUDA {
		return o.CardKernel(o.setting())
	}
	return Kernel{}, fmt.Errorf("no kernel of %s for %s: there is %s", o.Name, t, there)
}

// maths is the mathematics of an op: a small struct of its sizes and settings (linear, attention, ...). Its
// kernels are optional methods, one for each target: a file for another target, linear_cuda.go say, adds a method to
// the structs of linear.go, and nothing else changes.
//
// A family embeds no other one, else it would have the other's kernels without having written them: what forward and
// backward share is a struct of sizes that is neither (linearShape).
type maths interface {
	// ref is the specification: plain loops in float64. It writes all of out, whatever is there before.
	ref(out Array, in []Array)
}

// cpuKernel is a family with a kernel for the CPU.
type cpuKernel interface{ cpu() Kernel }
