package op

func (accumulate) ref(y Array, in []Array) { copy(y.Data, in[0].Data) }
