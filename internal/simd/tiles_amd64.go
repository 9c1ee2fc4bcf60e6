package simd

// tileKernel multiplies panels tiles of C, one below the other:
//
//	C[i][j] = alpha * sum over l of A[i][l]*B[l][j] + beta*C[i][j], or + bias[j] where beta is 0 and bias isn't nil
//
// A's element (i, l) is at a + i*rowA + l*stepA bytes, the next panel's rows start panelA bytes later. B's row l is at
// b + l*stepB. C's rows are rowC bytes apart. tail is how many lanes of a tile's last vector are inside C.
type tileKernel func(panels, depth int, a *float32, rowA, stepA, panelA uintptr, b *float32, stepB uintptr, c *float32, rowC uintptr, bias *float32, alpha, beta float32, tail int)

// tileSet is the product kernels of one tier.
type tileSet struct {
	lanes   int             // of a vector
	kernels [][2]tileKernel // kernels[r-1][v-1]: tiles of r rows and v vectors
	copy    func(dst *float32, stepDst uintptr, src *float32, stepSrc uintptr, depth, lanes int)
	// copyMany[v-1] copies panels of v whole vectors at once.
	copyMany [2]func(dst *float32, stepDst, panelDst uintptr, src *float32, stepSrc, panelSrc uintptr, depth, panels int)
}

// panelsAtOnce is how many panels are copied row by row together: a kilobyte of a row, found by measuring.
const panelsAtOnce = 16

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
			panelTall, panelLow = floats(s.panelOfA(low+1, depth)), floats(s.panelOfA(low, depth))
			startLow = tall * s.panelOfA(low+1, depth)
		}
	}

	width := 2 * s.lanes
	packed := 0 // columns of B that are packed
	if !p.tB && p.m > inPlaceRows {
		packed = cols / width * width
		if i == 0 {
			s.packWhole(w.b, p.b[offset(false, l, j, p.ldb):], p.ldb, depth, packed/width)
		}
	}
	for x := 0; x < cols; x += width {
		n := min(width, cols-x)
		vectors := (n + s.lanes - 1) / s.lanes
		from, stepB := p.b[offset(p.tB, l, j+x, p.ldb):], floats(p.ldb)
		b := &from[0]
		if p.tB || p.m > inPlaceRows || n < width {
			panel := w.b[x/width*s.panelOfB(depth):]
			stepPanel := vectors * s.lanes
			if i == 0 && x >= packed {
				s.packB(panel, stepPanel, from, p.ldb, depth, n, p.tB)
			}
			b, stepB = &panel[0], floats(stepPanel)
		}
		c, rowC := &p.c[i*p.ldc+j+x], floats(p.ldc)
		var bias *float32
		if p.bias != nil {
			bias = &p.bias[j+x]
		}
		tail := n - (vectors-1)*s.lanes
		if tall > 0 {
			s.kernels[low][vectors-1](tall, depth, &a[0], rowA, stepTall, panelTall, b, stepB, c, rowC, bias, p.alpha, beta, tail)
		}
		if tall < panels {
			c := &p.c[(i+tall*(low+1))*p.ldc+j+x]
			s.kernels[low-1][vectors-1](panels-tall, depth, &a[startLow], rowA, stepLow, panelLow, b, stepB, c, rowC, bias, p.alpha, beta, tail)
		}
	}
}

// panelOfA is the distance between packed panels of A, in floats. A vector of room between them takes what
// copies of whole vectors write behind a panel.
func (s *tileSet) panelOfA(height, depth int) int { return height*depth + s.lanes }

// packA copies a transposed A to tall panels [depth][height], and low ones after them.
func (s *tileSet) packA(dst, a []float32, ld, depth, tall, tallHeight, low, lowHeight int) {
	columns := tall*tallHeight + low*lowHeight
	s.packHeights(dst, a, ld, depth, tall, tallHeight, columns)
	if low > 0 {
		s.packHeights(dst[tall*s.panelOfA(tallHeight, depth):], a[tall*tallHeight:], ld, depth, low, lowHeight, low*lowHeight)
	}
}

// packHeights copies panels of one height from a matrix of which so many columns are left. Panels from which a whole
// vector would reach behind the matrix are copied alone.
func (s *tileSet) packHeights(dst, a []float32, ld, depth, panels, height, columns int) {
	step := s.panelOfA(height, depth)
	together := 0
	if columns >= s.lanes {
		together = min(panels, (columns-s.lanes)/height+1)
	}
	for panel := 0; panel < panels; {
		n := min(panelsAtOnce, together-panel)
		if n <= 0 {
			s.copy(&dst[panel*step], floats(height), &a[panel*height], floats(ld), depth, height)
			panel++
			continue
		}
		s.copyMany[0](&dst[panel*step], floats(height), floats(step), &a[panel*height], floats(ld), floats(height), depth, n)
		panel += n
	}
}

// panelOfB is the distance between packed panels of B, in floats. The cache line of room between them lets rows of
// neighboring panels fall into different sets of the first-level cache.
func (s *tileSet) panelOfB(depth int) int { return 2*s.lanes*depth + 16 }

// packWhole copies a B that isn't transposed to panels [depth][2 vectors].
func (s *tileSet) packWhole(dst, b []float32, ld, depth, panels int) {
	width, step := 2*s.lanes, s.panelOfB(depth)
	for panel := 0; panel < panels; panel += panelsAtOnce {
		n := min(panelsAtOnce, panels-panel)
		s.copyMany[1](&dst[panel*step], floats(width), floats(step), &b[panel*width], floats(ld), floats(width), depth, n)
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
