package cuda

import (
	"fmt"
	"math"
	"slices"
)

// Launch is one piece of work for a card: a kernel, a product of matrices, or memory set to zero. It is plain data:
// whoever has the card resolves its operands to addresses once, and queues it any number of times.
type Launch struct {
	// Kernel names a function of the modules; it is "" where Product or Clear is set.
	Kernel string
	Grid   [3]int // blocks; 0 counts as 1
	Block  int    // threads of a block, a multiple of 32, at most MaxThreads
	Shared int    // dynamic shared memory of a block, in bytes, at most MaxShared together with what the kernel declares
	Args   []Arg

	Product *Product
	Clear   *Clear

	// Bytes is what the launch reads and writes in the card's memory, and FLOPs its floating-point operations, as if
	// every row were full: what an estimate of its time is made of.
	Bytes int64
	FLOPs float64
	// Doubles is the part of FLOPs in float64, which most cards do at 1/32 of their speed or less. Chain is the number of
	// steps that a block takes one after the other, each waiting in memory for the one before it; 0 where it is a few.
	Doubles float64
	Chain   int
}

// Limits of a block that every card from compute capability 6.0 to 9.0 keeps.
const (
	MaxThreads = 1024
	MaxShared  = 48 << 10 // bytes, without opting in to more
	MaxGridX   = math.MaxInt32
	MaxGridYZ  = 65535
	MaxArgs    = 32
)

// Name is what messages and profiles call the launch.
func (l *Launch) Name() string {
	switch {
	case l.Product != nil:
		return productName
	case l.Clear != nil:
		return clearName
	}
	return l.Kernel
}

// Names of launches that are no kernel's.
const (
	productName = "product"
	clearName   = "clear"
)

// Place says whose memory a Ref points into.
type Place uint8

// The places.
const (
	Operand Place = iota // input Index of the op
	Result               // its result
	Scratch              // the scratch memory of the step
)

// Ref is an address relative to an operand.
type Ref struct {
	Place  Place
	Index  int   // of an Operand
	Offset int64 // bytes
}

// In is the start of operand k, Out that of the result, and Temp that of the scratch memory.
func In(k int) Ref { return Ref{Place: Operand, Index: k} }

// Out is the start of the result.
func Out() Ref { return Ref{Place: Result} }

// Temp is the start of the scratch memory.
func Temp() Ref { return Ref{Place: Scratch} }

// At is the address so many bytes on.
func (r Ref) At(bytes int64) Ref {
	r.Offset += bytes
	return r
}

// Arg is an argument of a kernel: a pointer, or a number of 4 or 8 bytes.
type Arg struct {
	Pointer *Ref
	Bits    uint64
	wide    bool // the number was no int32
}

// Ptr is a pointer into an operand.
func Ptr(r Ref) Arg { return Arg{Pointer: &r} }

// Null is a null pointer.
func Null() Arg { return Arg{} }

// Int is an int32; a number that is none is refused by Launch.Check.
func Int(i int) Arg {
	return Arg{Bits: uint64(uint32(int32(i))), wide: i < math.MinInt32 || i > math.MaxInt32}
}

// Uint is a uint32.
func Uint(u uint32) Arg { return Arg{Bits: uint64(u)} }

// Long is an int64.
func Long(i int64) Arg { return Arg{Bits: uint64(i)} }

// Float is a float32.
func Float(f float32) Arg { return Arg{Bits: uint64(math.Float32bits(f))} }

// Double is a float64.
func Double(f float64) Arg { return Arg{Bits: math.Float64bits(f)} }

// Product is C = Alpha op(A)·op(B) + Beta C for each matrix of a batch, in row-major order: op(A) is [M, K], op(B) is
// [K, N], C is [M, N]. It is summed in float32. A and B have one element type, C that or float32.
type Product struct {
	M, N, K        int
	TransA, TransB bool
	A, B, C        Matrix
	Alpha, Beta    float32
	Batch          int // matrices, 1 or more
}

// Matrix is a batch of row-major matrices.
type Matrix struct {
	Ref
	Half   bool  // float16, else float32
	Row    int   // elements from one row to the next
	Stride int64 // elements from one matrix of the batch to the next; 0: all are the same
}

