package op

// transposeCPU turns n matrices [r, c] into [c, r].
func transposeCPU(n, r, c int) func(*Env, Tensor, []Tensor) {
	return func(_ *Env, out Tensor, in []Tensor) {
		for i := range n {
			transpose(out.Data[i*r*c:][:r*c], in[0].Data[i*r*c:][:r*c], r, c)
		}
	}
}
