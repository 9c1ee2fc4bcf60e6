package data

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"

	"konkanitrain/data/text"
)

// Options say what of a manifest is used. The zero value uses all of it, at 16 kHz.
type Options struct {
	SampleRate int // Hz, of the features; 0 means 16000
	Text       text.Policy
	PathMap    []Mapping // the first that fits a path is applied

	MinDuration   float64 // seconds; shorter utterances are left out
	MaxDuration   float64 // seconds; longer ones are left out; 0 means no limit
	MaxTextLength int     // characters after normalization; longer ones are left out; 0 means no limit
	KeepEmpty     bool    // use texts in which nothing is said too; a text that is missing, or null, is left out in any case

	// SoundOnly asks for no text: texts that there are, or aren't, are of no matter, and a folder of sound files is a
	// manifest too.
	SoundOnly bool

	// Keys are keys of JSON lines, or columns of tables, whose values utterances have as Values: texts, numbers and
	// booleans. One that no line has a value for is an error.
	Keys []string

	// SkipBadLines leaves lines out that can't be parsed. Without it the first such line is an error.
	SkipBadLines bool
	// BadLimit is the share of bad lines, 0 to 1, above which Load is an error: lines that can't be parsed, or
	// whose audio is missing or can't be read. 0 means 5 %, with ten bad lines allowed in any case, as in a
	// list of twenty one would already be too many.
	BadLimit float64

	// Index is a folder where is kept what was found out of archives and of compressed sound, so that it is found out
	// once; "" keeps it nowhere.
	Index string

	Workers int // goroutines that read audio headers; 0 means GOMAXPROCS
}

const (
	defaultBadLimit = 0.05
	alwaysAllowed   = 10 // bad lines, under the default limit
)

// Validate names every value that makes no sense.
func (o Options) Validate() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.SampleRate < 0 || o.SampleRate > 0 && o.SampleRate < 1000 {
		complain("sample_rate %d Hz: give 1000 or more, usually 16000", o.SampleRate)
	}
	if !(o.MinDuration >= 0) || !(o.MaxDuration >= 0) {
		complain("min_duration %v and max_duration %v: give seconds, 0 for no limit", o.MinDuration, o.MaxDuration)
	} else if o.MaxDuration > 0 && o.MinDuration > o.MaxDuration {
		complain("min_duration %v s is above max_duration %v s: nothing would be left", o.MinDuration, o.MaxDuration)
	}
	if o.MaxTextLength < 0 {
		complain("max_text_length %d: give a number of characters, 0 for no limit", o.MaxTextLength)
	}
	if !(o.BadLimit >= 0 && o.BadLimit <= 1) {
		complain("bad_line_limit %v: give a share from 0 to 1, such as 0.05 for 5 %%", o.BadLimit)
	}
	errs = append(errs, checkPathMap(o.PathMap)...)
	return errors.Join(errs...)
}

func (o Options) withDefaults() Options {
	if o.SampleRate == 0 {
		o.SampleRate = 16000
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return o
}

// tooManyBad says whether bad of lines are over the limit, and words the limit.
func (o Options) tooManyBad(bad, lines int) (string, bool) {
	limit := o.BadLimit
	if limit == 0 {
		if bad <= alwaysAllowed {
			return "", false
		}
		limit = defaultBadLimit
	}
	return fmt.Sprintf("%.4g %%", 100*limit), float64(bad) > math.Nextafter(limit*float64(lines), math.Inf(1))
}

// Mapping replaces the start From of an audio path by To, where a manifest was written on another computer.
// From ends at a / or at the end of the path: /data fits /data/a.wav and not /database/a.wav. A relative To is
// relative to the manifest.
type Mapping struct {
	From string
	To   string
}

// ParsePathMap reads mappings that are written as from=to. The error names each that isn't, and each that Options
// would refuse.
func ParsePathMap(list []string) ([]Mapping, error) {
	var mappings []Mapping
	var problems []error
	for _, s := range list {
		from, to, ok := strings.Cut(s, "=")
		if !ok || from == "" {
			problems = append(problems, fmt.Errorf("path_map %q: write from=to, the start of the paths in the manifest "+
				"and what to put in its place, such as --path_map /home/ann/clips=clips", s))
			continue
		}
		mappings = append(mappings, Mapping{from, to})
	}
	return mappings, errors.Join(append(problems, checkPathMap(mappings)...)...)
}

// checkPathMap names mappings that can't be meant.
func checkPathMap(maps []Mapping) []error {
	var problems []error
	complain := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	before := map[string]Mapping{}
	for _, m := range maps {
		if m.From == "" {
			complain("path_map =%s: the part before = is empty; give the start of the paths as they are written in the manifest", m.To)
			continue
		}
		if first, twice := before[m.from()]; twice {
			complain("path_map has %s twice, for %s and for %s; leave one out", first.From, first.To, m.To)
		} else {
			before[m.from()] = m
		}
		if hint := pathHint(m.To); hint != "" {
			complain("path_map %s=%s%s", m.From, m.To, hint)
		}
	}
	return problems
}
