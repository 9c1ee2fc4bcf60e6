package op

import "konkanitrain/device/cuda"

// columnChunk is the number of rows that a block of column_sum sums.
const columnChunk = 128

func (s linear) precision() Precision           { return Precision{In: []bool{true, true, false}, Out: Either} }
func (s linearGradInput) precision() Precision  { return Precision{In: []bool{true, true}, Out: Either} }
func (s linearGradWeight) precision() Precision { return Precision{In: []bool{true, true}, Out: Full} }
func (s columnSum) precision() Precision        { return Precision{In: []bool{true}, Out: Full} }

// cuda: the rows of y start as the bias, and the product is added to them: of y as float16 that rounds the bias alone.
// It can be added to what is there where nothing more would be rounded in between.
func (s linear) cuda(set Setting) Kernel {
	p := cuda.Product{
		M: s.n, N: s.o, K: s.i, TransB: true, Alpha: 1, Beta: beta(set),
		A: matrix(cuda.In(0), set.In[0], s.i), B: matrix(cuda.In(1), set.In[1], s.i), C: matrix(cuda.Out(), set.Out, s.o),
	}
	k := Kernel{Accumulates: len(set.In) == 2 || set.Out == Float32}
	if len(set.In) == 3 {
		p.Beta = 1
		moved := int64(s.n*s.o) * set.Out.Bytes()
		if set.Add {
			moved *= 2
		}
		k.Launches = []cuda.Launch{{
			Kernel: typed("linear_bias", set.Out), Grid: [3]int{blocks(s.n, 32), blocks(s.o, 128)}, Block: threads,
			Args:  []cuda.Arg{cuda.Ptr(cuda.In(2)), cuda.Ptr(cuda.Out()), cuda.Int(s.n), cuda.Int(s.o), addFlag(set)},
			Bytes: moved + floatBytes(s.o), FLOPs: float64(s.n * s.o),
		}}
	}
	k.Launches = append(k.Launches, cuda.Multiply(p))
	return k
}

func (s linearGradInput) cuda(set Setting) Kernel {
	return Kernel{Accumulates: true, Launches: []cuda.Launch{cuda.Multiply(cuda.Product{
		M: s.n, N: s.i, K: s.o, Alpha: 1, Beta: beta(set),
		A: matrix(cuda.In(0), set.In[0], s.o), B: matrix(cuda.In(1), set.In[1], s.i), C: matrix(cuda.Out(), set.Out, s.i),
	})}}
}

func (s linearGradWeight) cuda(set Setting) Kernel {
	return Kernel{Accumulates: true, Launches: []cuda.Launch{cuda.Multiply(cuda.Product{
		M: s.o, N: s.i, K: s.n, TransA: true, Alpha: 1, Beta: beta(set),
		A: matrix(cuda.In(0), set.In[0], s.o), B: matrix(cuda.In(1), set.In[1], s.i), C: matrix(cuda.Out(), set.Out, s.i),
	})}}
}

func (s columnSum) cuda(set Setting) Kernel {
	p := partials{s.b, blocks(s.n/s.b, columnChunk), 1, s.o}
	return Kernel{Accumulates: true, Scratch: p.bytes(), Launches: []cuda.Launch{
		{
			Kernel: typed("column_sum", set.In[0]), Grid: [3]int{blocks(s.o, sumColumns), p.chunks, s.b}, Block: threads,
			Args:  []cuda.Arg{cuda.Ptr(cuda.In(0)), cuda.Ptr(cuda.Temp()), cuda.Int(s.n / s.b), cuda.Int(s.o), cuda.Int(columnChunk)},
			Bytes: int64(s.n*s.o)*set.In[0].Bytes() + p.bytes(), FLOPs: float64(s.n * s.o),
		},
		p.sum(cuda.Out(), 0, 1, addFlag(set)),
	}}
}

// beta is the factor of what was in the result of a product before.
func beta(set Setting) float32 {
	if set.Add {
		return 1
	}
	return 0
}

// matrix is a row-major matrix without gaps, with rows of so many elements.
func matrix(at cuda.Ref, of DType, row int) cuda.Matrix {
	return cuda.Matrix{Ref: at, Half: of == Float16, Row: row}
}
