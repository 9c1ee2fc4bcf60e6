package checkpoint_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"konkanitrain/checkpoint"
)

// The first bytes of files as torch.save writes them, in both forms, and of others.
func TestPyTorchFiles(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		head string
		want bool
	}{
		"new.pt":      {"PK\x03\x04\x00\x00\x08\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0a\x00\x18\x00new/data.pklFB\x14\x00", true},
		"old.ckpt":    {"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.", true},
		"archive.zip": {"PK\x03\x04\x00\x00\x08\x08notes.txt", false},
		"pickle":      {"\x80\x02}q\x00.", false},
		"empty.pt":    {"", false},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.head), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := checkpoint.PyTorch(path); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		for what, open := range map[string]func() error{
			"Open":      func() error { _, err := checkpoint.Open(path); return err },
			"OpenModel": func() error { _, err := checkpoint.OpenModel(path); return err },
			"Describe":  func() error { _, err := checkpoint.Describe(path); return err },
		} {
			if err := open(); err == nil || errors.Is(err, checkpoint.ErrPyTorch) != c.want {
				t.Errorf("%s of %s: %v", what, name, err)
			}
		}
	}
	if checkpoint.PyTorch(dir) || checkpoint.PyTorch(filepath.Join(dir, "nowhere.pt")) {
		t.Error("a folder, or nothing, is taken for a file of PyTorch's")
	}
}
