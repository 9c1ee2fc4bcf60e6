package op

import (
	"gorgonia.org/tensor"

	"konkanitrain/device/cuda"
)

// What all rows of a batch share, a parameter, has a gradient that is a sum over rows. A card makes it in two steps: a
// block sums a chunk, a fixed number of an utterance's rows from its start on, and then the chunks' sums are added. So
// the order of the sum doesn't depend on padding, absent rows or the card.

// Sizes of blocks that sum over rows: columns.cuh.
const (
	sumColumns = 32
	sumLanes   = 8
)

// utterances takes the shape of rows apart: a batch of so many rows each. Without a batch dimension it is one.
func utterances(s tensor.Shape) (batch, each int) {
	if s.Dims() < 3 {
		return 1, rows(s)
	}
	return s[0], rows(s) / s[0]
}

// partials are the sums of the chunks of a batch: [batch, chunks, rows, columns] float32, in scratch memory.
type partials struct{ batch, chunks, rows, columns int }

func (p partials) bytes() int64 { return floatBytes(p.batch * p.chunks * p.rows * p.columns) }

// sum is the launch that adds all partials up: element [i, j] goes to y[i*rowsApart + j*columnsApart].
func (p partials) sum(y cuda.Ref, rowsApart, columnsApart int, add cuda.Arg) cuda.Launch {
	n := p.rows * p.columns
	return cuda.Launch{
		Kernel: "add_partials", Grid: [3]int{blocks(n, sumColumns)}, Block: threads,
		Args: []cuda.Arg{
			cuda.Ptr(cuda.Temp()), cuda.Ptr(y), cuda.Int(p.batch), cuda.Int(p.chunks), cuda.Int(p.rows), cuda.Int(p.columns),
			cuda.Int(rowsApart), cuda.Int(columnsApart), add,
		},
		Bytes: p.bytes() + floatBytes(n), FLOPs: float64(p.batch * p.chunks * n),
	}
}
