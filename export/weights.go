package export

import (
	"fmt"
	"math"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/safetensors"
	"konkanitrain/model"
	"konkanitrain/recognize"
)

// tensor is a parameter with its values, row by row.
type tensor struct {
	model.Parameter
	values []float32
}

// floats is t for files.
func (t tensor) floats() checkpoint.Tensor { return safetensors.Floats(t.Name, t.Shape, t.values) }

// weights reads all parameters of a model from the disk.
func weights(m *recognize.Stored) ([]tensor, error) {
	var all []tensor
	var files []checkpoint.Tensor
	for _, p := range model.Parameters(m.Description.Network) {
		t := tensor{p, make([]float32, p.Size())}
		all, files = append(all, t), append(files, t.floats())
	}
	if err := m.Read(files); err != nil {
		return nil, err
	}
	for _, t := range all {
		for i, v := range t.values {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return nil, fmt.Errorf("%s: element %d of %s is %v: such a network recognizes nothing; the file is damaged, or its training went wrong",
					m.Path, i, t.Name, v)
			}
		}
	}
	return all, nil
}
