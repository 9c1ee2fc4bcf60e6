package simd

// tileKernel multiplies panels tiles of C, one below the other:
//
//	C[i][j] = alpha * sum over l of A[i][l]*B[l][j] + beta*C[i][j]
//
// A's element (i, l) is at a + i*rowA + l*stepA bytes, the next panel's rows start panelA bytes later. B's row l is at
// b + l*stepB. C's rows are rowC bytes apart. tail is how many lanes of a tile's last vector are inside C.
type tileKernel func(panels, depth int, a *float32, rowA, stepA, panelA uintptr, b *float32, stepB uintptr, c *float32, rowC uintptr, alpha, beta float32, tail int)

// tileSet is the product kernels of one tier.
type tileSet struct {
	lanes   int             // of a vector
	kernels [][2]tileKernel // kernels[r-1][v-1]: tiles of r rows and v vectors
	copy    func(dst *float32, stepDst uintptr, src *float32, stepSrc uintptr, depth, lanes int)
}

// Limits below which packing costs more than it saves, found by measuring.
const (
	inPlaceRows    = 12 // a B that isn't transposed is read in place for up to so many rows of C
	inPlaceColumns = 32 // a transposed A is read in place for up to so many columns of C
)

func (s *tileSet) gemm(w *Workspace, p *product) {
	blocks, depth := depths(p.k)
	for block := range blocks {
		l := block * depth
		beta := p.beta
		if block > 0 {
			beta = 1
		}
		for j := 0; j < p.n; j += maxCols {
			for i := 0; i < p.m; i += maxRows {
				s.block(w, p, beta, i, min(maxRows, p.m-i), j, min(maxCols, p.n-j), l, min(depth, p.k-l))
			}
		}
	}
}

// block multiplies rows x depth elements of op(A) with depth x cols elements of op(B). The rows are cut into panels
// whose heights differ by one at most, the columns into panels of two vectors.
func (s *tileSet) block(w *Workspace, p *product, beta float32, i, rows, j, cols, l, depth int) {
	panels := (rows + len(s.kernels) - 1) / len(s.kernels)
	low, tall := rows/panels, rows%panels // tall panels of low+1 rows come first

	// Where the tall and the low panels start, and their strides. No pointer is made to what lies behind the last.
	a, rowA, stepTall, stepLow := p.a[offset(p.tA, i, l, p.lda):], floats(p.lda), uintptr(4), uintptr(4)
	panelTall, panelLow, startLow := floats((low+1)*p.lda), floats(low*p.lda), tall*(low+1)*p.lda
	if p.tA {
		rowA, stepTall, stepLow = 4, rowA, rowA
		panelTall, panelLow, startLow = floats(low+1), floats(low), tall*(low+1)
		if p.n > inPlaceColumns {
			if j == 0 || p.m > maxRows { // else it is there from the columns before
				s.packA(w.a, a, p.lda, depth, tall, low+1, panels-tall, low)
			}
			a, stepTall, stepLow = w.a, floats(low+1), floats(low)
			panelTall, panelLow, startLow = floats((low+1)*depth), floats(low*depth), tall*(low+1)*depth
		}
	}

	width := 2 * s.lanes
	for x := 0; x < cols; x += width {
		n := min(width, cols-x)
		vectors := (n + s.lanes - 1) / s.lanes
		from, stepB := p.b[offset(p.tB, l, j+x, p.ldb):], floats(p.ldb)
		b := &from[0]
		if p.tB || p.m > inPlaceRows || n < width {
			panel := w.b[x*depth:]
			stepPanel := vectors * s.lanes
			if i == 0 {
				s.packB(panel, stepPanel, from, p.ldb, depth, n, p.tB)
			}
			b, stepB = &panel[0], floats(stepPanel)
		}
		c, rowC := &p.c[i*p.ldc+j+x], floats(p.ldc)
		tail := n - (vectors-1)*s.lanes
		if tall > 0 {
			s.kernels[low][vectors-1](tall, depth, &a[0], rowA, stepTall, panelTall, b, stepB, c, rowC, p.alpha, beta, tail)
		}
		if tall < panels {
			c := &p.c[(i+tall*(low+1))*p.ldc+j+x]
			s.kernels[low-1][vectors-1](panels-tall, depth, &a[startLow], rowA, stepLow, panelLow, b, stepB, c, rowC, p.alpha, beta, tail)
		}
	}
}

// packA copies a transposed A to tall panels [depth][height], and low ones after them.
func (s *tileSet) packA(dst, a []float32, ld, depth, tall, tallHeight, low, lowHeight int) {
	at, column := 0, 0
	for panel := range tall + low {
		height := tallHeight
		if panel >= tall {
			height = lowHeight
		}
		s.copy(&dst[at], floats(height), &a[column], floats(ld), depth, height)
		at += height * depth
		column += height
	}
}

// packB copies n columns of op(B) to a panel [depth][step].
func (s *tileSet) packB(panel []float32, step int, b []float32, ld, depth, n int, transposed bool) {
	if !transposed {
		s.copy(&panel[0], floats(step), &b[0], floats(ld), depth, n)
		return
	}
	whole := depth &^ 7
	if whole > 0 {
		transposePanelAVX2(&panel[0], floats(step), &b[0], floats(ld), whole, n)
	}
	for l := whole; l < depth; l++ {
		row := panel[l*step:][:n]
		for y := range row {
			row[y] = b[y*ld+l]
		}
	}
}

// floats is the size of n floats in bytes.
func floats(n int) uintptr { return 4 * uintptr(n) }
