package settings

import (
	"fmt"
	"reflect"
)

// choose lets one of each two settings count of which one takes the other's place. given is what one place, a file or
// the command line, calls a setting that it gives; "" where it gives none.
func (s *Set) choose(given func(*Setting) string) (problems []error) {
	for _, x := range s.All {
		if x.instead == "" {
			continue
		}
		other := s.Lookup(x.instead)
		mine, others := given(x), given(other)
		switch {
		case mine == "" && others == "":
		case mine == "":
			x.reset()
		case others == "":
			other.reset()
		case !x.isDefault() && !other.isDefault():
			problems = append(problems, fmt.Errorf("%s and %s are both given, and one is instead of the other: keep one", others, mine))
		}
	}
	return problems
}

func (s *Setting) isDefault() bool {
	return reflect.DeepEqual(s.field.Interface(), s.initial.Interface())
}
