package scores

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/data/text"
	"konkanitrain/internal/testkit"
)

// spoken is an utterance with the counts of its two texts.
func spoken(id, ref, hyp string) Utterance {
	var s text.Score
	s.Add(ref, hyp)
	return Utterance{ID: id, Reference: ref, Hypothesis: hyp, Words: s.Words, Chars: s.Chars}
}

// Of 4100 pairs of a recognizer of Konkani, confusions, groups and alignments add up to the known totals.
func TestSharedPairs(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "data", "asr_scores")
	read := func(name string, comma rune) [][]string {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r := csv.NewReader(f)
		r.Comma, r.LazyQuotes = comma, comma == '\t'
		rows, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows[1:]
	}
	pairs, counts := read("pairs.csv", ','), read("per_pair.tsv", '\t')
	c := NewCollector(Options{By: []string{ByLength, "part"}, Worst: 3, Sampling: Sampling{200, 1}})
	exact := 0
	for i, row := range pairs {
		u := spoken(row[0], row[1], row[2])
		got := []string{u.ID, strconv.Itoa(u.Words.Errors()), strconv.Itoa(u.Words.Ref), strconv.Itoa(u.Chars.Errors()), strconv.Itoa(u.Chars.Ref)}
		if !slices.Equal(got, counts[i]) {
			t.Errorf("%v, want %v", got, counts[i])
		}
		var one Confusions
		if one.Add(AlignWords(row[1], row[2])); one.edits != u.Words {
			t.Errorf("%s: %v, want %v", row[0], one.edits, u.Words)
		}
		if u.Words.Errors()+u.Chars.Errors() == 0 {
			exact++
		}
		c.Add(u, []string{"", strconv.Itoa(i % 3)})
	}
	r := c.Report()
	if c.words.edits.Errors() != 10538 || c.words.edits.Ref != 47277 || exact != 986 || r.Rates.Chars[0] != 986 {
		t.Errorf("%v, %d without an error, %v", c.words.edits, exact, r.Rates)
	}
	sum := 0
	for _, n := range c.words.counts {
		sum += n
	}
	if sum != 10538 || len(r.Confusions.Words) != listed || r.Confusions.AllWords != len(c.words.counts) {
		t.Errorf("%d confusions of words", sum)
	}
	for _, b := range r.By {
		var w, ch text.Counts
		for _, g := range b.Groups {
			w.Add(g.Words)
			ch.Add(g.Chars)
		}
		if w.Errors() != 10538 || ch.Errors() != 17246 || ch.Ref != 309163 {
			t.Errorf("by %s: %v, %v", b.Key, w, ch)
		}
	}
	if len(r.By) != 2 || len(r.By[1].Groups) != 3 || r.Intervals.WER.Low > 0.222899 || r.Intervals.WER.High < 0.222899 {
		t.Errorf("%+v", r.Intervals)
	}
	if r.Clusters.Ref >= 309163 || r.Clusters.Errors() == 0 {
		t.Errorf("clusters: %v", r.Clusters)
	}
}

func TestCommonConfusions(t *testing.T) {
	var c Confusions
	for range 2 {
		c.Add([]Pair{{"b", "x"}, {"a", ""}, {"k", "k"}})
	}
	c.Add([]Pair{{"", "y"}, {"a", "x"}})
	want := []Confusion{{Pair{"a", ""}, 2}, {Pair{"b", "x"}, 2}, {Pair{"", "y"}, 1}, {Pair{"a", "x"}, 1}}
	if got := c.Common(9); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := c.Common(1); !slices.Equal(got, want[:1]) {
		t.Errorf("%v", got)
	}
	few := Confusions{most: 1}
	few.Add([]Pair{{"a", "b"}, {"a", "c"}, {"a", "b"}, {"k", "k"}})
	if got := few.Common(9); !slices.Equal(got, []Confusion{{Pair{"a", "b"}, 2}}) || few.uncounted != 1 || few.edits.Sub != 3 {
		t.Errorf("%v, %d uncounted", got, few.uncounted)
	}
	if got := new(Confusions).Common(3); got == nil || len(got) != 0 {
		t.Errorf("%v", got)
	}
	if c.edits != (text.Counts{Sub: 3, Del: 2, Ins: 1, Ref: 7}) {
		t.Errorf("%+v", c.edits)
	}
}

