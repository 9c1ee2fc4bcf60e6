package checkpoint

import (
	"io"
	"os"
)

// disk is what a save does to the file system. Tests put one in its place that fills up or dies on the way.
type disk interface {
	MkdirAll(path string) error
	Mkdir(path string) error
	Create(path string) (file, error)
	SyncDir(path string) error        // makes the names in a folder durable
	Replace(temp, final string) error // gives the folder temp the name final, also if final is taken
	RemoveAll(path string) error
	Free(path string) (int64, bool) // bytes that can be written there, if that is known
}

type file interface {
	io.Writer
	Sync() error
	Close() error
}

// osDisk is the real one.
type osDisk struct{}

func (osDisk) MkdirAll(path string) error       { return os.MkdirAll(path, 0o777) }
func (osDisk) Mkdir(path string) error          { return os.Mkdir(path, 0o777) }
func (osDisk) Create(path string) (file, error) { return os.Create(path) }
func (osDisk) RemoveAll(path string) error      { return os.RemoveAll(path) }
func (osDisk) Free(path string) (int64, bool)   { return freeBytes(path) }
func (osDisk) SyncDir(path string) error        { return syncDir(path) }

// Replace gives temp the name final. If final exists the two change names, in one step where the system can,
// and the old one is removed: no moment has neither. An old one that can't be removed is a leftover for Clean.
func (osDisk) Replace(temp, final string) error {
	if _, err := os.Lstat(final); err != nil {
		return os.Rename(temp, final)
	}
	if err := exchange(temp, final); err != nil {
		return err
	}
	os.RemoveAll(temp)
	return nil
}

// exchangeInSteps is for systems without an exchange in one step. A kill between the renames leaves both
// checkpoints under temporary names; the older steps are still there.
func exchangeInSteps(temp, final string) error {
	aside := temp + ".old"
	if err := os.Rename(final, aside); err != nil {
		return err
	}
	if err := os.Rename(temp, final); err != nil {
		os.Rename(aside, final)
		return err
	}
	os.Rename(aside, temp) // a leftover under either name
	return nil
}
