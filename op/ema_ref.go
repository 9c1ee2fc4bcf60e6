package op

func (ema) ref(out Array, in []Array) {
	share := in[2].Data[0]
	for i, average := range in[0].Data {
		out.Data[i] = (1-share)*average + share*in[1].Data[i]
	}
}
