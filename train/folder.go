package train

import (
	"fmt"
	"os"
	"path/filepath"

	"konkanitrain/checkpoint"
)

// CheckFolder refuses a checkpoint_dir that is certainly a mistake, by whatever path it is named: the root of the file
// system, and the home folder, unless there are checkpoints in it already. In both a run's files would lie among all
// else, and who removes the run's folder to begin anew would remove that too. Nothing is written.
func (c RunConfig) CheckFolder() error {
	own, err := os.Stat(c.CheckpointDir)
	if err != nil {
		return nil // it is made, or that fails
	}
	is := func(path string) bool {
		other, err := os.Stat(path)
		return err == nil && os.SameFile(own, other)
	}
	what := ""
	if path, err := filepath.Abs(c.CheckpointDir); err == nil && is(filepath.VolumeName(path)+string(filepath.Separator)) {
		what = "the root of the file system"
	} else if home, err := os.UserHomeDir(); err == nil && is(home) {
		if list, err := checkpoint.List(c.CheckpointDir); err == nil && len(list) == 0 {
			what = "the home folder"
		}
	}
	if what == "" {
		return nil
	}
	return fmt.Errorf("checkpoint_dir %s is %s, among whose files a run's would get lost: name a folder of the run's own, such as runs/first",
		c.CheckpointDir, what)
}
