package recognize

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"konkanitrain/checkpoint"
	"konkanitrain/model"
)

// Stored is a trained model on disk, described and not loaded into any memory.
type Stored struct {
	Path        string // where it was found
	Description *Description
	State       json.RawMessage // of the checkpoint that it belongs to, from trainer.json; nil of a lone file

	found *found
}

// Open finds the model that [Load] would load and reads what it says of itself. Warnings go to log.
func Open(path string, log io.Writer) (*Stored, error) {
	finder := &finder{log: log, said: map[string]bool{}}
	for look := 1; ; look++ {
		f, err := finder.find(path)
		if err == nil {
			return &Stored{Path: f.path, Description: f.description, State: f.state, found: f}, nil
		}
		if look == looks || !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

// Read hands the weights to dst, straight from the file: dst names all of the network's parameters, with their shapes.
func (s *Stored) Read(dst []checkpoint.Tensor) error {
	if err := s.found.checkSize(); err != nil {
		return err
	}
	return s.found.load(dst)
}

// Odd names the first weight that is no finite number: such a network recognizes nothing. It is "" where all are. They
// are read from the file, and not kept.
func (s *Stored) Odd() (odd string, err error) {
	var all []checkpoint.Tensor
	for _, p := range model.Parameters(s.Description.Network) {
		all = append(all, checkpoint.Tensor{Name: p.Name, Shape: p.Shape, Load: func(r io.Reader) error {
			values := bufio.NewReader(r)
			var b [4]byte
			for i := 0; ; i++ {
				if _, err := io.ReadFull(values, b[:]); err == io.EOF {
					return nil
				} else if err != nil {
					return err
				}
				if v := float64(math.Float32frombits(binary.LittleEndian.Uint32(b[:]))); !finite(v) && odd == "" {
					odd = fmt.Sprintf("%s[%d] is %v", p.Name, i, v)
				}
			}
		}})
	}
	err = s.Read(all)
	return odd, err
}
