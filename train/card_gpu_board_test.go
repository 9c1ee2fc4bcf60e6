//go:build gpu

package train

import (
	"math"
	"strings"
	"testing"
)

// Event files of a run on a card show the gradients that the card has, and change no weight.
func TestSimulatedBoard(t *testing.T) {
	cfg := tiny(t, speak(t, babble(8, 3, 1)...))
	cfg.Run.EvalEvery, cfg.Optimizer.MaxUpdates, cfg.Run.CPUWorkers = 2, 4, 1
	without, _ := onSimulated(t, cfg)
	mustRun(t, without)
	cfg.Run.Tensorboard = "true"
	cpu := elsewhere(t, cfg)
	mustRun(t, cpu)
	card, _ := onSimulated(t, elsewhere(t, cfg))
	mustRun(t, card)
	mustEqualRun(t, card.Run.CheckpointDir, without.Run.CheckpointDir, 4)
	norms := map[string]map[int]float64{}
	for name, dir := range map[string]string{"cpu": cpu.Run.CheckpointDir, "card": card.Run.CheckpointDir} {
		norms[name] = map[int]float64{}
		shown := map[int]float64{}
		for _, v := range shownOn(t, dir) {
			if strings.HasPrefix(v.Tag, "gradients/") {
				norms[name][v.Step] += v.Histo.Squares
			}
			if v.Tag == "train/grad_norm" {
				shown[v.Step] = float64(*v.Scalar)
			}
		}
		for step, squares := range norms[name] {
			if norm := math.Sqrt(squares); !(math.Abs(norm/shown[step]-1) < 1e-5) { // squares are added in float32, some thousands at a time
				t.Errorf("%s, update %d: layers make a norm of %v, want %v", name, step, norm, shown[step])
			}
		}
	}
	for _, step := range []int{2, 4} {
		a, b := norms["cpu"][step], norms["card"][step]
		if !(math.Abs(a/b-1) < 2e-2) || len(norms["card"]) != 2 { // what rounding becomes in Adam's steps, squared
			t.Errorf("update %d: %v on the CPU, %v on the card", step, a, b)
		}
	}
}
