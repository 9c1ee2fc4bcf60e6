package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"konkanitrain/internal/testkit"
	"konkanitrain/op"
)

// Update is the formula of op.NewAdamW for every element, in plain loops, with each parameter's own factor of the rate
// and own decay; weights between tensors stay 0, and what is frozen stays what it is. Any number of workers makes the
// same bits.
func TestAdamWIsTheFormula(t *testing.T) {
	for _, net := range []flatNet{several, scaled} {
		adamWIsTheFormula(t, net)
	}
}

func adamWIsTheFormula(t *testing.T, net flatNet) {
	steps := []AdamW{
		{Number: 1, LR: 1e-3, GradScale: 1, Decay: 0.1}, {Number: 2, LR: 3e-3, GradScale: 0.25, Decay: 0.1}, {Number: 7, LR: 2e-3, GradScale: 1. / 1024},
	}
	beta2 := float64(float32(0.98)) // 1 - Beta2 would be off by 1e-6 of itself
	var first *Crew[int]
	for workers := 1; workers <= 3; workers++ {
		c := flatCrew(t, net, workers)
		p, m, v := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
		for _, x := range net {
			p[x.Name] = doubles(c.floats(Weights, x.Name))
			m[x.Name], v[x.Name] = make([]float64, len(p[x.Name])), make([]float64, len(p[x.Name]))
		}
		for k, s := range steps {
			grads := setGradients(c, workers-1, uint64(10*k))
			if _, err := c.Reduce(); err != nil {
				t.Fatal(err)
			}
			if err := c.Update(s); err != nil {
				t.Fatal(err)
			}
			for _, x := range net {
				if x.Frozen {
					testkit.Close(t, x.Name, doubles(c.floats(Weights, x.Name)), p[x.Name], 0)
					continue
				}
				s, decay := s, 0.0
				switch {
				case x.Decay && x.OwnDecay.Set:
					decay = x.OwnDecay.Value
				case x.Decay:
					decay = s.Decay
				}
				if x.Scale != 0 {
					s.LR *= x.Scale
				}
				p, m, v := p[x.Name], m[x.Name], v[x.Name]
				for i, g := range grads[x.Name] {
					g := s.GradScale * float64(g)
					m[i] = 0.9*m[i] + 0.1*g
					v[i] = beta2*v[i] + (1-beta2)*g*g
					p[i] = p[i]*(1-s.LR*decay) - s.LR*(m[i]/(1-math.Pow(0.9, float64(s.Number))))/
						(math.Sqrt(v[i]/(1-math.Pow(0.98, float64(s.Number))))+1e-9)
				}
				what := fmt.Sprintf("%d workers, step %d, %s: ", workers, k, x.Name)
				// Weights are below 8 and moments below 1; each step rounds them to float32 a few times.
				testkit.Close(t, what+"weights", doubles(c.floats(Weights, x.Name)), p, 1e-6)
				testkit.Close(t, what+"first moments", doubles(c.floats(FirstMoments, x.Name)), m, 2e-7)
				testkit.Close(t, what+"second moments", doubles(c.floats(SecondMoments, x.Name)), v, 2e-7)
			}
			gaps(t, c, "updated")
		}
		if first == nil {
			first = c
		}
		for _, x := range net {
			for of := Weights; of <= SecondMoments && !(x.Frozen && of > Weights); of++ {
				if !equalBits(c.floats(of, x.Name), first.floats(of, x.Name)) {
					t.Errorf("%d workers: other bits of %s", workers, x.Name)
				}
			}
		}
	}
}

