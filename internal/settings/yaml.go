package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// YAML sets what the document gives. File is its name for messages. Settings with a problem keep their value; the
// error lists all problems, each as "FILE:LINE: ...".
func (s *Set) YAML(file string, document []byte) error {
	decoder := yaml.NewDecoder(bytes.NewReader(document))
	var root, second yaml.Node
	switch err := decoder.Decode(&root); {
	case errors.Is(err, io.EOF):
		return nil // comments only, or nothing
	case err != nil:
		return syntax(file, document, err)
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		if err != nil {
			return syntax(file, document, err)
		}
		return fmt.Errorf("%s:%d: a second document begins here, want one", file, second.Line)
	}
	r := &reader{Set: s, file: file, given: map[string]*yaml.Node{}}
	r.document(root.Content[0])
	for _, problem := range s.choose(func(x *Setting) string {
		if at := r.given[x.Key]; at != nil {
			return fmt.Sprintf("%s (line %d)", at.Value, at.Line)
		}
		return ""
	}) {
		r.problems = append(r.problems, fmt.Errorf("%s: %w", file, problem))
	}
	return errors.Join(r.problems...)
}

// syntax is the decoder's error. Two that it doesn't explain are looked for here: bytes that are no text, and tabs,
// which no editor shows.
func syntax(file string, document []byte, err error) error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	tabs := strings.Contains(message, "tab character") || strings.Contains(message, "cannot start any token")
	number := 0
	for line := range bytes.Lines(document) {
		number++
		if !utf8.Valid(line) {
			return fmt.Errorf("%s:%d: not a YAML file: this line is not UTF-8", file, number)
		}
		content := bytes.TrimLeft(line, " \t")
		if indent := line[:len(line)-len(content)]; tabs && len(bytes.TrimSpace(content)) > 0 && bytes.Contains(indent, []byte("\t")) {
			return fmt.Errorf("%s:%d: the line begins with a tab: YAML is indented with spaces, and settings stand at the left edge", file, number)
		}
	}
	return fmt.Errorf("%s: not a YAML file: %s", file, message)
}

// reader collects the problems of one file.
type reader struct {
	*Set
	file     string
	given    map[string]*yaml.Node // key -> where it stood first
	problems []error
}

func (r *reader) bad(at *yaml.Node, text string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf("%s:%d: "+text, append([]any{r.file, at.Line}, args...)...))
}

func (r *reader) document(top *yaml.Node) {
	if top.Kind == yaml.ScalarNode && top.ShortTag() == "!!null" {
		return
	}
	if top.Kind != yaml.MappingNode {
		r.bad(top, "the file holds %s, want lines of the form `key: value`", found(top))
		return
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		r.entry(top.Content[i], top.Content[i+1])
	}
}

func (r *reader) entry(name, value *yaml.Node) {
	if name.Kind != yaml.ScalarNode {
		r.bad(name, "a key is %s, want a name", found(name))
		return
	}
	setting := r.Lookup(name.Value)
	if setting == nil {
		r.unknown(name, resolve(value))
		return
	}
	if first, twice := r.given[setting.Key]; twice {
		if first.Value == name.Value {
			r.bad(name, "%s is set twice, on lines %d and %d", name.Value, first.Line, name.Line)
		} else {
			r.bad(name, "%s (line %d) and %s (line %d) are the same setting: keep one", first.Value, first.Line, name.Value, name.Line)
		}
		return
	}
	r.given[setting.Key] = name
	v, ok := r.value(name.Value, value, setting.field.Type())
	if ok {
		setting.take(v)
		setting.file, setting.line, setting.flag = r.file, name.Line, false
	}
}

func (r *reader) unknown(name, value *yaml.Node) {
	if value.Kind == yaml.MappingNode {
		r.bad(name, "%s is a section: settings stand at the left edge, without sections", strconv.Quote(name.Value))
		return
	}
	hint := ""
	if near := r.Nearest(name.Value); near != "" {
		hint = ": did you mean " + near + "?"
	}
	r.bad(name, "unknown key %s%s", strconv.Quote(name.Value), hint)
}

// value reads a node as a value of type t; it reports what is wrong with it.
func (r *reader) value(key string, node *yaml.Node, t reflect.Type) (reflect.Value, bool) {
	node = resolve(node)
	if t.Kind() != reflect.Slice {
		return r.scalar(key, node, t)
	}
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!str" && t.Elem().Kind() == reflect.String {
		list := reflect.MakeSlice(t, 0, 1) // a list of one text, or of none
		if node.Value != "" {
			list = reflect.Append(list, reflect.ValueOf(node.Value))
		}
		return list, true
	}
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" {
		r.bad(node, "%s has no value: give it some, write [] for none, or take the line out", key)
		return reflect.Value{}, false
	}
	if node.Kind != yaml.SequenceNode {
		r.bad(node, "%s is %s, want %s in square brackets, such as [%s]", key, found(node), wanted(t), example(t))
		return reflect.Value{}, false
	}
	list, good := reflect.MakeSlice(t, 0, len(node.Content)), true
	for i, item := range node.Content {
		v, ok := r.scalar(fmt.Sprintf("%s (entry %d)", key, i+1), resolve(item), t.Elem())
		if good = good && ok; good {
			list = reflect.Append(list, v)
		}
	}
	return list, good
}

func (r *reader) scalar(key string, node *yaml.Node, t reflect.Type) (reflect.Value, bool) {
	v, err := parse(node.Value, t)
	isText := node.ShortTag() == "!!str"
	switch {
	case node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null":
		r.bad(node, "%s has no value: give it one, or take the line out", key)
	case node.Kind != yaml.ScalarNode:
		r.bad(node, "%s is %s, want %s", key, found(node), wanted(t))
	case t.Kind() == reflect.String && !isText:
		r.bad(node, "%s is %s, want text: put it in quotes if it is meant", key, found(node))
	case t.Kind() != reflect.String && isText && err == nil:
		r.bad(node, "%s is %s, want %s: take the quotes away", key, found(node), wanted(t))
	case err != nil:
		r.bad(node, "%s is %s, %v", key, found(node), err)
	default:
		return v, true
	}
	return v, false
}

// resolve follows a YAML alias (*name) to what it stands for.
func resolve(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode && node.Alias != nil {
		return node.Alias
	}
	return node
}

// found describes a node for messages.
func found(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Kind == yaml.MappingNode:
		return "a section of keys"
	case node.ShortTag() == "!!str":
		return "the text " + strconv.Quote(node.Value)
	}
	return node.Value
}

func example(t reflect.Type) string {
	switch t.Elem().Kind() {
	case reflect.Int:
		return "1, 2"
	case reflect.Float64:
		return "0.9, 1, 1.1"
	}
	return `"one", "two"`
}
