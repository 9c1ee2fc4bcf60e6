package data

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"konkanitrain/internal/words"
)

// Manifest is a manifest and how often an epoch has its utterances: 1 once each, 2 twice, 0.25 a quarter of them, which
// are others in each epoch.
type Manifest struct {
	Path   string
	Weight float64
}

// String is PATH:WEIGHT, without a weight of 1.
func (m Manifest) String() string {
	if m.Weight == 1 {
		return m.Path
	}
	return m.Path + ":" + strconv.FormatFloat(m.Weight, 'g', -1, 64)
}

// MostWeight is the largest weight of a manifest.
const MostWeight = 1000

// ParseManifests reads manifests that are written as PATH or PATH:WEIGHT; empty ones are left out. What exists under
// the whole name is a path.
func ParseManifests(list []string) ([]Manifest, error) {
	var out []Manifest
	for _, s := range list {
		if s == "" {
			continue
		}
		m := Manifest{s, 1}
		if i := strings.LastIndexByte(s, ':'); i > 0 {
			if w, err := strconv.ParseFloat(s[i+1:], 64); err == nil && !exists(s) {
				if m = (Manifest{s[:i], w}); !(w > 0 && w <= MostWeight) {
					return nil, fmt.Errorf("%s has the weight %s: give a number above 0, %d at most: 2 for twice in an epoch, 0.5 for half of it",
						m.Path, s[i+1:], MostWeight)
				}
			}
		}
		for _, other := range out {
			if other.Path == m.Path {
				return nil, fmt.Errorf("%s is listed twice: give it a weight, as %s:2", m.Path, m.Path)
			}
		}
		out = append(out, m)
	}
	return out, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// LoadAll loads several manifests as one Set, each as [Load] does. An identity that an earlier manifest has as well
// gets the manifest's name before it, which is said.
func LoadAll(ctx context.Context, manifests []Manifest, o Options) (*Set, error) {
	if len(manifests) == 0 {
		return nil, errors.New("no manifest is given")
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	r := &rows{letters: new(letters)}
	s := &Set{SampleRate: o.SampleRate, options: o, rows: r}
	var reports []*Report
	var intakes []*intake
	for k, m := range manifests {
		in := newIntake(ctx, m.Path, o, r)
		in.prefix = prefixOf(manifests, k)
		if err := in.load(); err != nil {
			return nil, err
		}
		reports, intakes = append(reports, in.report), append(intakes, in)
		if len(manifests) > 1 {
			for len(r.lists) < len(r.places) {
				r.lists = append(r.lists, uint16(k))
			}
		}
		s.weights = append(s.weights, m.Weight)
	}
	r.settle()
	if err := haveValues(intakes, o.Keys); err != nil {
		return nil, err
	}
	s.Path, s.Report = reports[0].Path, reports[0]
	if len(reports) > 1 {
		s.join(manifests, reports)
	}
	s.count(s.Report, nil)
	most := slices.Max(s.weights)
	if n := math.Ceil(most) * float64(s.Len()); n > math.MaxInt32 {
		return nil, fmt.Errorf("%d utterances with a weight of %g are too many for an epoch; give smaller weights", s.Len(), most)
	}
	return s, nil
}

// prefixOf is what stands before identities of manifest k that an earlier one has too: the name of the file or folder
// without its extension, where no other manifest has it, else its path.
func prefixOf(manifests []Manifest, k int) string {
	name := func(m Manifest) string {
		base := filepath.Base(m.Path)
		return strings.TrimSuffix(base, filepath.Ext(base))
	}
	for i, other := range manifests {
		if i != k && name(other) == name(manifests[k]) {
			return manifests[k].Path + ":"
		}
	}
	return name(manifests[k]) + ":"
}

// join makes one report of those of several manifests.
func (s *Set) join(manifests []Manifest, reports []*Report) {
	names := make([]string, len(manifests))
	all := &Report{}
	for i, r := range reports {
		names[i] = manifests[i].String()
		all.Lines += r.Lines
		for _, n := range r.Notes {
			all.Add(n)
		}
		for sort, t := range r.tallies {
			all.more(sort.kind, sort.skipped, t.more)
		}
		all.Warnings = append(all.Warnings, r.Warnings...)
	}
	s.Path = strings.Join(names, ", ")
	all.Path, s.Report = s.Path, all
	if n := s.occurrences(); n != s.Len() {
		all.Warnings = append(all.Warnings, fmt.Sprintf("an epoch has %s of these by their weights", words.Count(n, "utterance")))
	}
}

// occurrences is how many utterances an epoch has.
func (s *Set) occurrences() int {
	shares := s.shares()
	if shares == nil {
		return s.Len()
	}
	sum := 0
	for _, x := range shares {
		sum += x.whole*len(x.members) + x.drawn()
	}
	return sum
}

// shares are the utterances of each manifest with its weight; nil where an epoch has each once.
func (s *Set) shares() []share {
	if !s.Weighted() {
		return nil
	}
	shares := make([]share, len(s.weights))
	for k, w := range s.weights {
		shares[k].whole = int(w)
		shares[k].part = w - math.Trunc(w)
	}
	for i := range s.Len() {
		k := s.source(i)
		shares[k].members = append(shares[k].members, int32(i))
	}
	return shares
}

// Weighted says whether an epoch has utterances more or less often than once.
func (s *Set) Weighted() bool {
	return slices.ContainsFunc(s.weights, func(w float64) bool { return w != 1 })
}

// Weight is how often an epoch has utterance i.
func (s *Set) Weight(i int) float64 {
	if len(s.weights) == 0 {
		return 1
	}
	return s.weights[s.source(i)]
}

// source is the manifest of utterance i.
func (s *Set) source(i int) int {
	if s.rows == nil || s.rows.lists == nil {
		return 0
	}
	return int(s.rows.lists[i])
}