// valuesOf are those of a breakdown's groups, with the number of utterances.
func valuesOf(b Breakdown) (list []string) {
	for _, g := range b.Groups {
		list = append(list, fmt.Sprintf("%s: %d", g.Value, g.Utterances))
	}
	return list
}

// Groups have an order, and many numbers are put together to quarters of the utterances.
func TestGroups(t *testing.T) {
	add := func(key string, values ...string) []string {
		c := NewCollector(Options{By: []string{key}})
		for i, v := range values {
			u := spoken(fmt.Sprint(i), "a b", "a")
			u.Speaker = v
			u.Seconds, _ = strconv.ParseFloat(v, 64)
			c.Add(u, []string{v})
		}
		r := c.Report()
		for _, g := range r.By[0].Groups {
			if g.WER != 0.5 || g.CER != 2./3 || g.Words.Ref != 2*g.Utterances || g.Intervals != nil {
				t.Errorf("%+v", g)
			}
		}
		return valuesOf(r.By[0])
	}
	check := func(got []string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	check(add(ByLength, "31", "0.5", "1", "1.5", "30", "0.2"), "up to 1 s: 3", "1 to 2 s: 1", "15 to 30 s: 1", "over 30 s: 1")
	check(add(BySpeaker, "ann", "", "bob", "ann"), "ann: 2", "bob: 1", ": 1")
	check(add("snr", "9", "10", "-3", "x", "9a", "9"), "-3: 1", "9: 2", "10: 1", "9a: 1", "x: 1")
	var many []string
	for i := range 40 {
		many = append(many, strconv.Itoa(i%20))
	}
	check(add("age", many...), "0 to 4: 10", "5 to 9: 10", "10 to 14: 10", "15 to 19: 10")
	check(add("age", append(many, "")...), "0 to 4: 10", "5 to 9: 10", "10 to 14: 10", "15 to 19: 10", ": 1")
	if got := add("age", append(many, "old")...); len(got) != 21 {
		t.Errorf("%v", got)
	}
}

// random is outcomes of utterances of which each word is wrong with this probability.
func random(rng *rand.Rand, n int, p float64) (list []outcome) {
	for range n {
		words := 3 + rng.Intn(8)
		errors := 0
		for range words {
			if rng.Float64() < p {
				errors++
			}
		}
		list = append(list, outcome{small{int32(errors), int32(words)}, small{int32(2 * errors), int32(6 * words)}})
	}
	return list
}

// Of many sets of a known error rate the interval has that rate in it for about 95 of 100. Of 400 sets the number
// that miss is binomial around 20 with a deviation of 4.4, and percentiles of few utterances are known to be a
// little too narrow: 8 to 40 are allowed.
func TestIntervalsCover(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	missed := 0
	for k := range 400 {
		i := Sampling{400, uint64(k)}.intervals(random(rng, 60, 0.2))
		if i.WER.Low > 0.2 || i.WER.High < 0.2 {
			missed++
		}
		if !(i.WER.Low < i.WER.High && i.WER.High-i.WER.Low < 0.15) {
			t.Fatalf("%+v", i)
		}
	}
	if missed < 8 || missed > 40 {
		t.Errorf("%d of 400 intervals miss the rate", missed)
	}
}

// The width is that of the normal distribution of a ratio: sums of 3000 independent words. The estimate of a percentile
// from 4000 resamples is off by some 3 % of the half width.
func TestIntervalsOfManyUtterances(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	list := random(rng, 500, 0.3)
	var sum tally
	for _, o := range list {
		sum.add(o.words.tally())
	}
	var square float64
	for _, o := range list {
		d := float64(o.words.errors) - sum.rate()*float64(o.words.ref)
		square += d * d
	}
	half := 1.96 * math.Sqrt(square) / float64(sum.ref)
	i := Sampling{4000, 1}.intervals(list)
	if math.Abs(i.WER.High-sum.rate()-half) > 0.1*half || math.Abs(sum.rate()-i.WER.Low-half) > 0.1*half {
		t.Errorf("%+v around %v, want %v on each side", i.WER, sum.rate(), half)
	}
	if again := (Sampling{4000, 1}).intervals(list); *again != *i {
		t.Error("the same seed gives another interval")
	}
	if other := (Sampling{4000, 2}).intervals(list); *other == *i {
		t.Error("another seed gives the same interval")
	}
}

// p is near that of trying all ways to change sides; an estimate from 20000 trials is off by less than 4 deviations,
// 4 * sqrt(p(1-p)/20000) <= 0.0142.
func TestMatchedPairsTest(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	for trial := range 6 {
		this, other := random(rng, 10, 0.15+0.02*float64(trial)), random(rng, 10, 0.3)
		for i := range other {
			other[i].words.ref, other[i].chars.ref = this[i].words.ref, this[i].chars.ref
			other[i].words.errors = min(other[i].words.errors, this[i].words.ref)
		}
		seen, all := 0, 0
		for i := range this {
			seen += int(this[i].words.errors - other[i].words.errors)
		}
		for coins := range 1 << len(this) {
			d := 0
			for i := range this {
				if x := int(this[i].words.errors - other[i].words.errors); coins>>i&1 == 1 {
					d -= x
				} else {
					d += x
				}
			}
			if max(d, -d) >= max(seen, -seen) {
				all++
			}
		}
		want := float64(all) / math.Exp2(float64(len(this)))
		var c Comparison
		Sampling{20000, 5}.compare(this, other, &c)
		if math.Abs(c.Words.P-want) > 0.0142 {
			t.Errorf("p %v, by all ways %v", c.Words.P, want)
		}
		if (c.Words.Difference < 0) != (seen < 0) || c.Words.Interval.Low > c.Words.Difference || c.Words.Interval.High < c.Words.Difference {
			t.Errorf("%+v of a sum of %d", c.Words, seen)
		}
	}
}

// A model is as good as itself; one that is clearly better is found so, and the comparison turned around is its mirror.
func TestAgainst(t *testing.T) {
	a, b := NewCollector(Options{Sampling: Sampling{1000, 1}}), NewCollector(Options{Sampling: Sampling{1000, 1}})
	for i := range 30 {
		id := fmt.Sprint(i)
		a.Add(spoken(id, "एक दोन तीन", []string{"एक दोन तीन", "एक दोन"}[i%2]), nil)
		b.Add(spoken(id, "एक दोन तीन", []string{"एक", "दोन"}[i%2]), nil)
	}
	a.Add(spoken("here", "x", "x"), nil)
	b.Add(spoken("there", "y", "x"), nil)
	b.Add(spoken("there too", "y", "x"), nil)
	a.Add(spoken("marks", "x!", "x!"), nil)
	b.Add(spoken("marks", "x", "x"), nil)
	ra, rb := a.Report(), b.Report()
	c := ra.Against(rb)
	if c.Utterances != 31 || c.OnlyThis != 1 || c.OnlyOther != 2 || c.Unlike != 1 || c.Words.Fewer != 30 || c.Words.More != 0 {
		t.Errorf("%+v", c)
	}
	if w := c.Words; !(w.Difference < -0.4 && w.Interval.High < 0 && w.Better == 1 && w.P < 0.002) {
		t.Errorf("%+v", w)
	}
	d := rb.Against(ra)
	if d.Words.Difference != -c.Words.Difference || d.Words.P != c.Words.P || d.Words.Interval.Low != -c.Words.Interval.High || d.Words.More != 30 || d.This != c.Other {
		t.Errorf("turned around %+v, want the mirror of %+v", d, c)
	}
	same := ra.Against(ra)
	if same.Words.Difference != 0 || same.Words.P != 1 || same.Chars.P != 1 || same.Words.Better != 0 || *same.Words.Interval != (Interval{}) {
		t.Errorf("%+v", same)
	}
	none := NewCollector(Options{Sampling: Sampling{1000, 1}}).Report()
	if c := none.Against(ra); c.Utterances != 0 || c.OnlyOther != 32 || c.Words.P != 1 || c.Words.Interval != nil {
		t.Errorf("%+v", c)
	}
}
