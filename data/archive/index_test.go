package archive

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"konkanitrain/data/audio"
)

// TestIndexIsUsed overwrites archives without changing their size and time: what is listed then comes from the index.
func TestIndexIsUsed(t *testing.T) {
	sounds, paths := corpus(t, 5)
	for _, form := range []string{"webdataset", "parquet zstd1"} {
		path, dir := paths[form], t.TempDir()
		x := NewIndex(dir)
		for _, r := range mustOpen(t, path, x).Rows {
			if _, err := x.Probe(r.Source); err != nil {
				t.Fatal(err)
			}
		}
		x.Save()
		stat, _ := os.Stat(path)
		write(t, path, make([]byte, stat.Size()))
		if err := os.Chtimes(path, stat.ModTime(), stat.ModTime()); err != nil {
			t.Fatal(err)
		}
		x = NewIndex(dir)
		for _, r := range mustOpen2(t, path, x) {
			info, err := x.Probe(r.Source)
			if err != nil || 44+2*info.Samples != len(sounds[r.ID]) || info.Rate != 16000 || !strings.HasPrefix(info.Path, path) {
				t.Errorf("%s %s: %+v, %v", form, r.ID, info, err)
			}
		}
	}
}

// mustOpen2 lists an archive whose content no longer tells what it is.
func mustOpen2(t *testing.T, path string, x *Index) []Row {
	l := new(List)
	if strings.HasSuffix(path, ".tar") {
		r, err := x.tar(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		r.samples(l)
	} else {
		r, err := x.table(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		r.list(l)
	}
	if len(l.Rows) != 5 {
		t.Fatal(len(l.Rows))
	}
	return l.Rows
}

func TestIndexOfAChangedArchive(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "x.tar"), t.TempDir()
	for i, text := range []string{"one", "two"} {
		write(t, path, makeTar(t, pair{"a.wav", wav(1, 10)}, pair{"a.txt", text}))
		when := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
		x := NewIndex(dir)
		l := mustOpen(t, path, x)
		checkRows(t, l, "a|"+text+"|")
		if i == 1 {
			noted(t, l.Notes, "has changed since it was indexed (its time is another")
			if _, err := x.Probe(l.Rows[0].Source); err != nil || len(l.Notes) > 1 || len(x.Notes()) > 0 {
				t.Errorf("it is said again: %q, %v", l.Notes, err)
			}
		}
		if _, err := x.Probe(l.Rows[0].Source); err != nil {
			t.Fatal(err)
		}
		x.Save()
	}
}

// TestIndexDamaged damages each byte in turn: the index is made anew, and that is said.
func TestIndexDamaged(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "x.tar"), t.TempDir()
	write(t, path, makeTar(t, pair{"a.wav", wav(1, 10)}, pair{"a.txt", "one"}))
	mustOpen(t, path, NewIndex(dir))
	files, _ := os.ReadDir(dir)
	if len(files) != 1 {
		t.Fatal(files)
	}
	kept := filepath.Join(dir, files[0].Name())
	good, _ := os.ReadFile(kept)
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x20
		write(t, kept, bad)
		l := mustOpen(t, path, NewIndex(dir))
		checkRows(t, l, "a|one|")
		noted(t, l.Notes, "made anew")
		if now, _ := os.ReadFile(kept); !bytes.Equal(now, good) {
			t.Fatalf("byte %d: the index is not made anew", i)
		}
	}
	for n := range good {
		write(t, kept, good[:n])
		noted(t, mustOpen(t, path, NewIndex(dir)).Notes, "made anew")
	}
}

func TestIndexByManyAtOnce(t *testing.T) {
	_, paths := corpus(t, 20)
	dir := t.TempDir()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			x := NewIndex(dir)
			l, err := Open(t.Context(), paths["webdataset"], x)
			if err != nil || len(l.Rows) != 20 || len(l.Notes) > 0 {
				t.Error(err, l)
				return
			}
			for i := range l.Rows {
				if _, err := x.Probe(l.Rows[i].Source); err != nil {
					t.Error(err)
				}
			}
			x.Save()
		})
	}
	wait.Wait()
	files, _ := os.ReadDir(dir)
	if len(files) != 2 {
		t.Error(files)
	}
}

// TestIndexCantBeKept has a file where the folder should be.
func TestIndexCantBeKept(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "x.tar"), makeTar(t, pair{"a.wav", wav(1, 10)}, pair{"a.txt", "one"}))
	l := mustOpen(t, path, NewIndex(write(t, filepath.Join(t.TempDir(), "file"), nil)))
	checkRows(t, l, "a|one|")
	noted(t, l.Notes, "can't be kept")
}

func TestIndexOfFiles(t *testing.T) {
	path, dir := write(t, filepath.Join(t.TempDir(), "a.wav"), []byte(wav(1, 10))), t.TempDir()
	x := NewIndex(dir)
	info, err := x.Probe(audio.File(path))
	if err != nil || info.Samples != 10 {
		t.Error(info, err)
	}
	x.Save()
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Error("a WAV file needs no index: ", files)
	}
	if _, err := x.Probe(audio.File(path + "x")); err == nil {
		t.Error("no error")
	}
}
