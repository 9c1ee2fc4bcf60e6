package simd
import "testing"
func BenchmarkTmp(b *testing.B) {
	x, y := make([]float32, 2048), make([]float32, 2048)
	r := source(1)
	for i := range x { x[i] = float32(r.NormFloat64()) }
	for _, o := range []struct{n string; f func()}{ {"exp", func(){Exp(y,x)}}, {"sigmoid", func(){Sigmoid(y,x)}}, {"swishgrad", func(){SwishGrad(y,x,x)}}, {"expsum", func(){avx2Rows.expSum(y,x,4)}},{"max", func(){Max(x)}},{"scale", func(){Scale(y,0.5,x)}},
	{"sumshort", func(){avx2Rows.sum(x)}},{"deviation", func(){avx2Rows.deviation(x,0.1)}},{"normalise", func(){avx2Rows.normalise(y,x,x,x,0.1,1)}}} {
		b.Run(o.n, func(b *testing.B){
			p0 := reference(b, "GFLOP")
			s := processorTime(b); for b.Loop() { o.f() }; e := processorTime(b)-s
			p0 = (p0+reference(b, "GFLOP"))/2
			// cycles per vector, if the peak is 32 flops a cycle
			b.ReportMetric(e/float64(b.N)/256*p0/32*1e9, "cycles/vec")
		})
	}
}
