package data

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A set of compressed files, and of parts of them, is read as a set of WAV files is: by content, with lengths that
// are known from the start, and what is done with them said once.
func TestCodedSet(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	for i, name := range []string{"speech.mp3", "speech.ogg", "speech.opus", "stereo24.flac", "stereo.opus"} {
		b, err := os.ReadFile(filepath.Join("audio", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		file := fmt.Sprintf("%d.wav", i) // whatever it is called
		if err := os.WriteFile(filepath.Join(dir, file), b, 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, `{"id": "%d", "audio_filepath": "%s", "text": "a"}`+"\n", i, file)
		if i < 3 {
			fmt.Fprintf(&lines, `{"id": "%d end", "audio_filepath": "%s", "offset": 10.5, "duration": 1.5, "text": "a"}`+"\n", i, file)
		}
	}
	path := filepath.Join(dir, "x.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s := mustLoad(t, path, Options{SampleRate: 8000})
	const want = "\n  several channels, whose mean is used: 2 utterances with 2" +
		"\n  resampled to 8000 Hz: 3 utterances of 48000 Hz, 2 utterances of 16000 Hz, 1 utterance of 24000 Hz"
	if said := s.Report.String(); s.Len() != 8 || !strings.HasSuffix(said, want) {
		t.Errorf("%d utterances, %s\nwant %s", s.Len(), said, want)
	}
	o := options8k(4)
	l := newLoader(t, s, o)
	stream, err := l.Start(context.Background(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for range l.Windows() {
		w, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range w.Examples {
			if e.Err != nil || e.Frames == 0 || e.Frames != e.Planned {
				t.Errorf("%s: %d frames, %v", e.Utt.ID, e.Frames, e.Err)
			}
		}
		w.Release()
	}
}
