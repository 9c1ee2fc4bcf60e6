package simd

// gemmPlain multiplies two rows by four columns at a time: eight sums and six operands fit the scalar registers.
func gemmPlain(w *Workspace, p *product) {
	blocks, depth := depths(p.k)
	for block := range blocks {
		l := block * depth
		depth := min(depth, p.k-l)
		beta := p.beta
		if block > 0 {
			beta = 1
		}
		for j := 0; j < p.n; j += 4 {
			cols := min(4, p.n-j)
			panel := w.b[:4*depth]
			for x := range depth {
				for y := range 4 {
					panel[4*x+y] = 0
					if y < cols {
						panel[4*x+y] = p.elementB(l+x, j+y)
					}
				}
			}
			for i := 0; i < p.m; i += 2 {
				second := min(i+1, p.m-1) // an odd last row is computed twice, so that all rows go through one loop
				var sums [2][4]float32
				dot2x4(&sums, p.rowA(i, l, depth, w.a[:depth]), p.rowA(second, l, depth, w.a[depth:][:depth]), panel)
				p.store(i, j, cols, beta, &sums[0])
				if second > i {
					p.store(second, j, cols, beta, &sums[1])
				}
			}
		}
	}
}

func (p *product) elementB(l, j int) float32 {
	if p.tB {
		return p.b[j*p.ldb+l]
	}
	return p.b[l*p.ldb+j]
}

// rowA returns depth elements of row i of op(A) from column l on, gathered in space where they don't lie together.
func (p *product) rowA(i, l, depth int, space []float32) []float32 {
	if !p.tA {
		return p.a[i*p.lda+l:][:depth]
	}
	for x := range space {
		space[x] = p.a[(l+x)*p.lda+i]
	}
	return space
}

// store adds alpha times the sums to beta times a piece of row i of C, or to the bias where beta is 0.
func (p *product) store(i, j, cols int, beta float32, sums *[4]float32) {
	row := p.c[i*p.ldc+j:][:cols]
	for y := range row {
		switch {
		case beta != 0:
			row[y] = p.alpha*sums[y] + beta*row[y]
		case p.bias != nil:
			row[y] = p.alpha*sums[y] + p.bias[j+y]
		default:
			row[y] = p.alpha * sums[y]
		}
	}
}

// dot2x4 sets sums to the products of two rows with a panel [len(a0)][4].
func dot2x4(sums *[2][4]float32, a0, a1, panel []float32) {
	var s00, s01, s02, s03, s10, s11, s12, s13 float32
	a1 = a1[:len(a0)]
	for l, x := range a0 {
		y := a1[l]
		b := (*[4]float32)(panel[4*l:])
		s00 += x * b[0]
		s01 += x * b[1]
		s02 += x * b[2]
		s03 += x * b[3]
		s10 += y * b[0]
		s11 += y * b[1]
		s12 += y * b[2]
		s13 += y * b[3]
	}
	sums[0] = [4]float32{s00, s01, s02, s03}
	sums[1] = [4]float32{s10, s11, s12, s13}
}
