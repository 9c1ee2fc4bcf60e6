package watch

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
)

// validationsFile has a record of each validation with its worst utterances.
const validationsFile = "validations.jsonl"

// Utterance is one of the worst of a validation.
type Utterance struct {
	ID       string  `json:"id"`
	Manifest string  `json:"manifest"` // the list that has it, in
	Line     int     `json:"line"`     // this line
	Audio    string  `json:"audio"`    // what its recording is called: the file, where it is one
	Offset   float64 `json:"offset"`   // seconds into the recording
	Seconds  float64 `json:"seconds"`
	Speaker  string  `json:"speaker"`

	Reference  string   `json:"reference"`
	Hypothesis string   `json:"hypothesis"`
	Words      edits    `json:"words"`
	Chars      edits    `json:"chars"`
	Loss       *float64 `json:"loss"`
}

// edits are the errors of a hypothesis.
type edits struct {
	Sub int `json:"sub"`
	Del int `json:"del"`
	Ins int `json:"ins"`
	Ref int `json:"ref"`
}

// validation is a record of validations.jsonl.
type validation struct {
	record
	Update     int         `json:"update"`
	Utterances int         `json:"utterances"`
	Wrong      int         `json:"wrong"`
	Failed     int         `json:"failed"`
	Worst      []Utterance `json:"worst"`
}

// validations is where the records of one run lie in validations.jsonl. Of a record only its place is kept.
type validations struct {
	run    string
	tail   tail
	places []recordPlace
}

// recordPlace is a line of a file.
type recordPlace struct {
	update int
	at     int64
	bytes  int
}

func newValidations(dir, run string) *validations {
	return &validations{run: run, tail: tail{path: filepath.Join(dir, validationsFile)}}
}

// read takes up what is new in the file. A record of an update that there was before, or of an earlier one, is of a run
// that went back: later ones are forgotten.
func (v *validations) read() error {
	return v.tail.next(func() { v.places = nil }, func(at int64, text []byte) {
		var r struct {
			record
			Update int
		}
		if json.Unmarshal(text, &r) != nil || r.Event != "validation" || r.Run != v.run {
			return
		}
		n := sort.Search(len(v.places), func(i int) bool { return v.places[i].update >= r.Update })
		v.places = append(v.places[:n], recordPlace{r.Update, at, len(text)})
		if len(v.places) > mostValidations {
			v.places = slices.Delete(v.places, 0, 1)
		}
	})
}

// updates are those after which there was a validation, rising.
func (v *validations) updates() []int {
	list := make([]int, len(v.places))
	for i, p := range v.places {
		list[i] = p.update
	}
	return list
}

// at reads the validation after an update; nil where there is none.
func (v *validations) at(update int) (*validation, error) {
	i := slices.IndexFunc(v.places, func(p recordPlace) bool { return p.update == update })
	if i < 0 {
		return nil, nil
	}
	f, err := os.Open(v.tail.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text := make([]byte, v.places[i].bytes)
	if _, err := f.ReadAt(text, v.places[i].at); err != nil {
		return nil, err
	}
	var r validation
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s has changed: %w", v.tail.path, err)
	}
	if r.Update != update { // it was written anew since
		return nil, nil
	}
	return &r, nil
}
