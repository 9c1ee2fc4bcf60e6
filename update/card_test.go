package update

import (
	"testing"

	"konkanitrain/engine"
	"konkanitrain/model"
	"konkanitrain/op"
)

// A network compiles for a card in both precisions, and every launch is one that each card takes. Half precision makes
// the arena smaller.
func TestNetworkCompilesForACard(t *testing.T) {
	for _, layers := range []int{0, 1} {
		net, err := NetworkOn(op.CUDA, tinyNetwork(4, layers), Tuning{})
		if err != nil {
			t.Fatal(err)
		}
		var arena [2]int64
		for i, half := range []bool{false, true} {
			for _, r := range []engine.Recompute{engine.RecomputeNone, engine.RecomputeBlocks, engine.RecomputeAll} {
				for _, purpose := range []model.Purpose{model.Training, model.Scoring, model.Transcribing} {
					v := Variant{Shape: model.Shape{Batch: 3, Frames: 120, Tokens: 7}, Purpose: purpose, Half: half, Recompute: r}
					spec, err := net.Spec(v)
					if err != nil {
						t.Fatal(err)
					}
					p, err := engine.Compile(spec)
					if err != nil {
						t.Fatalf("%+v: %v", v, err)
					}
					if err := p.Plan.Check(); err != nil {
						t.Errorf("%+v: %v", v, err)
					}
					for _, s := range p.Steps {
						if len(s.Kernel.Launches) == 0 {
							t.Errorf("%+v: %s launches nothing", v, s.Op.Name)
						}
					}
					if purpose == model.Training && r == engine.RecomputeNone {
						arena[i] = p.ArenaBytes()
					}
				}
			}
		}
		if arena[1] >= arena[0]*3/4 {
			t.Errorf("%d decoder layers: the arena is %d bytes in float32 and %d in half precision", layers, arena[0], arena[1])
		}
	}
}