// Clear sets bytes to zero.
type Clear struct {
	Ref
	Bytes int64
}

// Multiply is the launch of a product, with its bytes and FLOPs.
func Multiply(p Product) Launch {
	p.Batch = max(p.Batch, 1)
	size := func(m Matrix, rows, cols int) int64 {
		n := int64(rows) * int64(cols) * 4
		if m.Half {
			n /= 2
		}
		if m.Stride != 0 || p.Batch == 1 {
			n *= int64(p.Batch)
		}
		return n
	}
	c := size(p.C, p.M, p.N)
	if p.Beta != 0 {
		c *= 2
	}
	return Launch{
		Product: &p, Bytes: size(p.A, p.M, p.K) + size(p.B, p.K, p.N) + c,
		FLOPs: 2 * float64(p.M) * float64(p.N) * float64(p.K) * float64(p.Batch),
	}
}

// Zeros is the launch that clears bytes.
func Zeros(r Ref, bytes int64) Launch { return Launch{Clear: &Clear{r, bytes}, Bytes: bytes} }

// Check says what of a launch no card takes.
func (l *Launch) Check() error {
	if p := l.Product; p != nil {
		if p.M < 1 || p.N < 1 || p.K < 1 || p.Batch < 1 {
			return fmt.Errorf("a product of [%d, %d] and [%d, %d], %d times", p.M, p.K, p.K, p.N, p.Batch)
		}
		if p.A.Half != p.B.Half || p.C.Half && !p.A.Half {
			return fmt.Errorf("a product of float16 (A %v, B %v) into float16 (%v): A and B must be of one type, C of that or float32",
				p.A.Half, p.B.Half, p.C.Half)
		}
		return p.checkRows()
	}
	if l.Clear != nil {
		return nil
	}
	grid := l.Blocks()
	switch {
	case l.Kernel == "":
		return fmt.Errorf("a launch without a kernel, a product or memory to clear")
	case l.Block < 32 || l.Block > MaxThreads || l.Block%32 != 0:
		return fmt.Errorf("%s: blocks of %d threads, want 32, 64 .. %d", l.Kernel, l.Block, MaxThreads)
	case grid[0] < 1 || grid[0] > MaxGridX || grid[1] < 1 || grid[1] > MaxGridYZ || grid[2] < 1 || grid[2] > MaxGridYZ:
		return fmt.Errorf("%s: a grid of %v blocks, want at most %d x %d x %d", l.Kernel, grid, MaxGridX, MaxGridYZ, MaxGridYZ)
	case l.Shared < 0 || l.Shared > MaxShared:
		return fmt.Errorf("%s: %d bytes of shared memory a block, a card has %d", l.Kernel, l.Shared, MaxShared)
	case slices.ContainsFunc(l.Args, func(a Arg) bool { return a.wide }):
		return fmt.Errorf("%s: a size of its operands is more than an int32 holds: make the batch smaller", l.Kernel)
	case len(l.Args) > MaxArgs:
		return fmt.Errorf("%s: %d arguments, want at most %d", l.Kernel, len(l.Args), MaxArgs)
	}
	return nil
}

// checkRows says which matrix has rows that are longer than the way from one to the next.
func (p *Product) checkRows() error {
	a, b := p.K, p.N
	if p.TransA {
		a = p.M
	}
	if p.TransB {
		b = p.K
	}
	for _, m := range []struct {
		name      string
		row, cols int
	}{{"A", p.A.Row, a}, {"B", p.B.Row, b}, {"C", p.C.Row, p.N}} {
		if m.row < m.cols {
			return fmt.Errorf("a product: rows of %s are %d elements long and %d apart", m.name, m.cols, m.row)
		}
	}
	return nil
}

// Blocks is the grid with its zeros counted as 1.
func (l *Launch) Blocks() [3]int {
	g := l.Grid
	for i := range g {
		g[i] = max(g[i], 1)
		if l.Grid[i] < 0 {
			g[i] = l.Grid[i]
		}
	}
	return g
}
