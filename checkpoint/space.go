package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"konkanitrain/internal/words"
)

// Space is the room that a checkpoint takes and that a disk has.
type Space struct {
	Need int64 // bytes that one checkpoint takes, at most
	Free int64 // bytes free for it; -1 if the system doesn't say
}

// Measure is the space for a checkpoint of step in dir, which need not be there yet. It writes nothing and calls no
// tensor's Save, so that a run can say before its first update that its checkpoints won't fit.
func Measure(dir string, step int, c Content) (Space, error) {
	return measure(osDisk{}, dir, step, c)
}

func measure(d disk, dir string, step int, c Content) (Space, error) {
	_, _, need, err := prepare(step, c)
	if err != nil {
		return Space{}, err
	}
	for {
		_, err := os.Stat(dir)
		if up := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && up != dir {
			dir = up
			continue
		}
		return Space{Need: need, Free: free(d, dir)}, nil
	}
}

// free is the number of bytes that can be written in dir, or -1.
func free(d disk, dir string) int64 {
	if n, known := d.Free(dir); known {
		return n
	}
	return -1
}

// Fits says whether n checkpoints fit on what is free, or that it isn't known.
func (s Space) Fits(n int) bool { return s.Free < 0 || s.Free/s.Need >= int64(n) }

// String says what one checkpoint takes and what is free, for a message.
func (s Space) String() string {
	if s.Free < 0 {
		return fmt.Sprintf("a checkpoint takes %s", size(s.Need))
	}
	return fmt.Sprintf("a checkpoint takes %s, and %s are free", size(s.Need), size(s.Free))
}

// NoSpaceError says that a checkpoint didn't fit on the disk.
type NoSpaceError struct {
	Path string // the checkpoint that was not made
	Need int64  // bytes that it takes
	Free int64  // bytes free, the unfinished checkpoint removed; -1 if the system doesn't say
	Err  error  // the system's error, or nil if the lack was found before writing
}

// Error says how much the checkpoint needs, how much is free or what else is used up, and what to do.
func (e *NoSpaceError) Error() string {
	lack, advice := "the disk is full", "free some space, or keep fewer checkpoints"
	switch enough := e.Free >= e.Need; {
	case errors.Is(e.Err, syscall.EDQUOT):
		lack, advice = "the disk quota is used up", "have it raised, remove files of yours, or keep fewer checkpoints"
	case enough && e.Err != nil:
		lack = "the system refused to write it although " + size(e.Free) + " are free"
		advice = "see whether the number of files (df -i) or a quota has reached its limit, or keep fewer checkpoints"
	case e.Free >= 0:
		lack = "only " + size(e.Free) + " are free"
	}
	text := fmt.Sprintf("the checkpoint %s needs %s, and %s; it was not saved, and the older checkpoints are as they were: %s",
		e.Path, size(e.Need), lack, advice)
	if e.Err != nil {
		text += fmt.Sprintf(" (%v)", e.Err)
	}
	return text
}

// Unwrap is the system's error.
func (e *NoSpaceError) Unwrap() error { return e.Err }

// explain turns the error of a save into one that says what it means for the run.
func explain(d disk, dir, final string, need int64, err error) error {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("the checkpoint %s was not saved, and the older checkpoints are as they were: %w", final, err)
	}
	return &NoSpaceError{Path: final, Need: need, Free: free(d, dir), Err: err}
}

// size is a number of bytes for people: exact, and from a megabyte on also in the unit they think in.
func size(n int64) string {
	if n >= 1e6 {
		return fmt.Sprintf("%d bytes (%s)", n, words.Bytes(n))
	}
	return fmt.Sprintf("%d bytes", n)
}
