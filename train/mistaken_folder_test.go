package train

import (
	"os"
	"path/filepath"
	"testing"

	"konkanitrain/internal/testkit"
)

// Folders that are certainly a mistake are refused, by whatever path, before anything is written.
func TestFolderIsAMistake(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	for dir, want := range map[string]string{"/": "the root of the file system", "/..//.": "the root of the file system", home: "the home folder", link: "the home folder"} {
		cfg.Run.CheckpointDir = dir
		_, err := Run(t.Context(), cfg, Options{})
		testkit.MustFail(t, err, "checkpoint_dir "+dir+" is "+want, "name a folder of the run's own")
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("in the home folder are %v, %v", left, err)
	}
	cfg.Run.CheckpointDir = filepath.Join(home, "first")
	mustRun(t, cfg)
	if err := os.Rename(cfg.Run.CheckpointDir, cfg.Run.CheckpointDir+".old"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", cfg.Run.CheckpointDir+".old") // with a run in it that can be gone on with
	cfg.Run.CheckpointDir += ".old"
	if err := cfg.Run.CheckFolder(); err != nil {
		t.Error(err)
	}
}
