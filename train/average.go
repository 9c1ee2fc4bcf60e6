package train

import (
	"fmt"
	"path/filepath"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/simd"
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
	entries = entries[max(0, len(entries)-n):]
	sum, one := t.weights.Floats(), t.optimizer.moments[0].Floats()
	clear(sum)
	for _, e := range entries {
		c, err := checkpoint.Open(e.Path)
		if err != nil {
			return fmt.Errorf("averaging the last %d checkpoints: %w", n, err)
		}
		if err := c.LoadModel(t.tensors("", one)); err != nil {
			return fmt.Errorf("averaging the last %d checkpoints: %w", n, err)
		}
		simd.Axpy(sum, 1/float32(len(entries)), one)
	}
	path, err := checkpoint.Save(filepath.Join(dir, averagedDir), t.optimizer.Updates, t.tensors("", sum), nil, &t.state)
	if err != nil {
		return err
	}
	if _, err := checkpoint.Prune(filepath.Join(dir, averagedDir), 1, ""); err != nil {
		return err
	}
	t.report.say("averaged the weights of %d checkpoints (updates %d to %d): saved %s", len(entries), entries[0].Step, entries[len(entries)-1].Step, path)
	return nil
}
