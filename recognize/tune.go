package recognize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"konkanitrain/data"
	"konkanitrain/data/text"
	"konkanitrain/model"
)

// Trial is how well a set is recognized with some weights.
type Trial struct {
	Decoding
	Score text.Score
}

// better says whether a trial has fewer wrong words, or as many and fewer wrong characters.
func (t *Trial) better(other *Trial) bool {
	a, b := &t.Score, &other.Score
	if a.Words.Errors() != b.Words.Errors() {
		return a.Words.Errors() < b.Words.Errors()
	}
	return a.Chars.Errors() < b.Chars.Errors()
}

// Tuning is what a search for weights came to.
type Tuning struct {
	Greedy Trial
	Trials []Trial // in the order in which they were made
	Best   Trial   // of all of them
	Report *data.Report
	Judge  *Judge // of the best one's words, with confidences as they are measured
}

// Tune looks for the weights of a beam search, those of the language model and of length, with which the texts of
// manifests are recognized best. The network is asked once; what it says is kept, and searched with each trial's
// weights: at first on a coarse grid, then around the best point with ever smaller steps. emit is called after each
// trial; it may be nil. An error that wraps *device.OutOfMemory says that what the network says takes too much memory.
func (m *Model) Tune(ctx context.Context, manifests []string, d Decoding, o EvaluateOptions, emit func(Trial)) (*Tuning, error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	if d.greedy() {
		return nil, errors.New("there is nothing to tune in greedy decoding: want --decoder beam")
	}
	d.NBest, d.Units, d.Calibration = 0, false, nil
	if err := m.SetDecoding(d); err != nil {
		return nil, err
	}
	set, loader, err := m.openManifests(ctx, manifests, o)
	if err != nil {
		return nil, err
	}
	all, err := m.listen(ctx, loader, longestOf(set))
	if m.limited() {
		defer func() { _ = m.pools.Host.Hold("what the network says", 0) }()
	}
	for _, w := range loader.Warnings() {
		fmt.Fprintln(o.Progress, "WARNING:", w)
	}
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("nothing of %s could be recognized\n%v", set.Path, set.Outcome())
	}
	t := &tuner{m: m, all: all, emit: emit, Tuning: Tuning{Report: set.Outcome()}}
	greedy, err := t.try(ctx, Decoding{})
	if err != nil {
		return nil, err
	}
	t.Greedy = *greedy
	if err := t.search(ctx, d); err != nil {
		return nil, err
	}
	best := t.Best.Decoding
	best.Units = true
	t.Judge = &Judge{}
	_, err = t.recognize(ctx, best, func(u *listened, h heard) { t.Judge.add(u.said, h.Text, h.Words) })
	return &t.Tuning, err
}

// listened is what the network said of an utterance.
type listened struct {
	said   string // its text
	logits []float32
}

