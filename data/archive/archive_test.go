package archive

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"konkanitrain/data/audio"
)

// pair is a member of a tar.
type pair struct{ name, content string }

func makeTar(t testing.TB, members ...pair) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.content))}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, m.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// wav is a WAV file of n samples, which are not those of another seed.
func wav(seed, n int) string {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data")
	b = append(b, byte(2*n), byte(2*n>>8), byte(2*n>>16), 0)
	for range n {
		v := r.IntN(2000) - 1000
		b = append(b, byte(v), byte(v>>8))
	}
	size := len(b) - 8
	b[4], b[5], b[6] = byte(size), byte(size>>8), byte(size>>16)
	return string(b)
}

func write(t testing.TB, path string, b []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustOpen(t testing.TB, path string, x *Index) *List {
	t.Helper()
	l, err := Open(t.Context(), path, x)
	if err != nil {
		t.Fatal(err)
	}
	if l == nil {
		t.Fatalf("%s is taken for no archive", path)
	}
	return l
}

// refused holds an error to the words that it must have.
func refused(t *testing.T, path string, words ...string) {
	t.Helper()
	_, err := Open(t.Context(), path, NewIndex(""))
	if err == nil {
		t.Fatalf("%s is not refused", path)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v\nhas not %q", err, w)
		}
	}
}

func content(t testing.TB, s audio.Source) string {
	t.Helper()
	b, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	out, err := io.ReadAll(io.NewSectionReader(b, 0, b.Size()))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// summary is a row for comparison.
func summary(r *Row) string {
	s := fmt.Sprintf("%s|%s|%s", r.ID, r.Text, r.Wrong)
	if r.Part {
		s += fmt.Sprintf("|%.3f+%.3f", r.Offset, r.Duration)
	}
	return s
}

func checkRows(t *testing.T, l *List, want ...string) {
	t.Helper()
	for i := range max(len(l.Rows), len(want)) {
		got := "none"
		if i < len(l.Rows) {
			got = summary(&l.Rows[i])
		}
		if i >= len(want) || got != want[i] {
			t.Errorf("row %d: %q, want %q", i, got, append(want, make([]string, len(l.Rows))...)[i])
		}
	}
}

func noted(t *testing.T, notes []string, words string) {
	t.Helper()
	if !strings.Contains(strings.Join(notes, "\n"), words) {
		t.Errorf("notes %q have not %q", notes, words)
	}
}

// corpus is n recordings in each form that Go can write.
func corpus(t testing.TB, n int) (sounds map[string]string, paths map[string]string) {
	sounds, paths = map[string]string{}, map[string]string{}
	dir := t.TempDir()
	var members, shar []pair
	var cuts bytes.Buffer
	var rows []sample
	for i := range n {
		id := fmt.Sprintf("u%03d", i)
		s := wav(i, 400+37*i)
		sounds[id] = s
		members = append(members, pair{id + ".txt", "text " + id}, pair{id + ".wav", s})
		shar = append(shar, pair{id + ".wav", s}, pair{id + ".json", "{}"})
		length := float64(400+37*i) / 16000
		b, err := json.Marshal(map[string]any{"id": id, "type": "MonoCut", "start": 0, "duration": length, "channel": 0,
			"supervisions": []any{map[string]any{"id": id, "recording_id": id, "start": 0, "duration": length, "text": "text " + id}},
			"recording": map[string]any{"id": id, "sampling_rate": 16000, "duration": length,
				"sources": []any{map[string]any{"type": "shar", "channels": []int{0}, "source": ""}}}})
		if err != nil {
			t.Fatal(err)
		}
		cuts.Write(append(b, '\n'))
		rows = append(rows, sample{ID: id, Audio: sound{[]byte(s), id + ".wav"}, Text: "text " + id})
	}
	paths["webdataset"] = write(t, filepath.Join(dir, "set.tar"), makeTar(t, members...))
	write(t, filepath.Join(dir, "shar", "recording.000000.tar"), makeTar(t, shar...))
	write(t, filepath.Join(dir, "shar", "cuts.000000.jsonl"), cuts.Bytes())
	paths["shar"] = filepath.Join(dir, "shar")
	for name, b := range makeParquets(t, rows) {
		paths["parquet "+name] = write(t, filepath.Join(dir, name+".parquet"), b)
	}
	return sounds, paths
}

// TestAnyOrder reads every form in random orders, by several goroutines at once: each recording has the bytes that it
// was made of, with an index that was made now and with one that was kept.
func TestAnyOrder(t *testing.T) {
	sounds, paths := corpus(t, 60)
	for form, path := range paths {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for range 2 {
				l := mustOpen(t, path, NewIndex(dir))
				if len(l.Rows) != len(sounds) || len(l.Notes) > 0 {
					t.Fatalf("%d rows of %d, %q", len(l.Rows), len(sounds), l.Notes)
				}
				var wait sync.WaitGroup
				for g := range 3 {
					wait.Go(func() {
						for _, i := range rand.New(rand.NewPCG(uint64(g), 2)).Perm(len(l.Rows)) {
							r := &l.Rows[i]
							b, err := r.Source.Open()
							if err != nil {
								t.Error(err)
								return
							}
							got, err := io.ReadAll(io.NewSectionReader(b, 0, b.Size()))
							if string(got) != sounds[r.ID] || err != nil || r.Text != "text "+r.ID || r.Wrong != "" || r.Part {
								t.Errorf("%s has other bytes, or %v: %+v", r.Source.Name(), err, r)
							}
							b.Close()
						}
					})
				}
				wait.Wait()
			}
		})
	}
}

// TestChangedWhileInUse opens a recording of an archive that was replaced by another of the same size, or cut off.
func TestChangedWhileInUse(t *testing.T) {
	_, paths := corpus(t, 3)
	for form, path := range paths {
		l := mustOpen(t, path, NewIndex(""))
		if form == "shar" {
			path = filepath.Join(path, "recording.000000.tar")
		}
		changed := func(how string) {
			t.Helper()
			_, err := l.Rows[0].Source.Open()
			if err == nil || !strings.Contains(err.Error(), "it was changed while it is in use ("+how) {
				t.Errorf("%s: %v", form, err)
			}
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path+".new", b)
		later := time.Now().Add(time.Second)
		if err := errors.Join(os.Chtimes(path+".new", later, later), os.Rename(path+".new", path)); err != nil {
			t.Fatal(err)
		}
		changed("its time is another")
		if err := os.Truncate(path, 100); err != nil {
			t.Fatal(err)
		}
		changed(fmt.Sprintf("%d bytes before, 100 now", len(b)))
	}
}
