package settings

import (
	"os"
	"reflect"
	"strings"
)

// take sets the value, with the home folder in the place of a path's ~/.
func (s *Setting) take(v reflect.Value) {
	switch {
	case !s.check.path && !s.check.pathMap:
	case v.Kind() == reflect.String:
		v = reflect.ValueOf(s.atHome(v.String()))
	default:
		list := reflect.MakeSlice(v.Type(), 0, v.Len())
		for i := range v.Len() {
			list = reflect.Append(list, reflect.ValueOf(s.atHome(v.Index(i).String())))
		}
		v = list
	}
	s.field.Set(v)
}

// atHome is a text of the setting with the home folder in the place of ~; unchanged where that isn't known.
func (s *Setting) atHome(text string) string {
	if from, to, ok := strings.Cut(text, "="); ok && s.check.pathMap {
		return from + "=" + home(to)
	}
	if s.check.path {
		return home(text)
	}
	return text
}

func home(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	dir, err := os.UserHomeDir()
	if !ok || err != nil || rest != "" && !strings.HasPrefix(rest, "/") {
		return path
	}
	return dir + rest
}
