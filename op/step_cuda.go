package op

import "konkanitrain/device/cuda"

func (embedAt) precision() Precision       { return Precision{} }
func (stepAttention) precision() Precision { return Precision{} }

func (s embedAt) cuda(Setting) Kernel {
	return Kernel{Launches: []cuda.Launch{{
		Kernel: "embed_at_f32", Grid: [3]int{s.prefixes}, Block: 128,
		Args:  append(pointers(4), cuda.Float(float32(s.scale())), cuda.Int(s.d)),
		Bytes: 12*int64(s.prefixes*s.d) + 8*int64(s.prefixes), FLOPs: 2 * float64(s.prefixes*s.d),
	}}}
}

func (s stepAttention) cuda(Setting) Kernel {
	return Kernel{Launches: []cuda.Launch{{
		Kernel: "attention_step_f32", Grid: [3]int{s.prefixes, s.heads}, Block: 32,
		Args:  append(pointers(6), cuda.Float(float32(s.scale())), cuda.Int(s.kept), cuda.Int(s.d), cuda.Int(s.d/s.heads)),
		Bytes: 8*int64(s.prefixes*(s.kept+2)*s.d) + 4*int64(s.prefixes), FLOPs: float64(s.prefixes * (s.kept + 1) * (4*s.d + 4*s.heads)),
	}}}
}
