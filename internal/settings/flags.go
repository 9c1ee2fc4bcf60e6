package settings

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/spf13/pflag"
)

// Flags adds a flag for each setting, and hidden ones for other names. What the command line gives is kept until
// Apply, so that it can overrule a file that is read later.
func (s *Set) Flags(fs *pflag.FlagSet) {
	for _, x := range s.All {
		s.flag(fs, x, x.Key)
		for _, name := range x.Aliases {
			s.flag(fs, x, name)
			fs.Lookup(name).Hidden = true
		}
	}
}

func (s *Set) flag(fs *pflag.FlagSet, x *Setting, name string) {
	v := &flagValue{setting: x, name: name}
	s.flags = append(s.flags, v)
	f := fs.VarPF(v, name, "", x.usage())
	if x.field.Kind() == reflect.Bool {
		f.NoOptDefVal = "true"
	}
}

// Underscores makes a flag's name the same with - as with _, for pflag's SetNormalizeFunc.
func Underscores(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	return pflag.NormalizedName(strings.ReplaceAll(name, "-", "_"))
}

// Apply sets what the command line gave. A setting that is given twice, with two values, is an error: which of them is
// meant, nobody can know. The error lists all problems.
func (s *Set) Apply() error {
	var problems []error
	first := map[string]*flagValue{}
	for _, f := range s.flags {
		if len(f.texts) == 0 {
			continue
		}
		key := f.setting.Key
		if other := first[key]; other != nil {
			problems = append(problems, fmt.Errorf("--%s and --%s are the same setting: give one", other.name, f.name))
			continue
		}
		first[key] = f
		v, err := f.parse()
		if err != nil {
			problems = append(problems, err)
			continue
		}
		f.setting.take(v)
		f.setting.file, f.setting.flag = "", true
	}
	problems = append(problems, s.choose(func(x *Setting) string {
		if f := first[x.Key]; f != nil {
			return "--" + f.name
		}
		return ""
	})...)
	return errors.Join(problems...)
}

// flagValue implements pflag.Value.
type flagValue struct {
	setting *Setting
	name    string
	texts   []string // as given; only a list takes several
}

// Set keeps what was given. Whether it makes sense is said by Apply, about all flags at once.
func (f *flagValue) Set(text string) error {
	f.texts = append(f.texts, text)
	return nil
}

// Type is the word for a value in the help.
func (f *flagValue) Type() string { return typeName(f.setting.field.Type()) }

// String is the value as it is now: in the help, the default.
func (f *flagValue) String() string { return format(f.setting.field) }

// parse reads the texts.
func (f *flagValue) parse() (reflect.Value, error) {
	t := f.setting.field.Type()
	if t.Kind() != reflect.Slice {
		for _, other := range f.texts[1:] {
			if other != f.texts[0] {
				return reflect.Value{}, fmt.Errorf("--%s is given twice, as %q and %q: give it once", f.name, f.texts[0], other)
			}
		}
	}
	if f.setting.mayBeNone() && len(f.texts) == 1 && f.texts[0] == "" {
		return reflect.Zero(t), nil
	}
	v, wrong, err := parseAll(f.texts, t, f.setting.check.words)
	if err != nil {
		return v, fmt.Errorf("--%s is %q, %w", f.name, wrong, err)
	}
	return v, nil
}
