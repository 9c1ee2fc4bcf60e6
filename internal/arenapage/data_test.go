package arenapage

import (
	"math"
	"testing"
)

// live and peak against their definition, step by step.
func TestLiveAndPeak(t *testing.T) {
	for _, page := range []Page{small(), large(300)} {
		for _, p := range page.Programs {
			live, most := p.live(), int64(-1)
			var at int
			for step := range p.Steps {
				var want int64
				for _, b := range p.Buffers {
					if b.First <= step && step <= b.Last {
						want += b.Size
					}
				}
				if live[step] != want {
					t.Fatalf("%s: %d bytes are live in step %d, want %d", p.Name, live[step], step, want)
				}
				if want > most {
					most, at = want, step
				}
			}
			if got := peak(live); got != at {
				t.Errorf("%s: the peak is step %d, want %d", p.Name, got, at)
			}
		}
	}
}

// An input that nobody reads lives before the first step only.
func TestUnreadInputIsNeverLive(t *testing.T) {
	p := Program{Size: 1, Steps: make([]Step, 3), Buffers: []Buffer{{Size: 1, First: -1, Last: -1}}}
	for step, bytes := range p.live() {
		if bytes != 0 {
			t.Errorf("%d bytes in step %d", bytes, step)
		}
	}
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct{ name, block, kind string }{
		{"encoder.subsample.conv.0", "encoder.subsample", "subsampling"},
		{"encoder.subsample.conv.0 scratch", "encoder.subsample", "subsampling"},
		{"encoder.blocks.11.ffn1.up linear.dx", "encoder.blocks.11", "encoder feed-forward"},
		{"encoder.blocks.3.ffn2.norm layernorm.grad sum", "encoder.blocks.3", "encoder feed-forward"},
		{"encoder.blocks.3.attn", "encoder.blocks.3", "encoder attention"},
		{"encoder.blocks.3.attn.pos", "encoder.blocks.3", "encoder attention"},
		{"encoder.blocks.3.conv.mid_norm", "encoder.blocks.3", "encoder convolution"},
		{"encoder.blocks.3.after_ffn1 residual.dy", "encoder.blocks.3", "encoder sums and norms"},
		{"encoder.blocks.3.norm", "encoder.blocks.3", "encoder sums and norms"},
		{"decoder.blocks.0.self.out", "decoder.blocks.0", "decoder attention"},
		{"decoder.blocks.0.cross attention.grad scratch", "decoder.blocks.0", "decoder attention"},
		{"decoder.blocks.0.ffn.down", "decoder.blocks.0", "decoder feed-forward"},
		{"decoder.blocks.0.out residual.dy", "decoder.blocks.0", "decoder embedding, sums and norms"},
		{"decoder.embed", "decoder.embed", "decoder embedding, sums and norms"},
		{"decoder.out linear.dx", "decoder.out", "heads and losses"},
		{"decoder.loss", "decoder.loss", "heads and losses"},
		{"ctc", "ctc", "heads and losses"},
		{"ctc.loss ctc.grad scratch", "ctc", "heads and losses"},
		{"loss total.grad #2", "loss", "heads and losses"},
		{"lossless", "lossless", "other"},
		{"", "", "other"},
	} {
		b := Buffer{Name: c.name}
		if block, kind := b.block(), kinds[b.kind()].name; block != c.block || kind != c.kind {
			t.Errorf("%q is of %q and %q, want %q and %q", c.name, block, kind, c.block, c.kind)
		}
		b.First = -1
		if block, kind := b.block(), kinds[b.kind()].name; block != "inputs" || kind != "inputs" {
			t.Errorf("%q, given before the run, is of %q and %q, want inputs", c.name, block, kind)
		}
	}
}

func TestBytesText(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 1250: "1.3 kB", 307200: "307.2 kB", 999949: "999.9 kB", 1e6: "1.0 MB",
		117016064: "117.0 MB", 1e9: "1.0 GB", 15819999999: "15.8 GB", math.MaxInt64: "9223372036.9 GB",
	} {
		if got := bytesText(bytes); got != want {
			t.Errorf("%d: %q, want %q", bytes, got, want)
		}
	}
	for part, want := range map[int64]string{0: "0.0 %", 1: "12.5 %", 8: "100.0 %"} {
		if got := shareText(part, 8); got != want {
			t.Errorf("%d of 8: %q, want %q", part, got, want)
		}
	}
}