// listen keeps what the network says of all utterances that can be read.
func (m *Model) listen(ctx context.Context, loader *data.Loader, longest int) ([]*listened, error) {
	stream, err := loader.Start(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var all []*listened
	bytes := m.recognizer.Bytes(longest) // the searches run beside it
	for {
		w, err := stream.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		window := make([]*listened, len(w.Examples))
		_, _, err = m.recognizer.each(ctx, w.Examples, model.Transcribing, func(_ *reader, x *data.Example, logits []float32) heard {
			window[slices.Index(w.Examples, x)] = &listened{x.Utt.Text, slices.Clone(logits)}
			return heard{}
		})
		if err != nil {
			return nil, err
		}
		for _, u := range window {
			if u != nil {
				all = append(all, u)
				bytes += 4 * int64(len(u.logits))
			}
		}
		if m.limited() {
			if err := m.pools.Host.Hold("what the network says", bytes); err != nil {
				return nil, fmt.Errorf("tuning keeps what the network says of the whole set: %w; take a smaller one", err)
			}
		}
		w.Release()
	}
}

// tuner looks for weights.
type tuner struct {
	Tuning
	m     *Model
	all   []*listened
	emit  func(Trial)
	tried map[[2]float64]bool
}

// recognize searches all utterances with these weights, on all workers; each is called in the order of the utterances.
func (t *tuner) recognize(ctx context.Context, d Decoding, each func(*listened, heard)) (*Trial, error) {
	s := *t.m.recognizer.script
	s.Decoding = d
	texts := make([]heard, len(t.all))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range t.m.workers() {
		r, err := newReader(&s)
		if err != nil {
			return nil, err
		}
		wait.Go(func() {
			for i := int(next.Add(1) - 1); i < len(t.all) && ctx.Err() == nil; i = int(next.Add(1) - 1) {
				texts[i] = r.read(t.all[i].logits)
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	trial := &Trial{Decoding: d}
	for i, u := range t.all {
		trial.Score.Add(u.said, texts[i].Text)
		if each != nil {
			each(u, texts[i])
		}
	}
	return trial, nil
}

// try is recognize for the table.
func (t *tuner) try(ctx context.Context, d Decoding) (*Trial, error) {
	trial, err := t.recognize(ctx, d, nil)
	if err != nil {
		return nil, err
	}
	if t.emit != nil {
		t.emit(*trial)
	}
	return trial, nil
}

// The grid that a search begins with. Bonuses of words are larger than those of characters, which are more.
var (
	firstWeights   = []float64{0.25, 0.5, 1}
	firstOfWords   = []float64{0, 2, 4, 8}
	firstOfLetters = []float64{0, 0.5, 1, 2}
)

// refinements is how often the steps of the search are halved.
const refinements = 2

// search tries the grid, and then the neighbors of the best point for as long as one of them is better.
func (t *tuner) search(ctx context.Context, d Decoding) error {
	t.tried = map[[2]float64]bool{}
	bonuses := firstOfLetters
	if t.m.recognizer.script.fusion.ofWords() {
		bonuses = firstOfWords
	}
	weights := firstWeights
	if d.LM == "" {
		weights = []float64{d.LMWeight}
	}
	for _, w := range append([]float64{0}, weights...) {
		for _, b := range bonuses {
			if w == 0 && b != 0 && d.LM != "" {
				continue // without a language model there is one trial, to compare with
			}
			if err := t.point(ctx, d, w, b); err != nil {
				return err
			}
		}
	}
	factor, step := 0.5, bonuses[1]/2
	for range refinements {
		for at := t.Best; ; at = t.Best {
			w, b := at.LMWeight, at.LengthWeight
			points := [][2]float64{{w, b - step}, {w, b + step}}
			if d.LM != "" {
				points = append(points, [2]float64{w * (1 - factor/2), b}, [2]float64{w * (1 + factor/2), b},
					[2]float64{w * (1 + factor/2), b + step}, [2]float64{w * (1 - factor/2), b - step})
			}
			for _, p := range points {
				if err := t.point(ctx, d, p[0], p[1]); err != nil {
					return err
				}
			}
			if !t.Best.better(&at) {
				break
			}
		}
		factor, step = factor/2, step/2
	}
	return nil
}

// point tries a point, once. Weights have three digits, as people write them.
func (t *tuner) point(ctx context.Context, d Decoding, weight, bonus float64) error {
	d.LMWeight, d.LengthWeight = threeDigits(weight), threeDigits(bonus)
	key := [2]float64{d.LMWeight, d.LengthWeight}
	if t.tried[key] {
		return nil
	}
	t.tried[key] = true
	trial, err := t.try(ctx, d)
	if err != nil {
		return err
	}
	if len(t.Trials) == 0 || trial.better(&t.Best) {
		t.Best = *trial
	}
	t.Trials = append(t.Trials, *trial)
	return nil
}

// threeDigits is x to a thousandth.
func threeDigits(x float64) float64 { return math.Round(1000*x) / 1000 }
