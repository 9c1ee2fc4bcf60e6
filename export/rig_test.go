package export

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/internal/safetensors"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
	"konkanitrain/recognize"
)

// described is a small network with a decoder, and a vocabulary with a space in it.
func described(t testing.TB, subsampling int) *recognize.Description {
	t.Helper()
	v, err := text.NewVocabulary([]rune(" abcdक"))
	if err != nil {
		t.Fatal(err)
	}
	d := &recognize.Description{
		Network: model.Config{
			DModel: 16, Heads: 2, EncoderLayers: 2, DecoderLayers: 2, ConvKernel: 5, Subsampling: subsampling, SubsampleChannels: 4,
			NumMels: 20, Vocab: v.Size(), Dropout: 0.1, CTCWeight: 0.3, LabelSmoothing: 0.1,
		},
		Features: feature.Default(), Vocabulary: v, Update: 7,
		Score: &recognize.Evaluation{WER: 0.25, CER: 0.125, Score: text.Score{Utterances: 8, Words: text.Counts{Sub: 1, Ref: 4}, Chars: text.Counts{Del: 1, Ref: 8}}},
	}
	d.Features.NumMels = d.Network.NumMels
	return d
}

// values are weights of a network: the start values, and biases and norms that are not 0 and 1.
func values(d *recognize.Description) (all []checkpoint.Tensor, byName map[string][]float32) {
	byName = map[string][]float32{}
	for i, p := range model.Parameters(d.Network) {
		w := make([]float32, p.Size())
		p.Init(w, 5)
		for k, x := range testkit.Normal[float32](uint64(i), len(w)) {
			w[k] += 0.1 * x
		}
		byName[p.Name] = w
		all = append(all, safetensors.Floats(p.Name, p.Shape, w))
	}
	return all, byName
}

// stored is a model with such weights as a lone file, opened.
func stored(t testing.TB, d *recognize.Description) *recognize.Stored {
	t.Helper()
	all, _ := values(d)
	return storedWith(t, d, all)
}

func storedWith(t testing.TB, d *recognize.Description, all []checkpoint.Tensor) *recognize.Stored {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.safetensors")
	metadata, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := safetensors.Write(f, all, metadata); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	m, err := recognize.Open(path, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// mustWrite exports into a new folder.
func mustWrite(t testing.TB, m *recognize.Stored, o Options) (dir string, r *Report) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "export")
	r, err := Write(m, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return dir, r
}

func mustRead(t testing.TB, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// best is the text of the best path.
func best(d *recognize.Description, logits []float32) string {
	var ids []int32
	for row := range slices.Chunk(logits, d.Network.Vocab) {
		ids = append(ids, int32(slices.Index(row, slices.Max(row))))
	}
	ids = slices.DeleteFunc(slices.Compact(ids), func(id int32) bool { return id == text.Blank })
	return d.Policy.Normalize(d.Vocabulary.Decode(ids))
}
