package engine

import (
	"fmt"
	"math"
	"strings"

	"konkanitrain/device/cuda"
	"konkanitrain/op"
)

// What PyTorch 2 launches for the same network, on paper: eager mode, under autocast to float16 in half precision, with
// the modules that such a network is usually written with. The products and operations are the same; the difference is
// the traffic. Each elementwise step reads and writes its operands, casts are steps, layernorm and softmax are in
// float32, attention stores its scores of all queries by all keys in each step, and AdamW goes over the weights once
// for each of its operations ("foreach"). Where a fused form is common it is counted as such: the bias of a product, a
// cast inside softmax, silu, glu.

// dispatchSeconds is what PyTorch's host side is taken to need for a launch: autograd, the dispatcher and the driver.
// Where the card is faster than that, it waits.
const dispatchSeconds = 8e-6

// Eager is the estimate of a launch of PyTorch's: at least as long as the host needs for it.
func (s CardSpeed) Eager(l *cuda.Launch) float64 { return max(s.Seconds(l), dispatchSeconds) }

// eager collects launches. a is the size of an activation's element in bytes.
type eager struct {
	a        float64
	half     bool
	launches []cuda.Launch
}

// move is an elementwise step on n elements that reads and writes so many bytes for each.
func (e *eager) move(n, bytes float64) {
	e.launches = append(e.launches, cuda.Launch{Kernel: "eager", Grid: [3]int{int(min(math.Ceil(n/256), cuda.MaxGridX))}, Bytes: int64(n * bytes), FLOPs: n})
}

// cast is move for a step that float32 throughout doesn't have.
func (e *eager) cast(n float64) {
	if e.half {
		e.move(n, 6)
	}
}

// product is a product of [m, k] and [k, n], batch times.
func (e *eager) product(m, n, k, batch int) {
	of := func(rows, cols int) cuda.Matrix { return cuda.Matrix{Half: e.half, Stride: int64(rows) * int64(cols)} }
	e.launches = append(e.launches, cuda.Multiply(cuda.Product{M: m, N: n, K: k, A: of(m, k), B: of(k, n), C: of(m, n), Batch: batch}))
}

// eagerLaunches are PyTorch's for a step.
func eagerLaunches(s Step, half bool) ([]cuda.Launch, error) {
	e := &eager{a: 4, half: half}
	if half {
		e.a = 2
	}
	size := func(t op.Type) float64 { return float64(t.Elements()) }
	in := func(k int) float64 { return size(s.In[k].Type) }
	out, a, work := size(s.Out.Type), e.a, s.Op.FLOPs
	last := func(t op.Type) int { return t.Shape[t.Shape.Dims()-1] }

	switch s.Op.Name {
	case "linear": // the weight is cast in each pass; the bias is added in the product
		o, i := last(s.Out.Type), last(s.In[0].Type)
		e.cast(in(1))
		e.product(int(out)/o, o, i, 1)
	case "linear.dx":
		o, i := last(s.In[0].Type), last(s.Out.Type)
		e.product(int(out)/i, i, o, 1)
	case "linear.dw":
		o, i := last(s.In[0].Type), last(s.In[1].Type)
		e.product(o, i, int(in(0))/o, 1)
		e.cast(out)
		e.move(out, 12) // into .grad
	case "linear.db":
		e.move(in(0), a)
		e.cast(out)
		e.move(out, 12)
	case "layernorm": // in float32, between two casts
		e.cast(out)
		e.move(out, 8)
		e.cast(out)
	case "layernorm.grad":
		n := in(0)
		e.cast(n)
		e.move(n, 12) // dx
		e.move(n, 8)  // gamma and beta
		e.cast(n)
	case "relu", "swish":
		e.move(out, 2*a)
		e.dropout(s, out, 2)
	case "relu.grad", "swish.grad":
		e.dropout(s, out, 3)
		e.move(out, 3*a)
	case "glu": // and the mask of padding
		e.move(out, 3*a)
		e.move(out, 2*a)
	case "glu.grad":
		e.move(out/2, 2*a)
		e.move(out/2, 5*a)
	case "dropout":
		e.move(out, 2*a+1)
	case "residual", "residual.dy":
		e.dropout(s, out, map[string]int{"residual": 3, "residual.dy": 2}[s.Op.Name])
		e.move(out, 2*a) // times alpha
		if s.Op.Name == "residual" {
			e.move(out, 3*a)
		}
	case "sum":
		e.move(out, 3*a)
	case "accumulate":
		e.move(out, 12)
	case "channelmajor", "channelmajor.grad", "embed":
		e.move(out, 2*a)
		if s.Op.Name == "embed" { // times the root of the width, and the positions
			e.move(out, 2*a)
			e.move(out, 3*a)
		}
	case "embed.grad": // tokens are sorted, and their rows summed
		for range 4 {
			e.move(in(0), 12)
		}
		e.move(out, 4)
		e.move(out, 12)
	case "depthwise", "depthwise.dx", "subsample.conv", "subsample.conv.dx", "subsample.depthwise", "subsample.depthwise.dx":
		e.convolution(in(0), out, work)
		e.move(out, 2*a) // the transposition behind it, or the mask of padding
	case "depthwise.dw", "subsample.conv.dw", "subsample.depthwise.dw":
		e.convolution(in(0), in(1), work)
		e.move(out, 12)
	case "attention", "attention.relative", "attention.grad", "attention.relative.grad":
		if err := e.attention(s); err != nil {
			return nil, err
		}
	case "ctc":
		e.logSoftmax(in(0))
		e.chain(s)
	case "ctc.grad": // of the loss, and of log-softmax; no pass forward
		e.chain(s)
		e.move(out, 12)
		e.move(out, 12)
		e.cast(out)
	case "crossentropy": // the likelihood, the smoothing, and their sum
		e.logSoftmax(in(0))
		e.move(in(0), 4)
		e.move(out, 8)
		e.move(out, 12)
	case "crossentropy.grad":
		e.move(out, 4)
		e.move(out, 8)
		e.move(out, 12)
		e.cast(out)
	case "half.store", "half.load": // casts are counted where autocast has them
	case "total", "total.grad":
		for range 4 {
			e.move(1, 12)
		}
	default:
		return nil, fmt.Errorf("what PyTorch does for %s is not known", s.Op.Name)
	}
	return e.launches, nil
}

