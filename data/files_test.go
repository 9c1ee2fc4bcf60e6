package data

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/data/audio"
)

// Recordings without a manifest: each has its place, and is a set's utterance or an error that names it.
func TestFiles(t *testing.T) {
	dir := corpus(t, map[string]string{
		"a.wav": string(wav(16000, 16000)), "b.wav": string(wav(4000, 8000)), "short.wav": string(wav(30, 16000)), "bad.wav": "no sound",
	})
	var paths []string
	for _, name := range []string{"b.wav", "nowhere.wav", "short.wav", "a.wav", "bad.wav", "b.wav"} {
		paths = append(paths, filepath.Join(dir, name))
	}
	files, err := Files(t.Context(), paths, 16000)
	if err != nil || len(files) != len(paths) {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for i, f := range files {
		if f.Path != paths[i] || (f.Utterance == nil) != (f.Err != nil) {
			t.Errorf("%+v at the place of %s", f, paths[i])
		}
		if f.Err != nil && !strings.Contains(f.Err.Error(), paths[i]) {
			t.Errorf("%v doesn't name %s", f.Err, paths[i])
		}
	}
	if !errors.Is(files[1].Err, fs.ErrNotExist) || !errors.Is(files[2].Err, errTooShort) || !errors.Is(files[4].Err, audio.ErrFormat) {
		t.Errorf("%v, %v, %v", files[1].Err, files[2].Err, files[4].Err)
	}
	a, b := files[3].Utterance, files[0].Utterance
	if a.Frames != 100 || a.Duration != 1 || a.Samples != 16000 || b.Frames != 50 || b.Rate() != 8000 || b.ID != paths[0] || b.Text != "" {
		t.Errorf("%+v and %+v", a, b)
	}
	if files[5].Utterance == b {
		t.Error("a file that is given twice is one utterance")
	}
	s := FileSet(files, 16000)
	if s.Len() != 3 || s.Report.Lines != 6 || s.Report.Kept != 3 || s.Report.Seconds != 2 || s.SampleRate != 16000 {
		t.Errorf("%+v, %+v", s, s.Report)
	}
	// It is a set like others: a loader reads it.
	o := options8k(2)
	o.Evaluate, o.Feature.SampleRate = true, 16000
	stream, err := newLoader(t, s, o).Start(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	w, err := stream.Next()
	if err != nil || len(w.Examples) != 2 || w.Examples[0].Err != nil || w.Examples[0].Frames != 50 || w.Examples[1].Frames != 100 {
		t.Errorf("%+v, %v", w, err)
	}
	files, err = Files(t.Context(), paths[:1], 5)
	if err != nil || files[0].Err == nil || !strings.Contains(files[0].Err.Error(), "from 8000 Hz to 5 Hz") {
		t.Errorf("at a rate that sound can't have: %+v, %v", files, err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	stop(why)
	if _, err := Files(ctx, paths, 16000); !errors.Is(err, why) {
		t.Errorf("after a stop: %v", err)
	}
}
