package watch

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"konkanitrain/internal/scores"
)

// validationsFile has a record of each validation with its worst utterances.
const validationsFile = "validations.jsonl"

// validations is where the records of one run lie in validations.jsonl. Of a record only its place is kept.
type validations struct {
	run    string
	tail   tail
	places []recordPlace
	// version goes up with each change of places.
	version int
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

// read takes up what is new in the file. What is before a new run's start is an earlier run's; what a session that goes
// on makes again is forgotten. Lines that are no records, or parts of one, are passed over.
func (v *validations) read() error {
	return v.tail.next(func() { v.places, v.version = nil, v.version+1 }, func(at int64, text []byte) {
		var r struct {
			record
			Update    int
			ResumedAt *int `json:"resumed_at"`
			From      string
		}
		switch err := json.Unmarshal(text, &r); {
		case err != nil || r.Run != v.run:
			return
		case r.Event == "start" && (r.ResumedAt == nil || r.From != ""):
			v.places = nil
		case r.Event == "start":
			v.forget(*r.ResumedAt + 1)
		case r.Event == "validation":
			v.forget(r.Update)
			v.places = append(v.places, recordPlace{r.Update, at, len(text)})
		}
		v.version++
		if len(v.places) > mostValidations {
			v.places = slices.Delete(v.places, 0, 1)
		}
	})
}

// forget leaves out what is of an update or behind it.
func (v *validations) forget(update int) {
	n := sort.Search(len(v.places), func(i int) bool { return v.places[i].update >= update })
	v.places = v.places[:n]
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
func (v *validations) at(update int) (*scores.Validation, error) {
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
	var r scores.Validation
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s has changed: %w", v.tail.path, err)
	}
	if r.Update != update { // it was written anew since
		return nil, nil
	}
	return &r, nil
}

// validation is the validation after an update, or with -1 the last; nil where there is none.
func (r *shown) validation(update int) (*scores.Validation, error) {
	if n := len(r.validations.places); update < 0 && n > 0 {
		update = r.validations.places[n-1].update
	}
	return r.validations.at(update)
}
