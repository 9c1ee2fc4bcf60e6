package train

import (
	"fmt"
	"maps"
	"slices"

	"konkanitrain/data"
	"konkanitrain/model"
)

// plan makes every worker's arena as large as the largest pass of the run needs, in training, validation and
// test, and says what the run takes in memory: what doesn't fit fails here, not after the first epoch.
func (t *trainer) plan() error {
	train, err := t.largest(t.loader, t.cfg.Window(), true)
	if err != nil {
		return err
	}
	need := train.bytes
	for _, l := range []*data.Loader{t.val, t.test} {
		if l == nil {
			continue
		}
		e, err := t.largest(l, evalWindow(t.cfg), false)
		if err != nil {
			return err
		}
		if e.bytes > need {
			need = e.bytes
			t.report.say("memory: scoring %s (%.1f s) takes more than any training pass", e.longest.ID, e.longest.Duration)
		}
	}
	if err := t.crew.Reserve(need); err != nil {
		return fmt.Errorf("the largest pass, with %s of up to %d frames: %w", count(train.shape.Batch, "utterance"), train.shape.Frames, err)
	}
	t.report.say("memory: %s in all: weights, gradients and moments %s, %s with %s each; longest utterance %s, %.1f s",
		megabytes(t.dev.Usage().Allocated), megabytes(int64(4*t.layout.Words*(3+len(t.crew.Workers)))),
		count(len(t.crew.Workers), "worker"), megabytes(int64(need)), train.longest.ID, train.longest.Duration)
	return nil
}

// largest is the pass of a set that takes the most memory.
type largest struct {
	shape   model.Shape
	bytes   int // of the arena
	longest *data.Utterance
}

// candidates is the number of shapes with as many rows that are compiled to find the one that takes the most.
const candidates = 3

// largest looks at what deal makes of windows full of utterances of one length, for each length in the set: no
// window of mixed lengths has a larger pass. A set smaller than a window fills none.
func (t *trainer) largest(l *data.Loader, window int, train bool) (largest, error) {
	var most largest
	tokens, utterances := 0, 0
	lengths := map[int]bool{} // in frames
	for k := range l.Windows() {
		for _, u := range l.Window(0, k) {
			n, err := l.MostFrames(u)
			if err != nil {
				return most, err
			}
			lengths[n] = true
			utterances++
			tokens = max(tokens, len(u.Tokens))
			if most.longest == nil || u.Duration > most.longest.Duration {
				most.longest = u
			}
		}
	}
	// Of the shapes with as many rows one of the longest takes the most: not always the very longest, for shorter ones may
	// pack less well. Between numbers of rows there is no telling: attention's share of memory is not its share of work.
	shapes := map[int][]model.Shape{} // by rows, the longest first
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(lengths))) {
		full := slices.Repeat([]*data.Example{{Frames: n, Tokens: make([]int32, tokens)}}, min(window, utterances))
		for _, b := range deal(full, t.net, t.cfg.Optimizer.BatchSize, len(t.crew.Workers)) {
			if rows := b.shape.Batch; len(shapes[rows]) < candidates && !slices.Contains(shapes[rows], b.shape) {
				shapes[rows] = append(shapes[rows], b.shape)
			}
		}
	}
	for _, rows := range slices.Sorted(maps.Keys(shapes)) {
		for _, s := range shapes[rows] {
			p, err := t.programs.Get(programKey{s, train})
			if err != nil {
				return most, err
			}
			if p.ArenaBytes() > most.bytes {
				most.shape, most.bytes = s, p.ArenaBytes()
			}
		}
	}
	return most, nil
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
