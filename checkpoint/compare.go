package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Difference is a setting that a checkpoint and the present run don't share.
type Difference struct {
	Key     string // with dots between the levels, as in model.d_model
	Saved   string // as JSON; "not set" if the checkpoint doesn't have it
	Current string
}

// SettingsError lists every setting that differs.
type SettingsError struct {
	Differences []Difference
}

// Error lists the settings that differ, with both values.
func (e *SettingsError) Error() string {
	var b strings.Builder
	b.WriteString("the settings differ (checkpoint / now):")
	for _, d := range e.Differences {
		fmt.Fprintf(&b, "\n  %s: %s / %s", d.Key, d.Saved, d.Current)
	}
	return b.String()
}

// Compare holds the settings that a checkpoint was made with against the present ones. Both may be anything that
// encoding/json can write: maps, structs, raw JSON. It returns nil if they are equal, and otherwise a *SettingsError
// that names each key that differs, sorted, with both values. A list counts as one key: a long one is described by its
// length, or by the first place where the two differ.
func Compare(saved, current any) error {
	a, err := plain(saved)
	if err != nil {
		return fmt.Errorf("the checkpoint's settings: %w", err)
	}
	b, err := plain(current)
	if err != nil {
		return fmt.Errorf("the present settings: %w", err)
	}
	e := &SettingsError{}
	e.compare("", a, b)
	if len(e.Differences) > 0 {
		return e
	}
	return nil
}

// unset stands for a key that one side lacks.
type unset struct{}

func (e *SettingsError) compare(key string, a, b any) {
	am, aok := a.(map[string]any)
	bm, bok := b.(map[string]any)
	if (aok && (bok || b == unset{})) || (bok && a == unset{}) {
		for _, k := range slices.Sorted(maps.Keys(union(am, bm))) {
			full := k
			if key != "" {
				full = key + "." + k
			}
			e.compare(full, member(am, k), member(bm, k))
		}
		return
	}
	if equal(a, b) {
		return
	}
	d := Difference{Key: key, Saved: show(a), Current: show(b)}
	if key == "" {
		d.Key = "settings"
	}
	al, aok := a.([]any)
	bl, bok := b.([]any)
	if aok && bok && len(d.Saved)+len(d.Current) > 2*maxShown {
		d.Saved, d.Current = showLists(al, bl)
	} else {
		d.Saved, d.Current = shorten(d.Saved), shorten(d.Current)
	}
	e.Differences = append(e.Differences, d)
}

func union(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, b)
	return all
}

func member(m map[string]any, k string) any {
	if v, ok := m[k]; ok {
		return v
	}
	return unset{}
}

// equal compares two JSON values; numbers by their value, whatever their spelling.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case json.Number:
		b, ok := b.(json.Number)
		return ok && equalNumbers(string(a), string(b))
	}
	return a == b
}

func equalNumbers(a, b string) bool {
	if a == b {
		return true
	}
	_, aErr := strconv.ParseInt(a, 10, 64)
	_, bErr := strconv.ParseInt(b, 10, 64)
	if aErr == nil && bErr == nil {
		return false // two whole numbers, beyond what a float64 tells apart perhaps
	}
	x, aErr := strconv.ParseFloat(a, 64)
	y, bErr := strconv.ParseFloat(b, 64)
	return aErr == nil && bErr == nil && x == y
}

// maxShown is how much of a value a message shows, in bytes, before it is cut.
const maxShown = 80

func show(v any) string {
	if (v == unset{}) {
		return "not set"
	}
	text, _ := marshal(v) // it was read from JSON, so it can be written
	return string(bytes.TrimSpace(text))
}

func shorten(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "..."
}

// showLists describes two long lists by what tells them apart.
func showLists(a, b []any) (string, string) {
	if len(a) != len(b) {
		return fmt.Sprintf("%d entries", len(a)), fmt.Sprintf("%d entries", len(b))
	}
	first, count := -1, 0
	for i := range a {
		if !equal(a[i], b[i]) {
			if first < 0 {
				first = i
			}
			count++
		}
	}
	return fmt.Sprintf("entry %d is %s", first, shorten(show(a[first]))),
		fmt.Sprintf("%s (%d of %d entries differ)", shorten(show(b[first])), count, len(a))
}

// plain turns a value into what encoding/json reads of it: maps, lists, strings, numbers as they are spelled.
func plain(v any) (any, error) {
	text, err := marshal(v)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var out any
	_ = dec.Decode(&out) // one value that marshal has written
	return out, nil
}
