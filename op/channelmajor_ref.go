package op

// transposeRef turns n matrices [r, c] into [c, r].
func transposeRef(n, r, c int) func(Array, []Array) {
	return func(out Array, in []Array) {
		for i := range n {
			for j := range r {
				for k := range c {
					out.Data[(i*c+k)*r+j] = in[0].Data[(i*r+j)*c+k]
				}
			}
		}
	}
}
