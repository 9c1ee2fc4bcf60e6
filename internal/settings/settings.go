// Package settings is the one home of a program's settings: they are the fields of a struct, and a field's tags say
// all there is to say of a setting.
//
//	BatchSize int `yaml:"batch_size" default:"8" check:"1.." help:"utterances in a micro-batch"`
//	SaveEvery int `yaml:"save_every" default:"0" check:"0.." zero:"each epoch" help:"updates between checkpoints"`
//
// yaml, default, check and help have to be there, the others may:
//   - yaml: the name of its key in a file and of its flag
//   - default: its value where nobody sets it, written as for the flag; commas between the numbers or words of a list
//   - check: the values it may have, in the grammar below
//   - help: what it is; the meaning of zero and the choices of check are appended
//   - zero: what 0 means, or a text that is empty; told in the help and when a value is wrong
//   - unit: what a number counts, such as s or Hz; told when a value is wrong
//   - alias: other names, with commas between
//   - instead: another setting, whose place this one takes unless it has its default. Of the two the one counts that is
//     given last: by a later file, or by a flag. The other goes back to its default then; both given in one place are
//     an error
//   - resume: how a resumed run takes a value that isn't its checkpoint's, note where it is missing; see [Resume]
//
// A field that is a struct, tagged `yaml:",inline"`, is a group of settings, named like the field. An embedded struct
// is no group of its own: its settings belong where it stands.
//
// The grammar of check, for one value or for each value of a list:
//
//	any               every value (rules about several settings are the program's)
//	1..8              a number from 1 to 8; 1.. has no upper end; >0..<1 leaves out the ends
//	0|1..8            0, or a number from 1 to 8
//	odd 1..9          an odd whole number in a range; even likewise
//	share             0..1, called a share
//	auto|cpu|cuda     one of these texts or numbers
//	not empty         any text but the empty one
//	words             of a list: texts without commas, which a flag takes with commas between
//	path              the path of a file or folder, or nothing; ~/ at its start is the home folder
//	not empty path    both
//	path map          FROM=TO, where TO is a path
//
// A list is emptied by [] in a file and by an empty text on the command line, as in --freeze=, unless its texts may not
// be empty: then that is an error.
//
// [Defaults] fills a struct. [Set.YAML] and flags ([Set.Flags], [Set.Apply]) set its fields, strictly: what is unknown,
// of the wrong type or given twice is an error that says where. [Set.Check] holds the values to their checks, and takes
// the program's own rules about several settings. Each of these lists all problems in one error.
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
	Key     string
	Aliases []string // other names of the key
	Help    string
	Group   string // name of the inner struct's field; "" outside of one
	Resume  Resume

	zero, unit string
	instead    string // key of the setting whose place this one takes
	check      check
	initial    reflect.Value // the default
	field      reflect.Value
	file       string // the file that set it, "" if none did
	line       int
	flag       bool // a flag set it
}

// NamesFiles says whether values are paths of files or folders, or may be.
func (s *Setting) NamesFiles() bool { return s.check.path || s.check.pathMap }

// Resume says how a resumed run takes a value that differs from its checkpoint's.
type Resume string

// The kinds of Resume, as the tag has them.
const (
	Note    Resume = "note"    // it may change, and is mentioned; what the tag means where it is missing
	Fixed   Resume = "fixed"   // the checkpoint is one of another network, or of other data: refused
	Free    Resume = "free"    // it says nothing of the run, as a path: not mentioned
	Start   Resume = "start"   // it says how a new run starts: it may change, without an effect, and that is mentioned
	Session Resume = "session" // it belongs to one session: free, and never taken from the checkpoint
)

// Where is "FILE:LINE" of a setting that a file gave, else "".
func (s *Setting) Where() string {
	if s.file == "" {
		return ""
	}
	return s.file + ":" + strconv.Itoa(s.line)
}

// File is the file that gave the setting; "" if none did.
func (s *Setting) File() string { return s.file }

// usage is the help with the choices and the meaning of 0.
func (s *Setting) usage() string {
	text := s.Help
	if s.check.choices != nil {
		text += ": " + oneOf(s.check.choices)
	}
	switch {
	case s.zero == "":
		return text
	case s.field.Kind() == reflect.String:
		return text + "; empty: " + s.zero
	}
	return text + "; 0: " + s.zero
}

// Set is all settings of a struct, in the order of its fields.
type Set struct {
	All   []*Setting
	flags []*flagValue
}

