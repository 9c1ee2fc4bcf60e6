package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"konkanitrain/model"
)

// sameBits runs the program of r's spec and, with the same inputs, that of another way to compile it; outputs and
// gradients must be the same to the bit.
func (r *rig) sameBits(what string, change func(*Spec)) (was, is *Program) {
	r.t.Helper()
	was = r.compile()
	m := r.bind(was)
	r.run(m, false)
	want := r.results(m)

	spec := r.spec
	change(&r.spec)
	is = r.compile()
	if again := r.compile().String(); again != is.String() {
		r.t.Errorf("%s: compiled twice, two programs", what)
	}
	r.spec = spec
	copy(r.grads, nans(r.layout.Bytes))
	m = r.bind(is)
	r.run(m, false)
	for name, got := range r.results(m) {
		if !slices.Equal(got, want[name]) {
			r.t.Errorf("%s: %s has other bits", what, name)
		}
	}
	return was, is
}

func recomputeBlocks(s *Spec) { s.Recompute = RecomputeBlocks }

func recomputeAll(s *Spec) { s.Recompute = RecomputeAll }

// count is the number of steps whose result's name ends so.
func count(p *Program, suffix string) (n int) {
	for _, s := range p.Steps {
		if strings.HasSuffix(s.Out.Name, suffix) {
			n++
		}
	}
	return n
}

func TestRecomputeChangesNoBit(t *testing.T) {
	t.Parallel()
	for _, c := range []model.Config{tiny(4, 0), tiny(4, 1), tiny(2, 2), tiny(8, 1)} {
		for _, shape := range []model.Shape{{Batch: 3, Frames: 37, Tokens: 4}, {Batch: 1, Frames: 400, Tokens: 30}, {Batch: 2, Frames: 130, Tokens: 1}, {Batch: 1, Frames: 1, Tokens: 1}} {
			for _, half := range []bool{false, true} {
				what := fmt.Sprintf("subsampling %d, %d decoder layers, %+v, half %v", c.Subsampling, c.DecoderLayers, shape, half)
				r, _ := networkRig(t, c, shape, model.Training)
				r.spec.Half = half
				was, is := r.sameBits(what, recomputeBlocks)
				if half && shape.Frames > 100 && count(is, " half") == 0 {
					t.Errorf("%s: nothing is stored in half precision", what)
				}
				// At least 20 values of each encoder block and 15 of each decoder block are made again.
				n := count(is, " again")
				if least := 20*c.EncoderLayers + 15*c.DecoderLayers; n < least {
					t.Errorf("%s: %d values are computed again, want %d or more", what, n, least)
				}
				_, all := r.sameBits(what, recomputeAll)
				if more := count(all, " again"); more < n+2 { // a convolution and the flattening
					t.Errorf("%s: with all that comes before the blocks %d values are computed again, without %d", what, more, n)
				}
				if was.FLOPs() >= is.FLOPs() || is.FLOPs() > 1.5*was.FLOPs() { // a forward pass is a third of a step
					t.Errorf("%s: %g operations, %g without computing anything again", what, is.FLOPs(), was.FLOPs())
				}
			}
		}
	}
}

// Random graphs with random blocks: blocks that read each other's inner values, outputs inside blocks, values of a
// block that are gradients, weights used in several blocks.
func TestRecomputeOfRandomGraphs(t *testing.T) {
	t.Parallel()
	again := 0
	for seed := range uint64(150) {
		r, _ := randomRig(t, seed, true)
		_, is := r.sameBits(fmt.Sprint("graph ", seed), recomputeBlocks)
		again += count(is, " again")
		r.sameBits(fmt.Sprint("graph ", seed, ", all"), recomputeAll)
		for name, o := range is.Outputs {
			if count(is, o.Name+" again") > 0 {
				t.Errorf("graph %d: output %s is computed again although it stays", seed, name)
			}
		}
	}
	if again < 150 {
		t.Errorf("%d values of 150 graphs are computed again: this test has lost its point", again)
	}
}

