package scores

import "konkanitrain/data/text"

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

	outcomes map[string]outcome
	refs     map[string]string
	ids      []string // in their order
}

// ConfusionSets are the commonest confusions, 100 of a kind at most; of how many kinds each is one.
type ConfusionSets struct {
	Words       []Confusion `json:"words"`
	Clusters    []Confusion `json:"clusters"`
	AllWords    int         `json:"all_words"`    // different ones
	AllClusters int         `json:"all_clusters"` // different ones
}

// Collector makes a Report while a set is scored.
type Collector struct {
	o         Options
	worst     *Worst
	words     Confusions
	clusters  Confusions
	groupings []*grouping
	report    Report
	all       []outcome
}

// NewCollector makes a report with these options.
func NewCollector(o Options) *Collector {
	c := &Collector{o: o, worst: NewWorst(o.Worst)}
	c.report.Level, c.report.Sampling = Level, o.Sampling
	c.report.outcomes, c.report.refs = map[string]outcome{}, map[string]string{}
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
		g.add(&u, value)
	}
	one := outcomeOf(&u)
	c.all = append(c.all, one)
	c.report.ids = append(c.report.ids, u.ID)
	c.report.outcomes[u.ID], c.report.refs[u.ID] = one, u.Reference
}

// Report is what the set has come to.
func (c *Collector) Report() *Report {
	r := c.report
	r.Intervals = c.o.intervals(c.all)
	r.Clusters = c.clusters.edits
	r.Confusions = ConfusionSets{c.words.Common(listed), c.clusters.Common(listed), len(c.words.counts), len(c.clusters.counts)}
	r.Worst, r.By = c.worst.List(), []Breakdown{}
	for _, g := range c.groupings {
		r.By = append(r.By, g.breakdown(c.o.Sampling))
	}
	return &r
}

// Against compares a model with another, of which this is the report on the same set.
func (r *Report) Against(other *Report) *Comparison {
	c := &Comparison{}
	var this, that []outcome
	for _, id := range r.ids {
		o, both := other.outcomes[id]
		if !both {
			c.OnlyThis++
			continue
		}
		if r.refs[id] != other.refs[id] {
			c.Unlike++
		}
		this, that = append(this, r.outcomes[id]), append(that, o)
	}
	c.OnlyOther = len(other.ids) - len(this)
	r.Sampling.compare(this, that, c)
	return c
}
