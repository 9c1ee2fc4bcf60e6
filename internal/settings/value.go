package settings

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// typeName is how help calls a type, "" for one that settings can't have.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int64:
		return "int"
	case reflect.Uint64:
		return "uint"
	case reflect.Float64:
		return "float"
	case reflect.String:
		return "string"
	case reflect.Slice:
		switch t.Elem().Kind() {
		case reflect.Int, reflect.Float64, reflect.String:
			return typeName(t.Elem()) + "s"
		}
	}
	return ""
}

// wanted is what a value of this type looks like, for messages.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Uint64:
		return "a whole number of 0 or more"
	case reflect.Float64:
		return "a number"
	case reflect.String:
		return "text"
	}
	switch t.Elem().Kind() {
	case reflect.Int:
		return "a list of whole numbers"
	case reflect.Float64:
		return "a list of numbers"
	}
	return "a list of texts"
}

// parse reads one value, not a list, as both files and flags write it: whole numbers in decimal digits, no NaN and
// no infinity. The error completes the sentence "KEY is TEXT, want ...".
func parse(text string, t reflect.Type) (reflect.Value, error) {
	v := reflect.New(t).Elem()
	var err error
	switch t.Kind() {
	case reflect.Bool:
		switch text { // the spellings of YAML's core schema
		case "true", "True", "TRUE":
			v.SetBool(true)
		case "false", "False", "FALSE":
		default:
			err = strconv.ErrSyntax
		}
	case reflect.Int, reflect.Int64:
		var n int64
		n, err = strconv.ParseInt(text, 10, t.Bits())
		v.SetInt(n)
	case reflect.Uint64:
		var n uint64
		n, err = strconv.ParseUint(text, 10, 64)
		v.SetUint(n)
	case reflect.Float64:
		var x float64
		x, err = strconv.ParseFloat(text, 64)
		if math.IsNaN(x) || math.IsInf(x, 0) && err == nil || strings.ContainsAny(text, "xX_") {
			err = strconv.ErrSyntax
		}
		v.SetFloat(x)
	case reflect.String:
		v.SetString(text)
	}
	switch {
	case errors.Is(err, strconv.ErrRange):
		return v, errors.New("want " + wanted(t) + " nearer to zero")
	case err != nil:
		return v, errors.New("want " + wanted(t))
	}
	return v, nil
}

// parseAll reads a value as the command line gives it: a list of all texts, any other value of the last one. Numbers of
// a list, and words, may be split by commas; other texts may hold commas. Wrong is the text that the error is about.
func parseAll(texts []string, t reflect.Type, words bool) (v reflect.Value, wrong string, err error) {
	if t.Kind() != reflect.Slice {
		last := texts[len(texts)-1]
		v, err = parse(last, t)
		return v, last, err
	}
	list := reflect.Zero(t)
	for _, text := range texts {
		parts := []string{text}
		if t.Elem().Kind() != reflect.String || words {
			parts = strings.Split(text, ",")
		}
		for _, part := range parts {
			v, err := parse(part, t.Elem())
			if err != nil {
				return list, part, err
			}
			list = reflect.Append(list, v)
		}
	}
	return list, "", nil
}

// format is the inverse of parse, with commas between the values of a list.
func format(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10)
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.String:
		return v.String()
	}
	parts := make([]string, v.Len())
	for i := range parts {
		parts[i] = format(v.Index(i))
	}
	return strings.Join(parts, ",")
}
