package op

import "math"

func (adamW) ref(p Array, in []Array) {
	m, v, g, c := in[1].Data, in[2].Data, in[3].Data, in[4].Data
	lr, decay, beta1, beta2, eps, gradScale, correct1, correct2 := c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
	for i := range g {
		scaled := gradScale * g[i]
		m[i] = beta1*m[i] + (1-beta1)*scaled
		v[i] = beta2*v[i] + (1-beta2)*scaled*scaled
		p.Data[i] = in[0].Data[i]*(1-lr*decay) - lr*(m[i]*correct1)/(math.Sqrt(v[i]*correct2)+eps)
	}
}
