package data

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tarOf makes a tar of files on disk and of texts.
func tarOf(t *testing.T, path string, files map[string]string, texts map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(name string, content []byte) {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		w.Write(content)
	}
	for _, name := range []string{"a", "b"} {
		content, err := os.ReadFile(files[name])
		if err != nil {
			t.Fatal(err)
		}
		add(name+".wav", content)
		if text, ok := texts[name]; ok {
			add(name+".txt", []byte(text))
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

var words2 = map[string]string{"a": "../examples/konkani_words/wav/v01/01.wav", "b": "../examples/konkani_words/wav/v01/02.wav"}

func TestLoadTar(t *testing.T) {
	dir := t.TempDir()
	path := tarOf(t, filepath.Join(dir, "set-000.tar"), words2, map[string]string{"a": "आनी", "b": "आसा"})
	index := filepath.Join(dir, "index")
	for range 2 {
		for _, manifest := range []string{path, filepath.Join(dir, "set-{000..000}.tar"), filepath.Join(dir, "*.tar"), dir} {
			s, err := Load(t.Context(), manifest, Options{Index: index})
			if err != nil {
				t.Fatal(err)
			}
			if u := s.At(1); s.Len() != 2 || u.ID != "b" || u.Text != "आसा" || u.Path() != path+": b.wav" || u.Samples != 4948 || u.File != path || u.Line != 3 {
				t.Errorf("%s: %+v", manifest, u)
			}
			if len(s.Report.Warnings) > 0 {
				t.Error(s.Report.Warnings)
			}
		}
	}
	if kept, _ := os.ReadDir(index); len(kept) != 2 {
		t.Errorf("the index has %d files", len(kept))
	}
}

// TestLoadChangedTar wants an archive that was made anew, with the same lengths or not, to be indexed anew, and that to
// be said.
func TestLoadChangedTar(t *testing.T) {
	dir := t.TempDir()
	path, index := filepath.Join(dir, "set.tar"), filepath.Join(dir, "index")
	for i, text := range []string{"आनी", "आसा"} {
		tarOf(t, path, words2, map[string]string{"a": text, "b": text})
		when := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
		s, err := Load(t.Context(), path, Options{Index: index})
		if err != nil {
			t.Fatal(err)
		}
		if s.Text(0) != text {
			t.Errorf("text %q of the archive of before", s.Text(0))
		}
		if said := strings.Contains(strings.Join(s.Report.Warnings, "\n"), "has changed since it was indexed"); said != (i == 1) {
			t.Errorf("time %d: %q", i, s.Report.Warnings)
		}
	}
}

// TestLoadBesideTars has the sound of a NeMo manifest in a tar, once under the name of a second part of it.
func TestLoadBesideTars(t *testing.T) {
	dir := t.TempDir()
	tarOf(t, filepath.Join(dir, "audio_0.tar"), words2, nil)
	lines := `{"audio_filepath": "a.wav", "text": "आनी", "duration": 0.274, "shard_id": 0}
{"audio_filepath": "b-sub1.wav", "text": "आसा", "offset": 0.1, "duration": 0.1, "shard_id": 0}
{"audio_filepath": "c.wav", "text": "आसा"}
`
	for _, manifest := range []string{filepath.Join(dir, "tarred_audio_manifest.json"), filepath.Join(dir, "sharded_manifests", "manifest_0.json")} {
		os.MkdirAll(filepath.Dir(manifest), 0o777)
		if err := os.WriteFile(manifest, []byte(lines), 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := Load(t.Context(), manifest, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Len() != 2 || s.At(0).Samples != 4390 || s.At(1).Samples != 1600 || s.Report.Count(Missing) != 1 {
			t.Errorf("%d utterances\n%v", s.Len(), s.Report)
		}
	}
}

func TestLoadArchiveRefused(t *testing.T) {
	dir := t.TempDir()
	if is, err := Pattern(filepath.Join(dir, "x-*.tar")); !is || err == nil {
		t.Error("a pattern that stands for nothing: ", is, err)
	}
	if is, err := Pattern(filepath.Join(dir, "x.jsonl")); is || err != nil {
		t.Error("no pattern: ", is, err)
	}
	_, err := Load(t.Context(), tarOf(t, filepath.Join(dir, "x.tar"), words2, nil), Options{})
	if err == nil || !strings.Contains(err.Error(), "no utterance is left") || !strings.Contains(err.Error(), "no text") {
		t.Error(err)
	}
}