// Defaults sets all fields of config, a pointer to a struct, to their defaults. It leaves a struct with a mistake in
// its tags as it is; [Of] says which mistake.
func Defaults(config any) {
	if s, err := Of(config); err == nil {
		for _, x := range s.All {
			x.reset()
		}
	}
}

// Reset gives the settings of one kind their defaults.
func (s *Set) Reset(kind Resume) {
	for _, x := range s.All {
		if x.Resume == kind {
			x.reset()
		}
	}
}

func (s *Setting) reset() {
	v := s.initial
	if v.Kind() == reflect.Slice && v.Len() > 0 { // whoever changes a list changes his own
		v = reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v)
	}
	s.field.Set(v)
	s.file, s.flag = "", false
}

// Lookup finds a setting by its key or another name of it; nil if there is none.
func (s *Set) Lookup(name string) *Setting {
	i := slices.IndexFunc(s.All, func(x *Setting) bool { return x.Key == name || slices.Contains(x.Aliases, name) })
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

// Gave says whether a file set anything.
func (s *Set) Gave(file string) bool {
	return slices.ContainsFunc(s.All, func(x *Setting) bool { return x.file == file })
}

// Of is the settings of config, a pointer to a struct. The error lists the mistakes in the struct's tags.
func Of(config any) (*Set, error) {
	v := reflect.ValueOf(config)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("settings of %T: want a pointer to a struct", config)
	}
	s := &Set{}
	if err := s.collect(v.Elem(), ""); err != nil {
		return nil, err
	}
	for _, x := range s.All {
		if x.instead != "" && s.Lookup(x.instead) == nil {
			return nil, fmt.Errorf("settings: %s is instead of %s, and there is no such setting", x.Key, x.instead)
		}
	}
	return s, nil
}

// collect adds the fields of a struct.
func (s *Set) collect(v reflect.Value, group string) error {
	var problems []error
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Tag.Get("yaml") == ",inline" && f.Type.Kind() == reflect.Struct {
			inner := f.Name
			if f.Anonymous {
				inner = group
			}
			problems = append(problems, s.collect(v.Field(i), inner))
			continue
		}
		x, err := newSetting(f, v.Field(i))
		if err == nil {
			for _, name := range append([]string{x.Key}, x.Aliases...) {
				if s.Lookup(name) != nil {
					err = fmt.Errorf("the name %s is taken", name)
				}
			}
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("settings: field %s of %v: %w", f.Name, v.Type(), err))
			continue
		}
		x.Group = group
		s.All = append(s.All, x)
	}
	return errors.Join(problems...)
}

// newSetting reads the tags of a field.
func newSetting(f reflect.StructField, v reflect.Value) (*Setting, error) {
	tag := f.Tag
	x := &Setting{
		Key: tag.Get("yaml"), Help: tag.Get("help"), Resume: Note, zero: tag.Get("zero"), unit: tag.Get("unit"),
		instead: tag.Get("instead"), field: v,
	}
	text, hasDefault := tag.Lookup("default")
	kind := v.Kind()
	switch {
	case !f.IsExported() || x.Key == "" || strings.Contains(x.Key, ",") || x.Help == "" || !hasDefault:
		return nil, errors.New("want it exported, with the tags yaml, default, check and help")
	case typeName(f.Type) == "":
		return nil, fmt.Errorf("there are no settings of type %v", f.Type)
	case x.zero != "" && (kind == reflect.Bool || kind == reflect.Slice):
		return nil, errors.New("zero is for numbers and texts")
	case x.unit != "" && (kind == reflect.Bool || kind == reflect.String):
		return nil, errors.New("unit is for numbers")
	}
	if names, ok := tag.Lookup("alias"); ok {
		x.Aliases = strings.Split(names, ",")
	}
	if r, ok := tag.Lookup("resume"); ok {
		x.Resume = Resume(r)
	}
	if !slices.Contains([]Resume{Note, Fixed, Free, Start, Session}, x.Resume) {
		return nil, fmt.Errorf("resume is %q, want note, fixed, free, start or session", x.Resume)
	}
	var err error
	if x.check, err = parseCheck(tag.Get("check"), f.Type); err != nil {
		return nil, err
	}
	var texts []string
	if text != "" || kind != reflect.Slice {
		texts = []string{text}
	}
	if x.initial, text, err = parseAll(texts, f.Type, x.check.words); err != nil {
		return nil, fmt.Errorf("default is %q, %w", text, err)
	}
	if err := x.problem(x.initial); err != nil {
		return nil, fmt.Errorf("its default: %w", err)
	}
	return x, nil
}
