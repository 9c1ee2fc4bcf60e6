package audit

import (
	"context"
	"fmt"
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
	a := &audit{sets: sets, options: o, report: &Report{Notes: []string{}}}
	a.list()
	for _, step := range []func(context.Context) error{a.hear, a.findSame, a.findLike} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	a.judgeSound()
	a.judgeRates()
	a.judgeOverlaps()
	a.judgeCharacters()
	a.judgeLines()
	a.describe()
	slices.SortStableFunc(a.report.Findings, byGravity)
	if a.report.Findings == nil {
		a.report.Findings = []Finding{}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return a.report, nil
}

// audit is one in progress.
type audit struct {
	sets    []Part
	options Options
	all     []entry // the utterances of all sets, one set behind the other
	errors  []trouble
	both    group // utterances held out whose sound is in training
	report  *Report
}

// entry is what is known of one utterance.
type entry struct {
	*data.Utterance
	set     int32
	letters int32
	sound
}

// trouble is an utterance that can't be read.
type trouble struct {
	at  int
	why string
}

// list enters the utterances.
func (a *audit) list() {
	n := 0
	for _, p := range a.sets {
		n += p.Set.Len()
	}
	a.all = make([]entry, 0, n)
	for i, p := range a.sets {
		for _, u := range p.Set.All() {
			a.all = append(a.all, entry{Utterance: u, set: int32(i), letters: letters(u.Text)})
		}
	}
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

// spoken is how long an utterance is without silence at its ends, in seconds.
func (e *entry) spoken() float64 {
	return max(e.Duration-float64(e.leading)-float64(e.trailing), 1.0/framesPerSecond)
}

// item is entry i as an item of a finding.
func (a *audit) item(i int, score float64, format string, args ...any) Item {
	e := &a.all[i]
	return Item{
		Set: a.sets[e.set].Set.Path, File: e.File, Line: e.Line, ID: e.ID, Sound: e.Path(), Seconds: e.Duration, Text: e.Text,
		Detail: fmt.Sprintf(format, args...), Score: score, Utterance: e.Utterance, at: i,
	}
}

// where is how a message names entry i beside another one.
func (a *audit) where(i int) string {
	e := &a.all[i]
	return fmt.Sprintf("%s, line %d", e.File, e.Line)
}
