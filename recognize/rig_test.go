package recognize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/data"
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
	"konkanitrain/op"
	"konkanitrain/update"
)

// letters are the alphabet of a made-up language.
const letters = "abcdefgh"

// described is a tiny network with the vocabulary of letters.
func described(t testing.TB) *Description {
	t.Helper()
	v, err := text.NewVocabulary([]rune(letters))
	if err != nil {
		t.Fatal(err)
	}
	d := &Description{
		Network: model.Config{
			DModel: 16, Heads: 2, EncoderLayers: 1, DecoderLayers: 1, ConvKernel: 3, Subsampling: 4, SubsampleChannels: 4,
			NumMels: 20, Vocab: v.Size(), Dropout: 0.1, CTCWeight: 0.3, LabelSmoothing: 0.1,
		},
		Features: feature.Default(), Vocabulary: v, Update: 7,
	}
	d.Features.NumMels = d.Network.NumMels
	return d
}

// newReplica has start values drawn from seed, and fewer blanks than these would give, so that something comes out.
func newReplica(t testing.TB, d *Description, seed uint64, workers int, dev device.Device) *engine.Crew[update.Variant] {
	t.Helper()
	network, err := update.NetworkOn(op.CPU, d.Network, update.Tuning{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.NewCrew(dev, engine.NewLibrary(network), workers, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	if err := r.Initialize(seed); err != nil {
		t.Fatal(err)
	}
	bias := make([]byte, 4*d.Network.Vocab)
	for i, x := range []float32{-1, -9, -9} {
		b := math.Float32bits(x)
		for k := range 4 {
			bias[4*i+k] = byte(b >> (8 * k))
		}
	}
	if err := r.Import(engine.Weights, "ctc.bias", bytes.NewReader(bias)); err != nil {
		t.Fatal(err)
	}
	return r
}

// random is a model of such weights in memory.
func random(t testing.TB, d *Description, workers int) *Model {
	t.Helper()
	return newModel("random", d, newReplica(t, d, 1, workers, device.NewHost()), io.Discard)
}

// saved writes a model of such weights as a checkpoint; without says that its file doesn't describe it.
func saved(t testing.TB, dir string, step int, d *Description, seed uint64, state any, without ...string) string {
	t.Helper()
	r := newReplica(t, d, seed, 1, device.NewHost())
	var c checkpoint.Content
	for _, p := range model.Parameters(d.Network) {
		c.Model = append(c.Model, checkpoint.Tensor{Name: p.Name, Shape: p.Shape, Save: func(w io.Writer) error {
			return r.Export(engine.Weights, p.Name, w)
		}})
	}
	var err error
	if c.Description, err = d.Encode(); err != nil {
		t.Fatal(err)
	}
	for _, key := range without {
		delete(c.Description, key)
	}
	if c.State = state; state == nil {
		c.State = map[string]any{}
	}
	path, err := checkpoint.Save(dir, step, c)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// mustLoad opens a model until the test ends.
func mustLoad(t testing.TB, path string, o LoadOptions) *Model {
	t.Helper()
	m, err := Load(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// spoken is a line of a made-up manifest.
type spoken struct {
	text    string
	samples int // at 16 kHz
}

// babble is n utterances of 1 to 6 letters, 0.09 s a letter, the same for the same seed.
func babble(n int, seed uint64) []spoken {
	r := testkit.Rand(seed)
	lines := make([]spoken, n)
	for i := range lines {
		word := make([]byte, 1+r.IntN(6))
		for j := range word {
			word[j] = letters[r.IntN(len(letters))]
		}
		lines[i] = spoken{text: string(word), samples: 1440 * (len(word) + 1)}
	}
	return lines
}

// speak writes the sounds and a manifest of them into a fresh folder, and returns the paths of both.
func speak(t testing.TB, lines []spoken) (manifest string, paths []string) {
	t.Helper()
	dir := t.TempDir()
	var list strings.Builder
	for i, s := range lines {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("%04d.wav", i)))
		tone(t, paths[i], s, uint64(i))
		line, err := json.Marshal(map[string]string{"id": fmt.Sprintf("utt%04d", i), "audio_filepath": filepath.Base(paths[i]), "text": s.text})
		if err != nil {
			t.Fatal(err)
		}
		list.Write(append(line, '\n'))
	}
	manifest = filepath.Join(dir, "manifest.jsonl")
	write(t, manifest, list.String())
	return manifest, paths
}

// tone writes one utterance: its letters' tones one after the other, and a little noise.
func tone(t testing.TB, path string, s spoken, seed uint64) {
	t.Helper()
	noise := testkit.Normal[float64](seed, 4096)
	var samples []int
	each := max(s.samples/(len(s.text)+1), 1)
	for n := range s.samples {
		x := 200 * noise[n%len(noise)]
		if i := n / each; i < len(s.text) {
			hz := 300 * math.Pow(1.4, float64(strings.IndexByte(letters, s.text[i])))
			x += 8000 * math.Sin(2*math.Pi*hz*float64(n)/16000)
		}
		samples = append(samples, int(x))
	}
	testkit.WriteWAV(t, path, 16000, samples)
}

// loader reads a manifest for a model, in windows of this size.
func loader(t testing.TB, m *Model, manifest string, window int) *data.Loader {
	t.Helper()
	set, err := m.readManifests(t.Context(), []string{manifest}, EvaluateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := data.NewLoader(set, data.LoaderOptions{Evaluate: true, Window: window, Feature: m.Description.Features})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// transcripts recognizes files; a file that can't be has its error as text.
func transcripts(t testing.TB, m *Model, paths ...string) []string {
	t.Helper()
	var texts []string
	err := m.Transcribe(t.Context(), paths, func(r Transcript) error {
		path, text, err := r.Path, r.Text(), r.Err
		if want := paths[len(texts)]; path != want {
			t.Errorf("result %d is of %s, want %s", len(texts), path, want)
		}
		if err != nil {
			text = "error: " + err.Error()
		}
		texts = append(texts, text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) != len(paths) {
		t.Fatalf("%d results of %d files", len(texts), len(paths))
	}
	return texts
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}
