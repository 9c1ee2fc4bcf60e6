// Package settings fills the fields of a struct from a YAML file and from command-line flags, strictly: what is
// unknown, of the wrong type or given twice is an error that says where. All problems come in one error.
//
// A field's yaml tag is the name of its key and of its flag, its help tag the description. Fields of inner
// structs tagged `yaml:",inline"` form a group. The values that the struct holds at first are the defaults; a
// file overrules them, and flags overrule both.
package settings

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Setting is one field.
type Setting struct {
	Key   string
	Help  string
	Group string // name of the inner struct's field; "" outside of one

	field reflect.Value
	file  string // the file that set it, "" if none did
	line  int
}

// Where is "FILE:LINE" of a setting that a file gave, else "".
func (s *Setting) Where() string {
	if s.file == "" {
		return ""
	}
	return s.file + ":" + strconv.Itoa(s.line)
}

// Set is all settings of a struct, in the order of its fields.
type Set struct {
	All     []*Setting
	aliases map[string]string // other name -> key
	flags   []*flagValue
}

// Of takes a pointer to a struct. Aliases are further names of keys, other name -> key. The error is a mistake in
// the struct's tags or in aliases.
func Of(config any, aliases map[string]string) (*Set, error) {
	v := reflect.ValueOf(config)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("settings of %T: want a pointer to a struct", config)
	}
	s := &Set{aliases: aliases}
	if err := s.collect(v.Elem(), ""); err != nil {
		return nil, err
	}
	for name, key := range aliases {
		if s.Lookup(key) == nil || s.byKey(name) != nil {
			return nil, fmt.Errorf("settings of %T: alias %s of %s: want a new name for a key that there is", config, name, key)
		}
	}
	return s, nil
}

func (s *Set) collect(v reflect.Value, group string) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		key, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if option == "inline" && f.Type.Kind() == reflect.Struct {
			if err := s.collect(v.Field(i), f.Name); err != nil {
				return err
			}
			continue
		}
		switch {
		case key == "" || !f.IsExported() || f.Tag.Get("help") == "":
			return fmt.Errorf("settings: field %s of %v: want it exported, with yaml and help tags", f.Name, v.Type())
		case typeName(f.Type) == "":
			return fmt.Errorf("settings: field %s of %v: no settings of type %v", f.Name, v.Type(), f.Type)
		case s.byKey(key) != nil:
			return fmt.Errorf("settings: key %s stands at two fields", key)
		}
		s.All = append(s.All, &Setting{Key: key, Help: f.Tag.Get("help"), Group: group, field: v.Field(i)})
	}
	return nil
}

// Lookup finds a setting by its key or another name of it; nil if there is none.
func (s *Set) Lookup(name string) *Setting {
	if key, ok := s.aliases[name]; ok {
		name = key
	}
	return s.byKey(name)
}

func (s *Set) byKey(key string) *Setting {
	i := slices.IndexFunc(s.All, func(x *Setting) bool { return x.Key == key })
	if i < 0 {
		return nil
	}
	return s.All[i]
}

// Groups are the names of the groups, in order.
func (s *Set) Groups() []string {
	var names []string
	for _, x := range s.All {
		if !slices.Contains(names, x.Group) {
			names = append(names, x.Group)
		}
	}
	return names
}

// Nearest is the key that name was probably meant to be, "" if none is near.
func (s *Set) Nearest(name string) string {
	keys := make([]string, len(s.All))
	for i, x := range s.All {
		keys[i] = x.Key
	}
	return Nearest(name, keys)
}

// Locate puts the place in a file before each problem whose text begins with the key of a setting that the file
// gave: "batch_size is 0" becomes "x.yaml:3: batch_size is 0". A nil error gives nil.
func (s *Set) Locate(err error) error {
	var located []error
	for _, problem := range Flatten(err) {
		first, _, _ := strings.Cut(problem.Error(), " ")
		if x := s.byKey(first); x != nil && x.file != "" {
			problem = fmt.Errorf("%s: %w", x.Where(), problem)
		}
		located = append(located, problem)
	}
	return errors.Join(located...)
}

// Flatten lists the single problems of joined errors.
func Flatten(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, Flatten(e)...)
	}
	return all
}
