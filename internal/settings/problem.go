package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Problem is what is wrong with a setting, or with several that don't go together.
type Problem struct {
	Keys []string // of these settings, the one to look at first at the front
	Err  error
}

// Error is the problem in words.
func (p *Problem) Error() string { return p.Err.Error() }

// Unwrap is the error in words, and what it wraps.
func (p *Problem) Unwrap() error { return p.Err }

// Settings are the keys. A package below the settings that checks values of its own says with a method like this one
// which they are; it needs no import.
func (p *Problem) Settings() []string { return p.Keys }

// Problemf is a problem with the settings of these keys, which stand with spaces between; format is for [fmt.Errorf].
func Problemf(keys, format string, args ...any) error {
	return &Problem{strings.Fields(keys), fmt.Errorf(format, args...)}
}

// About is err, where each problem that doesn't say so itself is one with the settings of these keys. nil gives nil.
func About(keys string, err error) error {
	var problems []error
	for _, e := range Flatten(err) {
		if keysOf(e) == nil {
			e = &Problem{strings.Fields(keys), e}
		}
		problems = append(problems, e)
	}
	return errors.Join(problems...)
}

// keysOf are the settings that an error is about; none for one that doesn't say.
func keysOf(err error) []string {
	var about interface{ Settings() []string }
	if errors.As(err, &about) {
		return about.Settings()
	}
	return nil
}

// Problems collects what is wrong with the settings of a set: first those that are wrong by themselves, then those
// that break a rule.
type Problems struct {
	set   *Set
	wrong map[string]bool // keys of the settings that are wrong by themselves
	all   []error
}

// Check holds every setting to its own check.
func (s *Set) Check() *Problems {
	p := &Problems{set: s, wrong: map[string]bool{}}
	for _, x := range s.All {
		if err := x.problem(x.field); err != nil {
			p.wrong[x.Key] = true
			p.all = append(p.all, err)
		}
	}
	return p
}

// Require adds a problem with the settings of these keys, which stand with spaces between, unless ok holds or one of
// them is wrong by itself.
func (p *Problems) Require(ok bool, keys, format string, args ...any) {
	for _, key := range strings.Fields(keys) {
		if p.set.Lookup(key) == nil {
			p.all = append(p.all, fmt.Errorf("settings: a rule is about %s, and there is no such setting", key))
		}
	}
	if !ok {
		p.Add(Problemf(keys, format, args...))
	}
}

// Add adds each problem of err, which may be nil; those with a setting that is wrong by itself are left out. [About]
// says of an error which settings it is about.
func (p *Problems) Add(err error) {
	for _, e := range Flatten(err) {
		if !slices.ContainsFunc(keysOf(e), func(key string) bool { return p.wrong[key] }) {
			p.all = append(p.all, e)
		}
	}
}

// Err is all problems in one error; nil if there are none.
func (p *Problems) Err() error { return errors.Join(p.all...) }

// Locate puts the place in a file before each problem with a setting that the file gave: "batch_size is 0" becomes
// "x.yaml:3: batch_size is 0". A problem with a setting that a flag gave, be it one of several, has its place on the
// command line, and none in a file, which may be a checkpoint's. A nil error gives nil.
func (s *Set) Locate(err error) error {
	var located []error
	for _, problem := range Flatten(err) {
		if place := s.placeOf(keysOf(problem)); place != "" {
			problem = fmt.Errorf("%s: %w", place, problem)
		}
		located = append(located, problem)
	}
	return errors.Join(located...)
}

// placeOf is where a file gave the first of some settings that a file gave; "" where a flag gave one of them.
func (s *Set) placeOf(keys []string) (place string) {
	for _, key := range keys {
		switch x := s.Lookup(key); {
		case x != nil && x.flag:
			return ""
		case x != nil && place == "":
			place = x.Where()
		}
	}
	return place
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
