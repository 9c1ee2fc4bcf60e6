package recognize

import (
	"context"
	"errors"
	"fmt"
	"io"

	"konkanitrain/data"
	"konkanitrain/internal/words"
	"konkanitrain/update"
)

// EvaluateOptions say how a manifest is read and where results go.
type EvaluateOptions struct {
	PathMap      []string
	SkipBadLines bool
	BadLineLimit float64
	Keys         []string               // of the manifests, whose values the utterances have
	Progress     io.Writer              // the manifest's report and what is odd in its files; nil: none
	PerUtterance func(Hypothesis) error // called for each utterance, in order; may be nil
}

// utterancesPerWorker is how many utterances are read and dealt together for each worker.
const utterancesPerWorker = 16

// WindowFor is the number of utterances that are read and dealt together for scoring beside training, in micro-batches
// of batchSize.
func WindowFor(batchSize int) int { return max(16, 4*batchSize) }

// Evaluate scores every utterance of a manifest whose sound can be read, whatever its length; where its text is empty,
// all that is recognized is an error. Failed counts all files that can't be read, whenever that turned out. The report
// says what became of every line. That nothing could be scored is an error. Where the context ends first, the error is
// its cause.
func (m *Model) Evaluate(ctx context.Context, manifest string, o EvaluateOptions) (*Evaluation, *data.Report, error) {
	return m.EvaluateAll(ctx, []string{manifest}, o)
}

// EvaluateAll scores the utterances of several manifests together, as Evaluate does those of one.
func (m *Model) EvaluateAll(ctx context.Context, manifests []string, o EvaluateOptions) (*Evaluation, *data.Report, error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	set, loader, err := m.openManifests(ctx, manifests, o)
	if err != nil {
		return nil, nil, err
	}
	var unfit []data.Note
	e, err := m.recognizer.Score(ctx, loader, func(h Hypothesis) error {
		var large *update.TooLarge
		if u := h.Utt; errors.As(h.Err, &large) {
			unfit = append(unfit, data.Note{Kind: data.NoMemory, File: u.File, Line: u.Line, ID: u.ID, Reason: large.Error(), Skipped: true})
		}
		if o.PerUtterance == nil {
			return nil
		}
		return o.PerUtterance(h)
	})
	for _, w := range loader.Warnings() {
		fmt.Fprintln(o.Progress, "WARNING:", w)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, trouble := range e.Troubles(set.Path) {
		fmt.Fprintln(o.Progress, trouble)
	}
	report := set.Outcome()
	for _, n := range unfit {
		report.Add(n)
	}
	if e.NothingRead() {
		return nil, nil, fmt.Errorf("nothing of %s could be scored\n%v", set.Path, report)
	}
	e.Failed, e.FailedWords, e.FailedChars = 0, 0, 0 // counted anew: with the files of which only the name or the header was read
	for _, kind := range []data.Kind{data.Missing, data.Unreadable, data.PastEnd, data.NoMemory} {
		e.Failed += report.CountOf(kind, true)
	}
	return e, report, nil
}

// openManifests reads manifests, reports on them, and makes room for the passes over their sounds.
func (m *Model) openManifests(ctx context.Context, manifests []string, o EvaluateOptions) (*data.Set, *data.Loader, error) {
	set, err := m.readManifests(ctx, manifests, o)
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintln(o.Progress, set.Report)
	sayForeign(o.Progress, set)
	window := utterancesPerWorker * m.workers()
	loader, err := data.NewLoader(set, data.LoaderOptions{
		Evaluate: true, Window: window, Feature: m.Description.Features, Workers: m.workers(),
	})
	if err != nil {
		return nil, nil, err
	}
	return set, loader, m.makeRoom(loader, set, window)
}

// foreign is the share of letters outside the vocabulary above which the texts are in doubt.
const foreign = 0.05

// sayForeign warns of texts that the model can't have learned to write.
func sayForeign(w io.Writer, set *data.Set) {
	if u := &set.Report.Unknown; u.Share() > foreign {
		fmt.Fprintf(w, "WARNING: %v: the model can write none of them, and each is an error; "+
			"are these texts in the language and the script that it was trained on?\n", u)
	}
}

// makeRoom has passes fit what is left beside what a loader reads ahead, or refuses a set that can't be read.
func (m *Model) makeRoom(l *data.Loader, set *data.Set, window int) error {
	if !m.limited() {
		return nil
	}
	bytes := reading(l)
	if room := m.room(); bytes >= room {
		u := set.At(set.Longest())
		return fmt.Errorf("%s: %w; the longest of its utterances is %s (%s), %.1f s: cut it, leave it out, or raise memory_limit",
			set.Path, m.noRoom(bytes, fmt.Sprintf("reading %s at a time", words.Count(window, "utterance"))), u.ID, data.Where(u.File, u.Line), u.Duration)
	}
	m.count([]*batch{{bytes: bytes, frames: longestOf(set), rows: window}})
	return nil
}

// readManifests reads manifests for the model's features, text policy and vocabulary.
func (m *Model) readManifests(ctx context.Context, manifests []string, o EvaluateOptions) (*data.Set, error) {
	list := make([]data.Manifest, len(manifests))
	for i, path := range manifests {
		list[i] = data.Manifest{Path: path, Weight: 1}
	}
	d := m.Description
	paths, err := data.ParsePathMap(o.PathMap)
	if err != nil {
		return nil, err
	}
	set, err := data.LoadAll(ctx, list, data.Options{
		SampleRate: d.Features.SampleRate, Text: d.Policy, PathMap: paths, SkipBadLines: o.SkipBadLines, BadLimit: o.BadLineLimit,
		KeepEmpty: true, Keys: o.Keys,
	})
	if err != nil {
		return nil, err
	}
	// Texts with letters outside the vocabulary are scored, not refused: those letters are errors.
	return set, set.Tokenize(d.Vocabulary, data.TokenOptions{Factor: d.Network.Subsampling, UnknownLimit: 1})
}
