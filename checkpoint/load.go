package checkpoint

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"konkanitrain/internal/safetensors"
)

// LoadModel reads the weights into the slices of dst, straight from the file. dst has to name exactly the
// tensors of the file, with their shapes; otherwise a *TensorsError lists all that disagrees, and no slice has
// been touched.
func (c *Checkpoint) LoadModel(dst []Tensor) error {
	return load(filepath.Join(c.Path, ModelFile), dst, []safetensors.DType{safetensors.F32})
}

// LoadOptimizer reads the optimizer's moments, with the rules of LoadModel.
func (c *Checkpoint) LoadOptimizer(dst []Tensor) error {
	return load(filepath.Join(c.Path, OptimizerFile), dst, []safetensors.DType{safetensors.F32})
}

// LoadWeights reads weights to start another run from: path is a safetensors file, or a folder with a
// model.safetensors, which is checked against its trainer.json if it has one. The rules are those of
// LoadModel, but weights may also be F16, BF16 or F64 and are converted.
func LoadWeights(path string, dst []Tensor) error {
	stat, err := os.Stat(path)
	if err != nil {
		return err
	}
	if stat.IsDir() {
		if _, err := Open(path); err != nil && hasState(path) {
			return err
		}
		path = filepath.Join(path, ModelFile)
	}
	return load(path, dst, []safetensors.DType{safetensors.F32, safetensors.F16, safetensors.BF16, safetensors.F64})
}

// hasState says whether a folder has a trainer.json, as each checkpoint does.
func hasState(folder string) bool {
	_, err := os.Lstat(filepath.Join(folder, StateFile))
	return err == nil
}

// TensorsError says why the tensors of a file are not those that were asked for.
type TensorsError struct {
	Path     string
	Problems []string // one for each tensor that disagrees
}

// shown is how many problems a message spells out: two architectures can disagree about every tensor.
const shown = 40

// Error lists what disagrees, one tensor a line.
func (e *TensorsError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s doesn't fit this model (%d tensors disagree):", e.Path, len(e.Problems))
	for _, p := range e.Problems[:min(shown, len(e.Problems))] {
		b.WriteString("\n  " + p)
	}
	if more := len(e.Problems) - shown; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	return b.String()
}

func load(path string, dst []Tensor, types []safetensors.DType) error {
	f, err := safetensors.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if problems := disagreements(f, dst, types); len(problems) > 0 {
		return &TensorsError{Path: path, Problems: problems}
	}
	for _, t := range dst {
		if err := f.ReadFloat32(t.Name, t.Data); err != nil {
			return err
		}
	}
	return nil
}

// disagreements compares names, shapes and types, sorted by what the model wants and then by what is left over.
func disagreements(f *safetensors.File, dst []Tensor, types []safetensors.DType) (problems []string) {
	wanted := map[string]bool{}
	for _, t := range dst {
		info, ok := f.Info(t.Name)
		switch {
		case wanted[t.Name]:
			problems = append(problems, fmt.Sprintf("%s: the model has two of this name", t.Name))
		case !ok:
			problems = append(problems, fmt.Sprintf("%s: missing in the file, %v in the model", t.Name, t.Shape))
		case !slices.Equal(info.Shape, t.Shape):
			problems = append(problems, fmt.Sprintf("%s: %v in the file, %v in the model", t.Name, info.Shape, t.Shape))
		case !slices.Contains(types, info.DType):
			problems = append(problems, fmt.Sprintf("%s: of type %s in the file, and %v is read here", t.Name, info.DType, types))
		case info.Len() != len(t.Data):
			problems = append(problems, fmt.Sprintf("%s: %v in the file, and the model's memory for it has %d elements", t.Name, info.Shape, len(t.Data)))
		}
		wanted[t.Name] = true
	}
	for _, name := range f.Names() {
		if !wanted[name] {
			info, _ := f.Info(name)
			problems = append(problems, fmt.Sprintf("%s: %v in the file, not in the model", name, info.Shape))
		}
	}
	return problems
}
