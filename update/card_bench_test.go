//go:build gpu

package update

import (
	"testing"

	"konkanitrain/data"
	"konkanitrain/device/cuda"
	"konkanitrain/device/cuda/simulated"
	"konkanitrain/engine"
	"konkanitrain/model"
	"konkanitrain/op"
)

// optimizedNetwork is that of configs/optimized.yaml, with the letters of a script.
func optimizedNetwork() model.Config {
	return model.Config{
		DModel: 192, Heads: 4, EncoderLayers: 8, DecoderLayers: 4, ConvKernel: 31, Subsampling: 4,
		SubsampleChannels: 64, NumMels: 80, Vocab: 70, Dropout: 0.1, CTCWeight: 0.3, LabelSmoothing: 0.1,
	}
}

// What an update of the optimized preset costs the host: four micro-batches of two utterances of 8 s, on a driver whose
// calls do nothing and succeed. It reports what one update queues, moves and waits for.
func BenchmarkUpdateOnANullDriver(b *testing.B) {
	for _, graphs := range []bool{false, true} {
		b.Run(map[bool]string{false: "launches", true: "graphs"}[graphs], func(b *testing.B) {
			l := simulated.Build(b, simulated.Options{})
			card, err := cuda.Open(cuda.Options{Driver: l.Null, BLAS: l.Null, NoGraphs: !graphs})
			if err != nil {
				b.Fatal(err)
			}
			defer card.Close()
			if err := card.Load(op.Modules()); err != nil {
				b.Fatal(err)
			}
			net := optimizedNetwork()
			o := options
			o.BatchSize, o.Half = 2, true
			replica := newCard(b, card, net, true)
			defer replica.Close()
			u := New(net, replica, o)
			var window []*data.Example
			for i := range 8 {
				window = append(window, noise(i, 800, net.NumMels, tokensFor(40)...))
			}
			update := func() { // what such a driver says of the result is nothing: it is not looked at
				if err := u.Runner.takeOver(window, u.ask(1)); err != nil {
					b.Fatal(err)
				}
				if _, err := replica.Learn(&u.Runner.pass, engine.Learning{AdamW: engine.AdamW{Number: 1}, Clip: 1, LossScale: 1}); err != nil {
					b.Fatal(err)
				}
			}
			update()
			update()
			before := card.Counters()
			for b.Loop() {
				update()
			}
			c, n := card.Counters(), float64(b.N)
			b.ReportMetric(float64(c.Launches-before.Launches)/n, "launches/op")
			b.ReportMetric(float64(c.Products-before.Products)/n, "products/op")
			b.ReportMetric(float64(c.Graphs-before.Graphs)/n, "graphs/op")
			b.ReportMetric(float64(c.Uploaded-before.Uploaded)/n, "up-B/op")
			b.ReportMetric(float64(c.Downloaded-before.Downloaded)/n, "down-B/op")
			b.ReportMetric(float64(c.Synchronizations-before.Synchronizations)/n, "waits/op")
		})
	}
}
