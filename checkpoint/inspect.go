package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxState is the longest trainer.json that is written or read, in bytes: a vocabulary of a hundred thousand entries
// stays below it.
const maxState = 16 << 20

// inspect reads trainer.json and compares the sizes of the other files with it: the quick part of Open.
func inspect(path string) (*manifest, error) {
	m, err := readManifest(path)
	if err != nil {
		return nil, err
	}
	if folder := filepath.Base(path); strings.HasPrefix(folder, namePrefix) && folder != Name(m.Step) {
		return nil, fmt.Errorf("%s is of step %d, and the folder's name says otherwise", filepath.Join(path, StateFile), m.Step)
	}
	for _, name := range []string{ModelFile, OptimizerFile} {
		file := filepath.Join(path, name)
		stat, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		if want := m.Files[name].Bytes; stat.Size() != want {
			return nil, fmt.Errorf("%s has %d bytes, and %s says %d", file, stat.Size(), StateFile, want)
		}
	}
	return m, nil
}

// readManifest reads a checkpoint's trainer.json and compares it with its checksum.
func readManifest(path string) (*manifest, error) {
	name := filepath.Join(path, StateFile)
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxState+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxState {
		return nil, fmt.Errorf("%s is longer than %d bytes", name, maxState)
	}
	m, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// verify compares a file's checksum with the one that was saved.
func verify(path string, want fileInfo) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	// The wrappers keep io.CopyBuffer from ways of its own, which would take other buffers.
	if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, struct{ io.Reader }{f}, make([]byte, 256<<10)); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want.SHA256 {
		return fmt.Errorf("%s has changed since it was saved: its SHA-256 begins with %s, and %s says %s",
			path, got[:12], StateFile, want.SHA256[:12])
	}
	return nil
}
