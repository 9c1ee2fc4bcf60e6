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
	Need      int64 // bytes that one checkpoint takes, at most
	Free      int64 // bytes free for it; -1 if the system doesn't say
	FreeFiles int64 // files and folders that can still be made there; -1 if the system doesn't say
}

// Files is the number of files and folders of a checkpoint.
const Files = 4

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
		free := d.Free(dir)
		return Space{Need: need, Free: free.bytes, FreeFiles: free.files}, nil
	}
}

// Try makes room for a checkpoint of step in dir, which must be there, and gives it back: a temporary folder with files
// of its sizes. So a limit of which the system says nothing beforehand, such as a quota, stops a run before its first
// update. It calls no tensor's Save. The error is that of a Save.
func Try(dir string, step int, c Content) error { return try(osDisk{}, dir, step, c) }

func try(d disk, dir string, step int, c Content) error {
	m, _, need, err := prepare(step, c)
	if err != nil {
		return err
	}
	temp := tempName(dir, step)
	if err = d.Mkdir(temp); err == nil {
		for _, name := range files {
			bytes := int64(len(m.encode()))
			if name != StateFile {
				bytes = m.Files[name].Bytes
			}
			if err = d.Reserve(filepath.Join(temp, name), bytes); err != nil {
				break
			}
		}
		_, removal := discard(d, temp)
		err = errors.Join(err, removal)
	}
	if err != nil {
		return explain(d, dir, filepath.Join(dir, Name(step)), need, err)
	}
	return nil
}

// Fits says whether n checkpoints fit on what is free, or that it isn't known.
func (s Space) Fits(n int) bool { return s.bytesFit(n) && s.filesFit(n) }

func (s Space) bytesFit(n int) bool { return s.Free < 0 || s.Free/s.Need >= int64(n) }

func (s Space) filesFit(n int) bool { return s.FreeFiles < 0 || s.FreeFiles/Files >= int64(n) }

// Lack says what is too little for n checkpoints, or, where they fit, what one takes and what is free; for a message.
func (s Space) Lack(n int) string {
	text := "a checkpoint takes " + size(s.Need)
	if s.Free >= 0 {
		text += fmt.Sprintf(", and %s are free", size(s.Free))
	}
	if !s.filesFit(n) {
		text += fmt.Sprintf("; it is %d files and folders, and no more than %d can be made there (df -i)", Files, s.FreeFiles)
	}
	return text
}

// NoSpaceError says that a checkpoint didn't fit on the disk.
type NoSpaceError struct {
	Path string // the checkpoint that was not made
	Need int64  // bytes that it takes
	Free int64  // bytes free, the unfinished checkpoint removed; -1 if the system doesn't say
	Err  error  // the system's error, or nil if the lack was found before writing

	FreeFiles int64 // files and folders that could be made then; -1 if the system doesn't say
}

// Error says how much the checkpoint needs, how much is free or what else is used up, and what to do.
func (e *NoSpaceError) Error() string {
	lack, advice := "the disk is full", "free some space, or keep fewer checkpoints"
	switch enough := e.Free >= e.Need; {
	case errors.Is(e.Err, syscall.EDQUOT):
		lack, advice = "the disk quota is used up", "have it raised, remove files of yours, or keep fewer checkpoints"
	case enough && e.Err != nil && e.FreeFiles >= 0 && e.FreeFiles < Files:
		lack = fmt.Sprintf("it is %d files and folders, and no more than %d can be made there although %s are free", Files, e.FreeFiles, size(e.Free))
		advice = "remove some files (df -i counts them), or keep fewer checkpoints"
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

// Full says whether an error is that of a disk on which nothing more can be written: it is full, or a quota is used up.
func Full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// explain turns the error of a save into one that says what it means for the run.
func explain(d disk, dir, final string, need int64, err error) error {
	if !Full(err) {
		return fmt.Errorf("the checkpoint %s was not saved, and the older checkpoints are as they were: %w", final, err)
	}
	free := d.Free(dir)
	return &NoSpaceError{Path: final, Need: need, Free: free.bytes, FreeFiles: free.files, Err: err}
}

// size is a number of bytes for people: exact, and from a megabyte on also in the unit they think in.
func size(n int64) string {
	if n >= 1e6 {
		return fmt.Sprintf("%d bytes (%s)", n, words.Bytes(n))
	}
	return fmt.Sprintf("%d bytes", n)
}