// Without a backward pass, or without blocks, there is nothing to compute again.
func TestRecomputeOfNothing(t *testing.T) {
	for _, purpose := range []model.Purpose{model.Scoring, model.Transcribing} {
		r, _ := networkRig(t, tiny(4, 1), model.Shape{Batch: 1, Frames: 37, Tokens: 4}, purpose)
		if was, is := r.sameBits("no backward pass", recomputeBlocks); was.String() != is.String() {
			t.Error("a program without a backward pass has changed")
		}
	}
	r, _ := randomRig(t, 1, false)
	if was, is := r.sameBits("no blocks", recomputeBlocks); was.String() != is.String() {
		t.Error("a program without blocks has changed")
	}
}

// Between its forward and its backward pass only a block's result is there: whatever the backward pass reads of the
// forward pass was made outside of blocks, or is what the next block reads.
func TestRecomputeKeepsResultsOfBlocksOnly(t *testing.T) {
	t.Parallel()
	for _, p := range presets {
		spec, _ := networkSpec(t, p.config, model.Shape{Batch: 2, Frames: 800, Tokens: 80}, model.Training)
		for _, half := range []bool{false, true} {
			spec.Half, spec.Recompute = half, RecomputeBlocks
			prog, err := Compile(spec)
			if err != nil {
				t.Fatal(err)
			}
			made := map[string]bool{} // in a block's forward pass
			for _, s := range prog.Steps {
				if !s.Backward && s.Op.Name != "half.store" && s.Op.Block != "" {
					made[s.Out.Name] = true
				}
				if !s.Backward {
					continue
				}
				for _, in := range s.In {
					if name := strings.TrimSuffix(in.Name, " half"); made[name] && !isResult(name) {
						t.Errorf("%s, half %v: the backward pass reads %s, which was not made again", p.name, half, in.Name)
					}
				}
			}
			if len(made) < 20*p.config.EncoderLayers {
				t.Errorf("%d values of blocks: this test has lost its point", len(made))
			}
		}
	}
}

// isResult says whether a value is what a block of package model hands on.
func isResult(name string) bool {
	encoder := strings.HasPrefix(name, "encoder.blocks.") && strings.Count(name, ".") == 3 && strings.HasSuffix(name, ".norm")
	decoder := strings.HasPrefix(name, "decoder.blocks.") && strings.Count(name, ".") == 3 && strings.HasSuffix(name, ".out")
	return encoder || decoder
}

// TestRecomputeIsSmaller holds the arena to what it should be: that of a network of one encoder and one decoder block,
// and for each further block its result, its inputs' gradients having come and gone.
func TestRecomputeIsSmaller(t *testing.T) {
	t.Parallel()
	for _, p := range presets {
		for _, shape := range []model.Shape{{Batch: 2, Frames: 800, Tokens: 80}, {Batch: 2, Frames: 3000, Tokens: 300}} {
			arena := func(spec Spec, recompute Recompute, half bool) int64 {
				spec.Recompute, spec.Half = recompute, half
				prog, err := Compile(spec)
				if err != nil {
					t.Fatal(err)
				}
				return prog.ArenaBytes()
			}
			one := p.config
			one.EncoderLayers, one.DecoderLayers = 1, 1
			results := 4 * int64(shape.Batch*p.config.DModel) *
				int64((p.config.EncoderLayers-1)*shape.Encoded(p.config)+(p.config.DecoderLayers-1)*(shape.Tokens+1))
			small, _ := networkSpec(t, one, shape, model.Training)
			large, _ := networkSpec(t, p.config, shape, model.Training)
			least := arena(small, RecomputeNone, false)
			for _, half := range []bool{false, true} {
				full, less, all := arena(large, RecomputeNone, half), arena(large, RecomputeBlocks, half), arena(large, RecomputeAll, half)
				// In float32 the first convolution's result alone, the largest value of all, is a quarter of what stays. In half
				// precision the subsampling's own forward pass sets the peak.
				if all > less || !half && float64(all) > 0.8*float64(less) {
					t.Errorf("%s, %+v, half %v: %d bytes with all computed again, %d with blocks", p.name, shape, half, all, less)
				}
				t.Logf("%s, 2 x %d s, half %v: %.1f MB, with blocks computed again %.1f MB, %.0f %%, with all %.1f MB",
					p.name, shape.Frames/100, half, float64(full)/1e6, float64(less)/1e6, 100*float64(less)/float64(full), float64(all)/1e6)
				if less > least+results {
					t.Errorf("%s, %+v, half %v: %d bytes, want at most %d, of one block of each kind, and %d for results of the others",
						p.name, shape, half, less, least, results)
				}
			}
		}
	}
}
