package checkpoint

import (
	"maps"
	"os"
	"path/filepath"

	"konkanitrain/internal/safetensors"
)

// Model is a model on disk: that of a checkpoint's folder, or a lone safetensors file, such as a model.safetensors that
// was copied from its folder or one that another program has made. It holds no open file.
type Model struct {
	Path       string      // the safetensors file
	Checkpoint *Checkpoint // the whole checkpoint that the file belongs to; nil for a lone file

	metadata map[string]string
	shapes   map[string][]int
}

// OpenModel opens a model: path is a checkpoint's folder, which is checked as a whole, or a safetensors file, or a
// folder with a model.safetensors and no trainer.json. Of a lone file there is no checksum to be checked against; its
// header and the sizes in it are.
func OpenModel(path string) (*Model, error) {
	file, whole := modelFile(path)
	m := &Model{Path: file}
	var err error
	if whole {
		if m.Checkpoint, err = Open(path); err != nil {
			return nil, err
		}
	}
	f, err := safetensors.Open(file)
	if err != nil {
		return nil, withHint(path, err)
	}
	defer f.Close()
	m.metadata, m.shapes = f.Metadata(), map[string][]int{}
	for _, name := range f.Names() {
		info, _ := f.Info(name)
		m.shapes[name] = info.Shape
	}
	return m, nil
}

// Describe reads what a model says of itself (see [Content]), and nothing else of it: path is as for OpenModel. The
// map holds the keys "format" and "step" too, where a checkpoint was saved by this package. It is empty, never nil, for
// a file that says nothing.
func Describe(path string) (map[string]string, error) {
	file, _ := modelFile(path)
	description, err := metadata(file)
	return description, withHint(path, err)
}

// Description is what the model says of itself, as Describe reads it.
func (m *Model) Description() map[string]string { return maps.Clone(m.metadata) }

// Shapes are the shapes of the model's tensors, by their names.
func (m *Model) Shapes() map[string][]int { return maps.Clone(m.shapes) }

// weightTypes are the types that weights may have in a model's file; they are converted to float32.
var weightTypes = []safetensors.DType{safetensors.F32, safetensors.F16, safetensors.BF16, safetensors.F64}

// LoadWeights hands the weights to dst, with the rules of [Checkpoint.LoadModel]; but they may also be F16, BF16 or F64
// in the file, and are converted to float32.
func (m *Model) LoadWeights(dst []Tensor) error { return load(m.Path, dst, weightTypes, false) }

// LoadSome is LoadWeights for a part of the weights: what else the file holds is passed over.
func (m *Model) LoadSome(dst []Tensor) error { return load(m.Path, dst, weightTypes, true) }

// modelFile finds the safetensors file that path means, and whether it belongs to a whole checkpoint's folder.
func modelFile(path string) (file string, whole bool) {
	if stat, err := os.Stat(path); err != nil || !stat.IsDir() {
		return path, false
	}
	_, err := os.Lstat(filepath.Join(path, StateFile))
	return filepath.Join(path, ModelFile), err == nil
}

// metadata reads the metadata of a safetensors file.
func metadata(file string) (map[string]string, error) {
	f, err := safetensors.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Metadata(), nil
}
