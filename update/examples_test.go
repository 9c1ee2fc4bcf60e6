package update

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"konkanitrain/data"
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// bundled is the folder of the examples that come with the program.
const bundled = "../examples/konkani_words"

// examples loads the training set of bundled, or of a copy of it: 320 words of a quarter of a second to one second.
func examples(t testing.TB, dir string) *data.Set {
	t.Helper()
	set, err := data.Load(context.Background(), filepath.Join(dir, "train.jsonl"), data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := text.Build(set.Texts(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Tokenize(v, data.TokenOptions{}); err != nil {
		t.Fatal(err)
	}
	return set
}

// copied is a copy of bundled that may be damaged.
func copied(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(bundled)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// damage makes every nth file unreadable, in two ways in turn, and returns how many it were.
func damage(t testing.TB, dir string, nth int) (damaged int) {
	t.Helper()
	files, err := fs.Glob(os.DirFS(dir), "wav/*/*.wav")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files); i += nth {
		path := filepath.Join(dir, files[i])
		if damaged++; damaged%2 == 0 {
			err = os.Remove(path)
		} else {
			err = os.Truncate(path, 1000)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return damaged
}

// listener is a network for the examples: small, with every letter of them.
func listener(t testing.TB, set *data.Set) model.Config {
	t.Helper()
	v, err := text.Build(set.Texts(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return model.Config{
		DModel: 8, Heads: 2, EncoderLayers: 1, DecoderLayers: 1, ConvKernel: 3, Subsampling: 4, SubsampleChannels: 2,
		NumMels: 20, Vocab: v.Size(), Dropout: 0.1, CTCWeight: 0.3, LabelSmoothing: 0.1,
	}
}

// newLoader reads windows of a set, at three speeds and with masks.
func newLoader(t testing.TB, set *data.Set, window int) *data.Loader {
	t.Helper()
	f := feature.Default()
	f.NumMels = 20
	a := feature.Augment{Speeds: []float64{0.9, 1, 1.1}, FreqMasks: 2, FreqWidth: 5, TimeMasks: 5, TimeShare: 0.2}
	l, err := data.NewLoader(set, data.LoaderOptions{Seed: 11, Window: window, Feature: f, Augment: &a, CacheWaves: 1 << 26})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// read hands a stretch of windows to each, in their order.
func read(t testing.TB, l *data.Loader, s Span, each func(w *data.Window)) {
	t.Helper()
	stream, err := l.Start(t.Context(), s.Epoch, s.From)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for range s.Count {
		w, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		each(w)
		w.Release()
	}
}

// readOne is a window of the bundled examples that stays valid.
func readOne(t testing.TB, rows int) []*data.Example {
	t.Helper()
	l := newLoader(t, examples(t, bundled), rows)
	stream, err := l.Start(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	w, err := stream.Next()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range w.Examples {
		if e.Err != nil {
			t.Fatal(e.Err)
		}
	}
	return w.Examples
}

// productTolerance bounds how far an utterance's loss and gradient may move with its padding, its row and its batch:
// not at all with our own kernels, which sum in one order wherever a row lies. OpenBLAS's sums end up to 9e-7 apart.
var productTolerance = testkit.Products(1.5e-6)