func TestAdamWByHand(t *testing.T) {
	type step struct{ Grad, M, V, W float64 }
	var example struct {
		LR            float64
		DecayedWeight []step `json:"decayed_weight"`
		Bias          []step
	}
	b, err := os.ReadFile(filepath.Join(testkit.Shared(t), "cases", "numbers", "adamw.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &example); err != nil {
		t.Fatal(err)
	}
	net := flatNet{{Name: "x.weight", Shape: tensor.Shape{1}, Decay: true}, {Name: "x.bias", Shape: tensor.Shape{1}}}
	c := flatCrew(t, net, 2)
	for _, p := range net {
		c.floats(Weights, p.Name)[0] = 1
	}
	for k := range example.Bias {
		lines := []step{example.DecayedWeight[k], example.Bias[k]}
		setGradients(c, 0, 1)
		for i, s := range lines {
			floats(c.layout.view(c.grads[0].Host(), net[i].Name))[0] = float32(s.Grad)
		}
		if _, err := c.Reduce(); err != nil {
			t.Fatal(err)
		}
		if err := c.Update(AdamW{Number: k + 1, LR: example.LR, GradScale: 1, Decay: 1e-3}); err != nil {
			t.Fatal(err)
		}
		for i, s := range lines {
			var got []float64
			for _, of := range []Flat{Weights, FirstMoments, SecondMoments} {
				got = append(got, float64(c.floats(of, net[i].Name)[0]))
			}
			// Three roundings of float32 near 1.
			testkit.Close(t, fmt.Sprintf("update %d of %s: weight, m, v", k+1, net[i].Name), got, []float64{s.W, s.M, s.V}, 2e-7)
		}
	}
}

// valueGrad is a parameter as Gorgonia hands it to a solver.
type valueGrad struct{ value, grad G.Value }

func (v valueGrad) Value() G.Value { return v.value }
func (v valueGrad) Grad() (G.Value, error) {
	if v.grad == nil {
		return nil, fmt.Errorf("no gradient")
	}
	return v.grad, nil
}

// Ten updates of the PyTorch reference, clipped and not, through a crew and as a solver of Gorgonia's.
func TestAdamWIsTheReferences(t *testing.T) {
	f := testkit.Golden(t, "optimizer")
	read := func(name string) []float64 {
		v, _, err := f.Float64s(name)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	var decay float64
	if err := json.Unmarshal([]byte(f.Metadata()["weight_decay"]), &decay); err != nil || decay == 0 {
		t.Fatalf("weight_decay is %g, %v", decay, err)
	}
	net := goldenParameters(t, f)
	c := flatCrew(t, net, 2)
	solver, err := NewSolver(net, AdamW{Decay: decay})
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]op.Tensor{}
	for _, p := range net {
		start := op.Array{Data: read("start." + p.Name)}
		values[p.Name] = op.Tensor{Data: make([]float32, len(start.Data))}
		fill(values[p.Name], start)
		fill(op.Tensor{Data: c.floats(Weights, p.Name)}, start)
	}
	norms, clips, rates := read("norm"), read("clip_scale"), read("lr")
	for k := range norms {
		setGradients(c, 0, 1)
		var list []G.ValueGrad
		for _, p := range net {
			g := floats(c.layout.view(c.grads[0].Host(), p.Name))
			fill(op.Tensor{Data: g}, op.Array{Data: read(fmt.Sprintf("update.%02d.grad.%s", k+1, p.Name))})
			dense := func(x []float32) *tensor.Dense {
				return tensor.New(tensor.WithShape(p.Shape...), tensor.WithBacking(x))
			}
			list = append(list, valueGrad{dense(values[p.Name].Data), dense(append([]float32(nil), g...))})
		}
		squares, err := c.Reduce()
		if err != nil {
			t.Fatal(err)
		}
		testkit.Close(t, "norm", []float64{math.Sqrt(squares) / norms[k]}, []float64{1}, 1e-6) // squares are added in float32
		step := AdamW{Number: k + 1, LR: rates[k], GradScale: clips[k], Decay: decay}
		if err := c.Update(step); err != nil {
			t.Fatal(err)
		}
		solver.Next.LR, solver.Next.GradScale = step.LR, step.GradScale
		if err := solver.Step(list); err != nil {
			t.Fatal(err)
		}
		for i, p := range net {
			for what, got := range map[string][][]float32{
				"weight": {c.floats(Weights, p.Name), values[p.Name].Data},
				"m":      {c.floats(FirstMoments, p.Name), solver.moments[0][i].Data},
				"v":      {c.floats(SecondMoments, p.Name), solver.moments[1][i].Data},
			} {
				want := read(fmt.Sprintf("update.%02d.%s.%s", k+1, what, p.Name))
				// Ten updates of up to 0.3 each on values near 1.
				testkit.Close(t, fmt.Sprintf("update %d: %s of %s", k+1, what, p.Name), doubles(got[0]), want, 1e-5)
				if !equalBits(got[0], got[1]) {
					t.Errorf("update %d: %s of %s has other bits as a solver", k+1, what, p.Name)
				}
			}
		}
	}
	if solver.Next.Number != len(norms) {
		t.Errorf("the solver counts %d steps", solver.Next.Number)
	}
}

// goldenParameters are those of the file; biases, bias_u, bias_v and norms don't decay.
func goldenParameters(t *testing.T, f *testkit.Tensors) (net flatNet) {
	t.Helper()
	decaying := 0
	for _, name := range f.Names() {
		name, ok := strings.CutPrefix(name, "start.")
		if !ok {
			continue
		}
		info, _ := f.Info("start." + name)
		p := Parameter{Name: name, Shape: info.Shape, Decay: strings.HasSuffix(name, ".weight") && !strings.Contains(name, "norm")}
		if p.Decay {
			decaying++
		}
		net = append(net, p)
	}
	if len(net) != 5 || decaying != 2 {
		t.Fatalf("%d parameters in the file, %d decay, want 5 and 2", len(net), decaying)
	}
	return net
}

func TestSolverRefuses(t *testing.T) {
	s, err := NewSolver([]Parameter{{Name: "x", Shape: tensor.Shape{2}}}, AdamW{LR: 1, GradScale: 1})
	if err != nil {
		t.Fatal(err)
	}
	dense := func(n int) *tensor.Dense {
		return tensor.New(tensor.WithShape(n), tensor.WithBacking(make([]float32, n)))
	}
	doubled := tensor.New(tensor.WithShape(2), tensor.WithBacking(make([]float64, 2)))
	for says, values := range map[string][]G.ValueGrad{
		"0 values for 1 parameters":              nil,
		"x has 3 values and 3 gradients, want 2": {valueGrad{dense(3), dense(3)}},
		"x has 2 values and 3 gradients, want 2": {valueGrad{dense(2), dense(3)}},
		"gradient of x: no gradient":             {valueGrad{dense(2), nil}},
		"gradient of x: a value of float64":      {valueGrad{dense(2), doubled}},
		"x: a value of float64":                  {valueGrad{doubled, dense(2)}},
	} {
		wants(t, "Step", s.Step(values), says)
	}
	if s.Next.Number != 0 {
		t.Error("a refused step was counted")
	}
	_, err = NewSolver([]Parameter{{Name: "x", Shape: tensor.Shape{}}}, AdamW{})
	wants(t, "a scalar", err, "x is a scalar")
}
