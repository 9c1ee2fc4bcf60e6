package checkpoint

import (
	"fmt"
	"slices"
	"strings"

	"konkanitrain/internal/safetensors"
	"konkanitrain/internal/words"
)

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
	fmt.Fprintf(&b, "%s doesn't fit this model (%s):", e.Path, words.Count(len(e.Problems), "disagreeing tensor"))
	for _, p := range e.Problems[:min(shown, len(e.Problems))] {
		b.WriteString("\n  " + p)
	}
	if more := len(e.Problems) - shown; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	return b.String()
}

// load hands the tensors of a file to dst, once it is sure that names, shapes and types agree. With some the file may
// hold others too.
func load(path string, dst []Tensor, types []safetensors.DType, some bool) error {
	f, err := safetensors.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if problems := disagreements(f, dst, types, some); len(problems) > 0 {
		return &TensorsError{Path: path, Problems: problems}
	}
	for _, t := range dst {
		if err := f.Load(t); err != nil {
			return err
		}
	}
	return nil
}

// disagreements compares names, shapes and types: first for what the model wants, then what is left over in the file.
func disagreements(f *safetensors.File, dst []Tensor, types []safetensors.DType, some bool) (problems []string) {
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
		case t.Load == nil:
			problems = append(problems, fmt.Sprintf("%s: the model has no Load to take it in", t.Name))
		}
		wanted[t.Name] = true
	}
	for _, name := range f.Names() {
		if !wanted[name] && !some {
			info, _ := f.Info(name)
			problems = append(problems, fmt.Sprintf("%s: %v in the file, not in the model", name, info.Shape))
		}
	}
	return problems
}
