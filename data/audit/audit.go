package audit

import (
	"context"
	"fmt"
	"hash/maphash"
	"runtime"
	"slices"
	"unicode/utf8"

	"konkanitrain/data"
)

// Part is a set and what it is for.
type Part struct {
	Set  *data.Set
	Role Role
}

// Options say how an audit is made. The zero value reads all sound on all cores.
type Options struct {
	Workers   int                   // goroutines that read sound; 0 means GOMAXPROCS
	SkipSound bool                  // look at texts and headers only
	Progress  func(done, total int) // called with the number of sounds read, from several goroutines; nil: nobody
}

// Run looks at sets. Sound that can't be read is a finding and no error. Where the context ends first, the error is its
// cause.
func Run(ctx context.Context, sets []Part, o Options) (*Report, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	a := &audit{sets: sets, options: o, report: &Report{Notes: []string{}}, seed: maphash.MakeSeed()}
	for _, p := range sets {
		a.report.Notes = append(a.report.Notes, p.Set.Report.Warnings...)
	}
	for _, step := range []func(context.Context) error{a.list, a.hear, a.findSame, a.findLike} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	judged := make(chan struct{})
	go func() { // of a million utterances it takes seconds
		defer close(judged)
		a.judge()
	}()
	select {
	case <-judged:
		return a.report, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx) // what is being judged is nobody's any more
	}
}

// judge makes the report of what was heard and read.
func (a *audit) judge() {
	a.judgeSound()
	a.judgeRates()
	a.judgeOverlaps()
	a.judgeCharacters()
	a.judgeLines()
	a.describe()
	if a.report.Findings == nil {
		a.report.Findings = []Finding{}
	}
	slices.SortStableFunc(a.report.Findings, byGravity)
}

// audit is one in progress.
type audit struct {
	sets    []Part
	options Options
	report  *Report

	all      []entry       // the utterances of all sets, one set behind the other
	from     []int         // of each set, the first entry
	speakers []string      // by their numbers, from 1 on
	seed     maphash.Seed  // of texts
	noted    map[Place]int // entries that there are notes about; -1 for lines that are no utterances
	errors   []trouble
	both     group // utterances held out whose sound is in training
}

// entry is what is known of one utterance: all that is kept of each of a million.
type entry struct {
	set     int32
	letters int32
	rate    int32  // Hz
	speaker int32  // a number; 0 where none is named
	text    uint64 // hash
	samples int64
	seconds float64
	sound
}

// trouble is an utterance that can't be read.
type trouble struct {
	at  int
	why string
}

// list enters the utterances, and begins the figures of the sets.
func (a *audit) list(ctx context.Context) error {
	n := 0
	for _, p := range a.sets {
		a.from = append(a.from, n)
		n += p.Set.Len()
	}
	a.all = make([]entry, 0, n)
	a.findNoted()
	speakers := map[string]int32{}
	for i, p := range a.sets {
		f := newFigures(p)
		for _, u := range p.Set.All() {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			e := entry{
				set: int32(i), letters: letters(u.Text), rate: int32(u.Rate()), samples: int64(u.Samples), seconds: u.Duration,
				text: maphash.String(a.seed, u.Text),
			}
			if u.Speaker != "" {
				if speakers[u.Speaker] == 0 {
					speakers[u.Speaker] = int32(len(speakers) + 1)
					a.speakers = append(a.speakers, u.Speaker)
				}
				e.speaker = speakers[u.Speaker]
			}
			if at := (Place{u.File, u.Line}); a.noted[at] < 0 {
				a.noted[at] = len(a.all)
			}
			f.add(u, &e)
			a.all = append(a.all, e)
		}
		a.report.Sets = append(a.report.Sets, f.set())
	}
	return nil
}

// letters counts the characters of a text that are no spaces.
func letters(s string) int32 {
	n := utf8.RuneCountInString(s)
	for i := range len(s) {
		if s[i] == ' ' {
			n--
		}
	}
	return int32(n)
}

// held says whether an utterance is of a set that is held out.
func (a *audit) held(e *entry) bool { return a.sets[e.set].Role == HeldOut }

// utterance is that of entry i.
func (a *audit) utterance(i int) *data.Utterance {
	set := a.all[i].set
	return a.sets[set].Set.At(i - a.from[set])
}

// text is that of entry i.
func (a *audit) text(i int) string {
	set := a.all[i].set
	return a.sets[set].Set.Text(i - a.from[set])
}

// spoken is how long an utterance is without silence at its ends, in seconds.
func (e *entry) spoken() float64 {
	return max(e.seconds-float64(e.leading)-float64(e.trailing), 1.0/framesPerSecond)
}

// item is entry i as an item of a finding.
func (a *audit) item(i int, score float64, format string, args ...any) Item {
	return Item{Detail: fmt.Sprintf(format, args...), Score: score, at: i}
}

// fill adds to an item what its utterance says.
func (a *audit) fill(x *Item) {
	if x.File != "" {
		return // it is a line that is no utterance
	}
	u := a.utterance(x.at)
	x.Set, x.File, x.Line, x.ID, x.Sound, x.Seconds, x.Text, x.Utterance = a.sets[a.all[x.at].set].Set.Path, u.File, u.Line, u.ID,
		u.Path(), u.Duration, u.Text, u
}

// where is how a message names entry i beside another one.
func (a *audit) where(i int) string {
	u := a.utterance(i)
	return data.Where(u.File, u.Line)
}
