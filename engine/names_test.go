package engine

import (
	"regexp"
	"strings"
	"testing"

	"konkanitrain/model"
)

// places are what the values of a network of package model may be called, before whatever says which value of the place
// it is.
var places = regexp.MustCompile(`^(encoder\.subsample\.(conv|depthwise|pointwise|stage)\.\d|encoder\.subsample\.(flatten|proj|dropout)|` +
	`encoder\.blocks\.\d+\.[a-z0-9_.]+|decoder\.blocks\.\d+\.[a-z0-9_.]+|decoder\.(embed|dropout|norm|out|loss)|ctc|ctc\.loss|loss)( |@|$)`)

// Every value of a preset's training program has a place in the network, and no two have one name; whatever is not a
// value of the forward pass says what it is.
func TestNamesOfValues(t *testing.T) {
	t.Parallel()
	for _, p := range presets {
		spec, _ := networkSpec(t, p.config, model.Shape{Batch: 2, Frames: 800, Tokens: 80}, model.Training)
		for _, mode := range modes {
			if mode.purpose != model.Training {
				continue
			}
			spec.Half, spec.Recompute = mode.half, mode.recompute
			prog, err := Compile(spec)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, in := range prog.Inputs {
				seen[in.Name] = true
			}
			for _, w := range spec.Weights {
				seen[w.Name()] = true
			}
			suffixes := map[string]int{}
			for i, s := range prog.Steps {
				name := s.Out.String()
				if seen[name] {
					t.Errorf("%s %s: a second value is called %s", p.name, mode.name, name)
				}
				seen[name] = true
				if s.Out.Space == Grad {
					if !strings.HasPrefix(name, "grad(") {
						t.Errorf("%s %s: a gradient is called %s", p.name, mode.name, name)
					}
					continue
				}
				if !places.MatchString(name) {
					t.Errorf("%s %s: step %d makes %s, which is no place in the network", p.name, mode.name, i, name)
				}
				_, what, ok := strings.Cut(name, " ")
				suffixes[what]++
				base := s.Op.Name
				switch {
				case base == "half.store":
					ok = ok && (strings.HasSuffix(name, " half") || strings.HasSuffix(name, " half again"))
				case base == "half.load":
					ok = strings.HasSuffix(name, " from half") || strings.HasSuffix(name, " from half again")
				case s.Backward && strings.HasSuffix(name, " again"):
				case s.Backward: // a gradient: by the op that computes it, or by the sum that it adds to
					ok = strings.Contains(what, base) || strings.Contains(what, "sum")
				default:
					ok = what == ""
				}
				if !ok {
					t.Errorf("%s %s: %s of step %d is called %s", p.name, mode.name, base, i, name)
				}
			}
			for what, want := range map[string]bool{"half": mode.half, "from half": mode.half, "again": mode.recompute == RecomputeBlocks} {
				if got := suffixes[what] > 0; got != want {
					t.Errorf("%s %s: values called %q: %v, want %v", p.name, mode.name, what, got, want)
				}
			}
			if !seen["encoder.blocks.3.ffn1.up"] || !seen["ctc"] || !seen["decoder.blocks.2.cross.out"] {
				t.Errorf("%s %s: values that every preset has are called otherwise", p.name, mode.name)
			}
		}
	}
}

// Each value belongs to the block in whose name its own begins, in both passes, through all rewrites.
func TestBlocksOfValues(t *testing.T) {
	block := regexp.MustCompile(`^((?:encoder|decoder)\.blocks\.\d+)\.`)
	spec, _ := networkSpec(t, presets[2].config, model.Shape{Batch: 2, Frames: 400, Tokens: 20}, model.Training)
	spec.Half, spec.Recompute = true, RecomputeBlocks
	if err := spec.check(); err != nil {
		t.Fatal(err)
	}
	c, err := lower(spec)
	if err != nil {
		t.Fatal(err)
	}
	passes := map[bool]map[string]bool{false: {}, true: {}}
	check := func(when string) {
		for i, s := range c.steps {
			if s.backward != s.out.backward {
				t.Errorf("%s: step %d and its result %s are of two passes", when, i, s.out.name)
			}
			if s.backward && !strings.HasPrefix(s.op.Name, "half.") && s.op.Block != s.out.block && s.op.Name != "accumulate" && s.onto == nil {
				t.Errorf("%s: step %d, %s of block %q, makes %s of block %q", when, i, s.op.Name, s.op.Block, s.out.name, s.out.block)
			}
			want := ""
			if found := block.FindStringSubmatch(s.out.name); found != nil {
				want = found[1]
			}
			if s.out.space == Arena && !strings.HasSuffix(s.out.name, " from half") && s.out.block != want {
				t.Errorf("%s: %s belongs to block %q", when, s.out.name, s.out.block)
			}
			passes[s.backward][s.out.block] = true
		}
	}
	check("lowered")
	for _, rewrite := range rewrites {
		if err := rewrite(c); err != nil {
			t.Fatal(err)
		}
	}
	check("rewritten")
	for _, pass := range passes {
		if len(pass) != 6+3+1 { // blocks of encoder and decoder, and what belongs to none
			t.Errorf("blocks are %v", pass)
		}
	}
}
