package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// check is what a tag demands of a value. The zero value demands nothing.
type check struct {
	span                  *span
	choices               []string // as format writes them
	notEmpty, path, words bool
	pathMap               bool // FROM=TO, where TO is a path
}

// span is a range of numbers.
type span struct {
	kind      string // "odd", "even", "share" or ""
	orZero    bool   // 0, below the span, is possible too
	low, high bound
}

// bound is an end of a span.
type bound struct {
	text  string // "": there is no end
	value float64
	out   bool // the end itself is outside
}

// parseCheck reads a check tag for values of type t.
func parseCheck(tag string, t reflect.Type) (check, error) {
	list := t.Kind() == reflect.Slice
	if list {
		t = t.Elem()
	}
	name := typeName(t)
	number := name == "int" || name == "uint" || name == "float"
	switch {
	case tag == "any":
		return check{}, nil
	case tag == "not empty" && name == "string":
		return check{notEmpty: true}, nil
	case tag == "words" && name == "string" && list:
		return check{notEmpty: true, words: true}, nil
	case tag == "path" && name == "string":
		return check{path: true}, nil
	case tag == "not empty path" && name == "string":
		return check{notEmpty: true, path: true}, nil
	case tag == "path map" && name == "string":
		return check{pathMap: true}, nil
	case tag == "share" && name == "float":
		return check{span: &span{kind: tag, low: bound{text: "0"}, high: bound{text: "1", value: 1}}}, nil
	case strings.Contains(tag, "..") && number:
		return parseSpan(tag, t)
	case strings.Contains(tag, "|") && (number || name == "string"):
		return parseChoices(tag, t)
	}
	return check{}, fmt.Errorf("check is %q: for a value of type %s that is none", tag, name)
}

func parseChoices(tag string, t reflect.Type) (check, error) {
	choices := strings.Split(tag, "|")
	for _, c := range choices {
		if v, err := parse(c, t); err != nil || format(v) != c || c == "" {
			return check{}, fmt.Errorf("check is %q: %q is no %s", tag, c, typeName(t))
		}
	}
	return check{choices: choices}, nil
}

func parseSpan(tag string, t reflect.Type) (check, error) {
	s := &span{}
	ends := tag
	if kind, rest, ok := strings.Cut(tag, " "); ok && (kind == "odd" || kind == "even") && t.Kind() == reflect.Int {
		s.kind, ends = kind, rest
	}
	ends, s.orZero = strings.CutPrefix(ends, "0|")
	low, high, _ := strings.Cut(ends, "..")
	s.low.text, s.low.out = strings.CutPrefix(low, ">")
	s.high.text, s.high.out = strings.CutPrefix(high, "<")
	for _, b := range []*bound{&s.low, &s.high} {
		if b.text == "" && b == &s.high && !b.out && s.kind == "" {
			continue // no upper end
		}
		v, err := parse(b.text, t)
		if err != nil || format(v) != b.text {
			return check{}, fmt.Errorf("check is %q: %q is no end of a range of type %s", tag, b.text, typeName(t))
		}
		b.value = number(v)
	}
	if s.high.text != "" && !(s.low.value < s.high.value) || s.kind != "" && (s.low.out || s.high.out) ||
		s.orZero && (s.kind != "" || !(s.low.value > 0)) {
		return check{}, fmt.Errorf("check is %q: that is no range", tag)
	}
	return check{span: s}, nil
}

// number is the value of a number as a float64, which is exact enough to compare with an end of a range.
func number(v reflect.Value) float64 {
	switch v.Kind() {
	case reflect.Float64:
		return v.Float()
	case reflect.Uint64:
		return float64(v.Uint())
	}
	return float64(v.Int())
}

// holds says whether a number is in the span. NaN never is.
func (s *span) holds(v reflect.Value) bool {
	x := number(v)
	switch {
	case s.orZero && x == 0:
		return true
	case !(x > s.low.value || x == s.low.value && !s.low.out):
		return false
	case s.high.text != "" && !(x < s.high.value || x == s.high.value && !s.high.out):
		return false
	case s.kind == "odd" || s.kind == "even":
		return (v.Int()%2 == 0) == (s.kind == "even")
	}
	return true
}

// wanted describes the span: "0 (off) or more", with the meaning of 0.
func (s *span) wanted(zero string) string {
	off := "0"
	if zero != "" {
		off = fmt.Sprintf("0 (%s)", zero)
	}
	low := s.low.text
	if low == "0" && !s.low.out {
		low = off
	}
	article := map[string]string{"odd": "an odd number from ", "even": "an even number from ", "share": "a share from "}[s.kind]
	if s.orZero {
		article = off + ", or "
	}
	switch high := s.high.text; {
	case s.low.out && high == "":
		return article + "more than " + low
	case s.low.out && s.high.out:
		return article + "more than " + low + " and below " + high
	case s.low.out:
		return article + "more than " + low + " and at most " + high
	case high == "":
		return article + low + " or more"
	case s.high.out:
		return article + low + " or more and below " + high
	default:
		return article + low + " to " + high
	}
}

// mayBeNone says whether an empty text is a list without values: of a list of texts that may not be empty it is a value
// that was forgotten, as from an unset variable of a shell.
func (s *Setting) mayBeNone() bool {
	return s.field.Kind() == reflect.Slice && (s.check.words || !s.check.notEmpty)
}

// problem is what is wrong with a value of the setting, or with the first of a list's values that is wrong; else nil.
func (s *Setting) problem(v reflect.Value) error {
	if v.Kind() != reflect.Slice {
		return s.problemOf("is", v)
	}
	for i := range v.Len() {
		if err := s.problemOf("has", v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Setting) problemOf(verb string, v reflect.Value) error {
	c, text := s.check, format(v)
	shown := text
	if s.unit != "" {
		shown += " " + s.unit
	}
	if v.Kind() == reflect.String {
		shown = fmt.Sprintf("%q", text)
	}
	switch {
	case c.notEmpty && text == "":
		return Problemf(s.Key, "%s is empty: give it a value", s.Key)
	case c.words && strings.Contains(text, ","):
		return Problemf(s.Key, "%s has %s: give it as several entries, without commas", s.Key, shown)
	case c.path && CheckPath(s.Key, text) != nil:
		return CheckPath(s.Key, text)
	case c.pathMap:
		_, to, _ := strings.Cut(text, "=")
		return CheckPath(s.Key, to)
	case c.choices != nil && !slices.Contains(c.choices, text):
		return Problemf(s.Key, "%s %s %s, want %s", s.Key, verb, shown, oneOf(c.choices))
	case c.span != nil && !c.span.holds(v):
		return Problemf(s.Key, "%s %s %s, want %s", s.Key, verb, shown, c.span.wanted(s.zero))
	}
	return nil
}

// CheckPath is the problem with a path that begins with ~ still, as the setting of this key; nil for any other path.
// ~ and ~/ have become the home folder before, where that is known. A folder named ~ is never made: its owner would
// remove his home folder by its name.
func CheckPath(key, path string) error {
	switch {
	case !strings.HasPrefix(path, "~"):
		return nil
	case path == "~" || strings.HasPrefix(path, "~/"):
		return Problemf(key, "%s is %q, and ~ could not be replaced by the home folder (is HOME set?): write it out", key, path)
	}
	return Problemf(key, "%s is %q: ~/ at the start means your home folder, and ~ has no other meaning here: "+
		"write the folder out, or ./%s for what has that very name", key, path, path)
}

// oneOf is "a, b or c".
func oneOf(choices []string) string {
	last := len(choices) - 1
	return strings.Join(choices[:last], ", ") + " or " + choices[last]
}
