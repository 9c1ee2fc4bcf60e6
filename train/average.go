package train

import (
	"fmt"
	"path/filepath"
	"slices"

	"konkanitrain/checkpoint"
)

// averagedDir is the folder inside a checkpoint_dir that holds the averaged weights.
const averagedDir = "averaged"

// average replaces the weights by the mean of those of the newest checkpoints, up to n of them, and saves them as a
// checkpoint of its own, without an optimizer. The last weights of a run are a draw from a noisy process; their mean
// lies nearer its middle (Polyak and Juditsky 1992; checkpoint averaging as in Vaswani et al. 2017, section 6.1).
// It ends a run: the moments' memory is used to read the checkpoints.
func (t *trainer) average(n int) error {
	dir := t.cfg.Run.CheckpointDir
	entries, err := checkpoint.List(dir)
	if err != nil {
		return err
	}
	sum, one := t.weights.Floats(), t.optimizer.moments[0].Floats()
	var used []int // updates
	total := make([]float64, len(sum))
	for _, e := range slices.Backward(entries) {
		if len(used) == n {
			break
		}
		c, err := checkpoint.Open(e.Path)
		if err == nil {
			err = c.LoadModel(t.tensors("", one))
		}
		if err != nil {
			t.report.say("WARNING: left out of the average: %v", err)
			continue
		}
		used = append(used, e.Step)
		for i, v := range one {
			total[i] += float64(v)
		}
	}
	if len(used) == 0 {
		return fmt.Errorf("average_last: none of the checkpoints in %s can be read", dir)
	}
	for i, v := range total {
		sum[i] = float32(v / float64(len(used)))
	}
	state := t.state
	state.BestStep = t.optimizer.Updates // the only checkpoint of its folder is its best
	path, err := checkpoint.Save(filepath.Join(dir, averagedDir), t.optimizer.Updates, t.tensors("", sum), nil, &state)
	if err != nil {
		return err
	}
	if _, err := checkpoint.Prune(filepath.Join(dir, averagedDir), 1, ""); err != nil {
		return err
	}
	t.report.say("averaged the weights of %d checkpoints (updates %d to %d): saved %s", len(used), used[len(used)-1], used[0], path)
	return nil
}
