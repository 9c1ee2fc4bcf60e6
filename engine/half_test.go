package engine

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"konkanitrain/model"
)

// Half precision changes what the backward pass reads, not what the forward pass computes: losses are the same to
// the bit, gradients to the 11 bits of float16.
func TestHalf(t *testing.T) {
	c := tiny(4, 1)
	c.DModel, c.Dropout = 32, 0.1
	r, _ := networkRig(t, c, model.Shape{Batch: 2, Frames: 130, Tokens: 20}, model.Training)
	m := r.bind(r.compile())
	r.run(m, false)
	full := r.results(m)
	r.spec.Half = true
	p := r.compile()
	stored := 0
	for _, s := range p.Steps {
		if s.Op.Name == "half.store" {
			stored++
		}
	}
	if stored < 10 {
		t.Fatalf("only %d values are stored in half precision", stored)
	}
	copy(r.grads, nans(r.layout.Bytes))
	m = r.bind(p)
	r.run(m, false)
	half := r.results(m)
	for _, name := range slices.Sorted(maps.Keys(full)) {
		if _, output := r.spec.Outputs[name]; output && !slices.Equal(half[name], full[name]) {
			t.Errorf("%s is %v in half precision, %v in full", name, half[name], full[name])
		}
	}
	want := map[string][]float64{}
	for name, v := range full {
		want[name] = doubles(v)
	}
	// Rounding to 11 bits is an error of up to 4.9e-4 for each value; sums over frames average it out, the softmax
	// of large scores raises it.
	r.compare("half", half, want, 4e-3)
	r.run(m, true)
	for i := range r.spec.Grads {
		name := r.spec.Weights[i].Name()
		for k, v := range r.gradient(name) {
			if d := v - 2*half["grad "+name][k]; d > 1e-4 || d < -1e-4 {
				t.Fatalf("%s[%d] is %g after a second run that adds to %g", name, k, v, half["grad "+name][k])
			}
		}
	}
}

func TestHalfIsSmaller(t *testing.T) {
	spec, _ := networkSpec(t, preset(192, 8, 4), model.Shape{Batch: 1, Frames: 800, Tokens: 80}, model.Training)
	full, err := Compile(spec)
	if err != nil {
		t.Fatal(err)
	}
	spec.Half = true
	half, err := Compile(spec)
	if err != nil {
		t.Fatal(err)
	}
	share := float64(half.ArenaBytes()) / float64(full.ArenaBytes())
	t.Logf("8 s on the optimized preset: %.2f MB in full precision, %.2f MB in half: %.0f %%", float64(full.ArenaBytes())/1e6, float64(half.ArenaBytes())/1e6, 100*share)
	if share > 0.55 {
		t.Errorf("half precision takes %.0f %% of the arena, want at most 55 %%", 100*share)
	}
	if half.FLOPs() != full.FLOPs() {
		t.Errorf("half precision counts %g operations, full %g", half.FLOPs(), full.FLOPs())
	}
}

// Only what is large and not needed again at once is stored in half precision, after its last use in the forward pass
// and until right before its first in the backward pass; what stays readable stays as it is.
func TestWhatIsStoredInHalf(t *testing.T) {
	for _, c := range []model.Config{presets[2].config, tiny(4, 1), tiny(4, 0)} {
		spec, net := networkSpec(t, c, model.Shape{Batch: 2, Frames: 300, Tokens: 20}, model.Training)
		spec.Outputs["tap"] = net.Taps["encoder.blocks.0.out"]
		spec.Half = true
		p, err := Compile(spec)
		if err != nil {
			t.Fatal(err)
		}
		type life struct{ forward, stored, loaded, backward int }
		lives := map[string]*life{}
		small := 0
		for i, s := range p.Steps {
			switch s.Op.Name {
			case "half.store":
				lives[s.In[0].Name] = &life{stored: i}
				if s.In[0].Type.Elements() < halfLeast {
					t.Errorf("%s of %d elements is stored in half precision", s.In[0].Name, s.In[0].Type.Elements())
				}
			case "half.load":
				lives[strings.TrimSuffix(s.In[0].Name, " half")].loaded = i
			}
			if !s.Backward && s.Out.Type.Elements() < halfLeast {
				small++
			}
		}
		if len(lives) < 10 || small < 1 {
			t.Errorf("%d values are stored and %d are small: this test has lost its point", len(lives), small)
		}
		if lives[p.Outputs["tap"].Name] != nil {
			t.Error("an output is stored in half precision")
		}
		if c.DecoderLayers == 0 && lives["ctc"] != nil { // read by the loss, and by its gradient two steps later
			t.Error("what is needed again at once is stored in half precision")
		}
		for i, s := range p.Steps {
			for _, in := range s.In {
				if l := lives[in.Name]; l != nil && s.Op.Name != "half.store" {
					if s.Backward {
						t.Errorf("step %d of the backward pass reads %s in full precision", i, in.Name)
					}
					l.forward = max(l.forward, i)
				}
				if l := lives[strings.TrimSuffix(in.Name, " from half")]; l != nil && l.backward == 0 && strings.HasSuffix(in.Name, " from half") {
					l.backward = i
				}
			}
		}
		for name, l := range lives {
			steps := 0 // of the graph, between the last read of the forward pass and the first of the backward pass
			for _, s := range p.Steps[l.stored:l.backward] {
				if !strings.HasPrefix(s.Op.Name, "half.") && s.Op.Name != "accumulate" {
					steps++
				}
			}
			if l.forward > l.stored || l.loaded < l.stored || l.backward <= l.loaded || steps < halfGap-1 {
				t.Errorf("%s is read until step %d, stored at %d, loaded at %d and read again at %d, %d steps of the graph between", name, l.forward, l.stored, l.loaded, l.backward, steps)
			}
		}
	}
}
