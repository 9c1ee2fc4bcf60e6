package train

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-audio/audio"
	"github.com/go-audio/wav"

	"konkanitrain/data"
	"konkanitrain/internal/testkit"
)

// letters are the alphabet of the made-up language: each is a tone of its own.
const letters = "abcdefgh"

// perLetter is the length of a letter's tone, in samples at 16 kHz: 9 feature frames.
const perLetter = 1440

// spoken is a line of a made-up manifest.
type spoken struct {
	id, text string
	samples  int // 0: as many as the text needs
}

// speak writes the sounds and a manifest of them into a fresh folder, and returns the manifest's path.
func speak(t testing.TB, lines ...spoken) string {
	t.Helper()
	dir := t.TempDir()
	manifest, err := os.Create(filepath.Join(dir, "manifest.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer manifest.Close()
	out := json.NewEncoder(manifest)
	for i, s := range lines {
		if s.samples == 0 {
			s.samples = perLetter * (len(s.text) + 1)
		}
		name := fmt.Sprintf("%03d.wav", i)
		writeTone(t, filepath.Join(dir, name), s, uint64(i))
		if err := out.Encode(map[string]string{"id": s.id, "audio_filepath": name, "text": s.text}); err != nil {
			t.Fatal(err)
		}
	}
	return manifest.Name()
}

// writeTone writes one utterance: its letters' tones one after the other, and a little noise.
func writeTone(t testing.TB, path string, s spoken, seed uint64) {
	t.Helper()
	noise := testkit.Normal[float64](seed, s.samples)
	buffer := &audio.IntBuffer{Format: &audio.Format{NumChannels: 1, SampleRate: 16000}, SourceBitDepth: 16}
	each := max(s.samples/(len(s.text)+1), 1)
	for n := range s.samples {
		x := 200 * noise[n]
		if i := n / each; i < len(s.text) {
			hz := 300 * math.Pow(1.4, float64(strings.IndexByte(letters, s.text[i])))
			x += 8000 * math.Sin(2*math.Pi*hz*float64(n)/16000)
		}
		buffer.Data = append(buffer.Data, int(x))
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := wav.NewEncoder(f, 16000, 16, 1, 1)
	if err := w.Write(buffer); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// babble is n utterances of 1 to longest letters, the same for the same seed.
func babble(n, longest int, seed uint64) []spoken {
	r := testkit.Rand(seed)
	lines := make([]spoken, n)
	for i := range lines {
		word := make([]byte, 1+r.IntN(longest))
		for j := range word {
			word[j] = letters[r.IntN(len(letters))]
		}
		lines[i] = spoken{id: fmt.Sprintf("utt%02d", i), text: string(word)}
	}
	lines[0].text = letters // so that each set has the whole alphabet
	return lines
}

// tiny is the configuration of a run on a manifest that takes milliseconds an update. Everything random is on.
func tiny(t testing.TB, manifest string) Config {
	c := Default()
	c.Data.TrainManifest, c.Data.NumMels, c.Data.FreqWidth, c.Data.TimeShare = manifest, 20, 5, 0.2
	c.Model = ModelConfig{DModel: 16, EncoderLayers: 2, DecoderLayers: 1, Heads: 2, ConvKernel: 5, Subsampling: 4,
		SubsampleChannels: 4, Dropout: 0.1, CTCWeight: 0.3, LabelSmoothing: 0.1}
	c.Optimizer.BatchSize, c.Optimizer.GradAccum, c.Optimizer.WarmupUpdates, c.Optimizer.NumEpochs = 2, 2, 20, 100
	c.Run.CheckpointDir, c.Run.CPUWorkers, c.Run.LogEvery = filepath.Join(t.TempDir(), "run"), 2, 1
	return c
}

// plain turns off everything random but the start values.
func plain(c Config) Config {
	c.Data.SpecAugment, c.Data.SpeedPerturb, c.Model.Dropout = false, false, 0
	return c
}

// start sets a run up, to be closed at the end of the test. What it says goes to out, nil for nowhere.
func start(t testing.TB, c Config, out io.Writer) *trainer {
	t.Helper()
	run, err := setUp(context.Background(), c, out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.close)
	return run
}

// windows reads the first n windows of a run.
func windows(t testing.TB, run *trainer, n int) []*data.Window {
	t.Helper()
	r, err := run.loader.Run(context.Background(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []*data.Window
	for range n {
		w, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

// mustLoad opens a trained model until the test ends.
func mustLoad(t testing.TB, path string) *Recogniser {
	t.Helper()
	r, err := Load(path, LoadOptions{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// mustScore scores a manifest and returns what was said.
func mustScore(t testing.TB, r *Recogniser, manifest string) (e *Evaluation, said string) {
	t.Helper()
	var out bytes.Buffer
	e, err := r.Evaluate(t.Context(), manifest, EvalOptions{Progress: &out})
	if err != nil {
		t.Fatal(err)
	}
	return e, out.String()
}

// mustContain holds a text to what it has to say.
func mustContain(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("it doesn't say %q:\n%s", p, text)
		}
	}
}

func writeFile(path, content string) error { return os.WriteFile(path, []byte(content), 0o666) }
