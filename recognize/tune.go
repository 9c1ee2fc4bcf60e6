package recognize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

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

// Tune looks for the weights of a search, those of the language model, of length and of the decoder, with which the
// texts of manifests are recognized best. The network is asked once; what it says is kept, and searched with each
// trial's weights: those that d has, on a coarse grid, then around the best point with ever smaller steps. Of equally
// good ones the first is taken. emit is called after each trial; it may be nil. An error that wraps
// *device.OutOfMemory says that what the network says takes too much memory.
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

// listen keeps what the network says of all utterances that can be read.
func (m *Model) listen(ctx context.Context, loader *data.Loader, longest int) ([]*listened, error) {
	stream, err := loader.Start(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var all []*listened
	bytes := m.recognizer.Bytes(longest, 0) // the searches run beside it
	for {
		w, err := stream.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		window := make([]*listened, len(w.Examples))
		if _, err := m.recognizer.listen(ctx, w.Examples, model.Transcribing, window, nil); err != nil {
			return nil, err
		}
		for _, u := range window {
			if u != nil {
				all = append(all, u)
				bytes += u.bytes()
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
	tried map[weights]bool
}

// recognize searches all utterances with these weights, on all workers; each is called in the order of the utterances.
func (t *tuner) recognize(ctx context.Context, d Decoding, each func(*listened, heard)) (*Trial, error) {
	s := *t.m.recognizer.script
	s.Decoding = d
	readers, err := t.m.recognizer.newReaders(&s)
	if err != nil {
		return nil, err
	}
	texts := make([]heard, len(t.all))
	if err := t.m.recognizer.search(ctx, readers, t.all, texts); err != nil {
		return nil, err
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

// weights are what is looked for: of the language model, of length, of the decoder.
type weights [3]float64

func (d Decoding) weights() weights {
	return weights{d.LMWeight, d.LengthWeight, d.AttentionWeight}
}

// with is the decoding with other weights. What doesn't take part keeps its own.
func (d Decoding) with(w weights) Decoding {
	d.LengthWeight = threeDigits(w[1])
	if d.LM != "" {
		d.LMWeight = threeDigits(w[0])
	}
	if d.asksDecoder() {
		d.AttentionWeight = threeDigits(w[2])
	}
	return d
}

// The grid that a search begins with. Bonuses of words are larger than those of characters, which are more.
var (
	firstLM        = []float64{0.25, 0.5, 1}
	firstOfWords   = []float64{0, 2, 4, 8}
	firstOfLetters = []float64{0, 0.5, 1, 2}
	firstAttention = []float64{0.3, 1, 3}
)

// refinements is how often the steps of the search are halved.
const refinements = 2

// search tries the grid, and then the neighbors of the best point for as long as one of them is better.
func (t *tuner) search(ctx context.Context, d Decoding) error {
	t.tried = map[weights]bool{}
	lm, bonuses, attention := []float64{d.LMWeight}, firstOfLetters, []float64{d.AttentionWeight}
	if t.m.recognizer.script.fusion.ofWords() {
		bonuses = firstOfWords
	}
	if d.LM != "" {
		lm = firstLM
	}
	if d.asksDecoder() {
		attention = firstAttention
	}
	for _, w := range []weights{d.weights(), {}} { // what is given, which stays where nothing is better; the search alone
		if err := t.point(ctx, d, w); err != nil {
			return err
		}
	}
	for _, a := range attention {
		for _, w := range lm {
			for _, b := range bonuses {
				if err := t.point(ctx, d, weights{w, b, a}); err != nil {
					return err
				}
			}
		}
	}
	factor, step := 0.25, bonuses[1]/2
	for range refinements {
		for at := t.Best; ; at = t.Best {
			for _, w := range neighbors(at.weights(), factor, step) {
				if err := t.point(ctx, d, w); err != nil {
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

// neighbors are the points around one: each weight more and less, and that of the language model together with that of
// length, since what the one takes from long texts the other gives back.
func neighbors(at weights, factor, step float64) (list []weights) {
	for _, sign := range []float64{-1, 1} {
		lm, length, attention := at, at, at
		lm[0] *= 1 + sign*factor
		length[1] += sign * step
		attention[2] *= 1 + sign*factor
		list = append(list, length, lm, weights{lm[0], length[1], at[2]}, attention)
	}
	return list
}

// point tries a point, once. Weights have three digits, as people write them.
func (t *tuner) point(ctx context.Context, d Decoding, w weights) error {
	d = d.with(w)
	if t.tried[d.weights()] {
		return nil
	}
	t.tried[d.weights()] = true
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
