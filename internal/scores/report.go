package scores

import (
	"konkanitrain/data/text"
	"konkanitrain/internal/philox"
)

// Options say what a Report has.
type Options struct {
	By    []string // keys to group by: ByLength, BySpeaker, or others whose values Add is given
	Worst int      // how many of the worst utterances are listed
	Sampling
}

// listed is how many confusions of a kind a report lists.
const listed = 100

// Report is what a model has made of a set, seen as a whole and in parts.
type Report struct {
	Level      float64       `json:"confidence_level"`
	Sampling   Sampling      `json:"bootstrap"`           // by utterance
	Intervals  *Intervals    `json:"intervals,omitempty"` // of the rates; nil of fewer than two utterances
	Rates      Histograms    `json:"histogram"`           // of the utterances' error rates: see Histogram
	Clusters   text.Counts   `json:"clusters"`            // errors of grapheme clusters
	Confusions ConfusionSets `json:"confusions"`
	By         []Breakdown   `json:"by"`
	Worst      []Utterance   `json:"worst"`

	all []scored // utterances, in their order
}

// scored is an utterance that was scored, in few bytes.
type scored struct {
	id, ref uint64 // philox.ID of its id and of its reference
	outcome
}

// ConfusionSets are the commonest confusions, 100 of a kind at most; of how many kinds each is one.
type ConfusionSets struct {
	Words       []Confusion `json:"words"`
	Clusters    []Confusion `json:"clusters"`
	AllWords    int         `json:"all_words"`    // different ones
	AllClusters int         `json:"all_clusters"` // different ones
	Uncounted   int         `json:"uncounted"`    // errors of kinds that came when a million others were known
}

// Collector makes a Report while a set is scored.
type Collector struct {
	o         Options
	worst     *Worst
	words     Confusions
	clusters  Confusions
	groupings []*grouping
	report    Report
}

// NewCollector makes a report with these options.
func NewCollector(o Options) *Collector {
	c := &Collector{o: o, worst: NewWorst(o.Worst)}
	c.report.Level, c.report.Sampling = Level, o.Sampling
	for _, key := range o.By {
		c.groupings = append(c.groupings, newGrouping(key))
	}
	return c
}

// Add shows it the next utterance, and the values of the keys in Options.By; those of ByLength and BySpeaker are of no
// matter.
func (c *Collector) Add(u Utterance, values []string) {
	c.report.Rates.Add(&u)
	c.words.Add(AlignWords(u.Reference, u.Hypothesis))
	c.clusters.Add(AlignClusters(u.Reference, u.Hypothesis))
	c.worst.Add(u)
	for i, g := range c.groupings {
		value := ""
		if i < len(values) {
			value = values[i]
		}
		g.add(len(c.report.all), &u, value)
	}
	c.report.all = append(c.report.all, scored{philox.ID(u.ID), philox.ID(u.Reference), outcomeOf(&u)})
}

// Report is what the set has come to.
func (c *Collector) Report() *Report {
	r := c.report
	outcomes := make([]outcome, len(r.all))
	for i, x := range r.all {
		outcomes[i] = x.outcome
	}
	r.Intervals = c.o.intervals(outcomes)
	r.Clusters = c.clusters.edits
	r.Confusions = ConfusionSets{c.words.Common(listed), c.clusters.Common(listed), len(c.words.counts), len(c.clusters.counts), c.words.uncounted + c.clusters.uncounted}
	r.Worst, r.By = c.worst.List(), []Breakdown{}
	for _, g := range c.groupings {
		r.By = append(r.By, g.breakdown(c.o.Sampling, r.all))
	}
	return &r
}

// Against compares a model with another, of which this is the report on the same set.
func (r *Report) Against(other *Report) *Comparison {
	c := &Comparison{}
	places := map[uint64]int{}
	for i, x := range other.all {
		places[x.id] = i
	}
	var this, that []outcome
	for _, x := range r.all {
		i, both := places[x.id]
		if !both {
			c.OnlyThis++
			continue
		}
		if x.ref != other.all[i].ref {
			c.Unlike++
		}
		this, that = append(this, x.outcome), append(that, other.all[i].outcome)
	}
	c.OnlyOther = len(other.all) - len(this)
	r.Sampling.compare(this, that, c)
	return c
}
