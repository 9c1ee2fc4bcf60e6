package op

// Dimensions below: n rows, i inputs, o outputs.

func linearRef(n, i, o int) func(Array, []Array) {
	return func(y Array, in []Array) {
		x, w := in[0].Data, in[1].Data
		for r := range n {
			for c := range o {
				s := 0.0
				if len(in) == 3 {
					s = in[2].Data[c]
				}
				for l := range i {
					s += x[r*i+l] * w[c*i+l]
				}
				y.Data[r*o+c] = s
			}
		}
	}
}

func linearGradInputRef(n, i, o int) func(Array, []Array) {
	return func(dx Array, in []Array) {
		dy, w := in[0].Data, in[1].Data
		for r := range n {
			for l := range i {
				s := 0.0
				for c := range o {
					s += dy[r*o+c] * w[c*i+l]
				}
				dx.Data[r*i+l] = s
			}
		}
	}
}

func linearGradWeightRef(n, i, o int) func(Array, []Array) {
	return func(dw Array, in []Array) {
		dy, x := in[0].Data, in[1].Data
		for c := range o {
			for l := range i {
				s := 0.0
				for r := range n {
					s += dy[r*o+c] * x[r*i+l]
				}
				dw.Data[c*i+l] = s
			}
		}
	}
}

func columnSumRef(n int) func(Array, []Array) {
	return func(db Array, in []Array) {
		o := len(db.Data)
		for c := range o {
			db.Data[c] = 0
			for r := range n {
				db.Data[c] += in[0].Data[r*o+c]
			}
		}
	}
}
