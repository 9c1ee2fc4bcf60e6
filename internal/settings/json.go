package settings

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// JSON is the values by key, as one JSON object with sorted keys. It is YAML too: [Set.YAML] reads it back, and every
// value comes back the same.
func (s *Set) JSON() (json.RawMessage, error) {
	values := map[string]any{}
	for _, x := range s.All {
		v := x.field
		if v.Kind() == reflect.Slice && v.IsNil() {
			v = reflect.MakeSlice(v.Type(), 0, 0) // a list without values, not null
		}
		values[x.Key] = v.Interface()
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("writing the settings: %w", err)
	}
	return text, nil
}