// dropout is the step of its own that follows, or goes before, an op with dropout: one whose last operand are seeds.
func (e *eager) dropout(s Step, n float64, operands int) {
	if len(s.In) == operands {
		e.move(n, 2*e.a+1) // with the mask
	}
}

// convolution reads and writes its operands once.
func (e *eager) convolution(in, out, flops float64) {
	e.move(in+out, e.a)
	e.launches[len(e.launches)-1].FLOPs = flops
}

// logSoftmax is in float32, of logits that a product has left in the activations' type.
func (e *eager) logSoftmax(n float64) {
	e.cast(n)
	e.move(n, 8)
}

// chain is a kernel of CTC that goes over the states of all frames once, in float32.
func (e *eager) chain(s Step) {
	logits, targets := s.In[len(s.In)-4].Type.Shape, s.In[len(s.In)-2].Type.Shape
	states := float64(logits[0]) * float64(logits[1]) * float64(2*targets[1]+1)
	e.launches = append(e.launches, cuda.Launch{
		Kernel: "eager", Grid: [3]int{logits[0]}, Bytes: int64(8 * states), FLOPs: 20 * states, Chain: logits[1],
	})
}

// attention stores scores [B, heads, L, S] in each step. The relative term has scores [B, heads, L, 2S-1], which are
// shifted by a padded copy. Scores are made once: the backward pass reads the weights that are stored.
func (e *eager) attention(s Step) error {
	in, forward, relative := s.In, !strings.HasSuffix(s.Op.Name, ".grad"), strings.HasPrefix(s.Op.Name, "attention.relative")
	if !forward {
		in = in[1:]
	}
	var heads int
	if _, err := fmt.Sscanf(s.Op.Params, "heads=%d", &heads); err != nil || heads < 1 {
		return fmt.Errorf("%s: no number of heads in %q", s.Op.Name, s.Op.Params)
	}
	q, keys := in[0].Type.Shape, in[1].Type.Shape[1]
	l, width, all := q[1], q[2]/heads, q[0]*heads
	scores, rows, a := float64(all)*float64(l)*float64(keys), float64(in[0].Type.Elements()), e.a
	dropping := len(in) == 6
	if relative {
		dropping = len(in) == 9
	}
	dropout := func() {
		if dropping {
			e.move(scores, 2*4+1)
		}
	}

	e.move(rows, 2*a) // heads before queries, or back
	if forward {
		e.product(l, keys, width, all)
		if relative {
			e.move(rows, 2*a) // q + u
			e.move(rows, 2*a) // q + w
			e.product(l, 2*keys-1, width, all)
			e.move(2*scores, 2*a) // padded, which shifts
			e.move(scores, 3*a)   // the sum of both terms
		}
		e.move(scores, 2*a)   // the scale
		e.move(scores, 2*a+1) // the mask
		e.move(scores, a+4)   // softmax
		dropout()
		e.cast(scores)
		e.product(l, width, keys, all)
		return nil
	}
	e.product(keys, width, l, all) // dv
	e.product(l, keys, width, all) // dweight
	e.cast(scores)
	dropout()
	e.move(scores, 8+a)            // softmax
	e.move(scores, 2*a+1)          // the mask
	e.move(scores, 2*a)            // the scale
	e.product(l, width, keys, all) // dq
	e.product(keys, width, l, all) // dk
	if relative {
		e.move(2*scores, 2*a) // the shift back
		e.product(l, width, 2*keys-1, all)
		e.product(2*keys-1, width, l, all) // dp
		e.move(rows, 2*a)                  // du
		e.move(rows, 2*a)                  // dw
		e.move(rows, 3*a)                  // the sum of both terms' dq
	}
	return nil
}

// eagerUpdate is what follows the gradients: they are unscaled and clipped, and AdamW, each operation on all n weights.
func eagerUpdate(n int) []cuda.Launch {
	e := &eager{}
	for _, bytes := range []float64{
		8,    // unscale
		4, 8, // the norm, and clipping
		8, 12, 8, 16, // decay, first moment, second moment in two steps
		8, 8, 8, 16, // root, correction, epsilon, weights
	} {
		e.move(float64(n), bytes)
	}
	return e.launches
}
