package train

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"konkanitrain/checkpoint"
	"konkanitrain/data"
	"konkanitrain/internal/words"
	"konkanitrain/update"
)

// restore sets weights, moments, averages and counters: from a checkpoint, from a model to start from, or anew. windows
// is the number of windows in an epoch.
func (l *ledger) restore(u *update.Updater, train *data.Set, windows int) error {
	settings, err := l.cfg.settings()
	if err != nil {
		return err
	}
	averages := emaDecay(l.state.Config) > 0
	l.state.Format, l.state.Config = stateFormat, settings
	l.setSize, l.setHash = setIdentity(train)
	l.seconds = train.Seconds()
	l.textHash = textIdentity(train)
	from := l.origin.Checkpoint
	if from == nil {
		l.state.Due = []int{}
		if err = l.startWeights(u); err == nil {
			err = l.memory.beginAverages()
		}
	} else {
		err = l.load(from, averages)
		u.Updates, u.LossScale = l.state.Progress.Updates, l.state.LossScale
	}
	if err != nil {
		return err
	}
	l.begun = u.Updates
	l.state.LossScale = u.LossScale
	if from != nil {
		l.resumed(from, windows)
	}
	l.keep()
	return nil
}

// resumed takes up the place of a checkpoint and says where the run stands.
func (l *ledger) resumed(from *checkpoint.Checkpoint, windows int) {
	p := &l.state.Progress
	l.newest, l.onDisk, l.earlier, l.standing = from.Path, p.Updates, p.Seconds, ahead
	if l.inside(from.Path) {
		l.standing = saved
	}
	l.sayDifferences()
	if p.Window >= windows {
		p.Epoch, p.Window = p.Epoch+1, 0
	}
	logged, judged := p.Updates-l.state.Since.Updates, p.Updates
	if l.state.Judged != p.Updates {
		judged--
	}
	why := l.goOn()
	if why != "" {
		logged = p.Updates // the last record is of its end
	}
	l.place = place{p.Updates, logged, judged}
	l.nameBest()
	if why != "" {
		l.finished = true
		l.report.say("resumed from %s: %s done, and training is finished: %s", from.Path, words.Count(p.Updates, "update"), why)
		return
	}
	l.report.say("resumed from %s: %s done, epoch %d, window %d of %d", from.Path, words.Count(p.Updates, "update"), p.Epoch+1, p.Window+1, windows)
}

// sayDifferences says what makes this run another one than the uninterrupted run, beside settings.
func (l *ledger) sayDifferences() {
	p, say := &l.state.Progress, l.report.say
	if window := l.cfg.Window(); p.WindowSize != window {
		used := p.Window * p.WindowSize
		p.Window = used / window
		say("WARNING: a window has %s now, %d when the checkpoint was written: epoch %d goes on at window %d, "+
			"some of its utterances come twice or not at all", words.Count(window, "utterance"), p.WindowSize, p.Epoch+1, p.Window+1)
	}
	if then, now := l.savedSorted(), l.cfg.Data.SortFirstEpochs; p.Window > 0 && (p.Epoch < then) != (p.Epoch < now) {
		say("WARNING: sort_first_epochs is %d now, and was %d when the checkpoint was written in the middle of epoch %d: its rest comes "+
			"in another order, some of its utterances twice or not at all", now, then, p.Epoch+1)
	}
	switch {
	case p.SetHash != "" && p.SetHash != l.setHash:
		l.state.Trend = trend{}
		say("WARNING: the training set is not what it was when the checkpoint was written: %s; they come in another order, so "+
			"some of those of epoch %d come twice or not at all", l.otherSet(), p.Epoch+1)
	case p.TextHash != "" && p.TextHash != l.textHash:
		l.state.Trend = trend{}
		say("WARNING: the training set has other texts than when the checkpoint was written, of the same utterances: training goes " +
			"on with those of now, and what was learned from the others stays in the weights; if that isn't meant, restore the " +
			"manifest, or start anew in another checkpoint_dir")
	}
	if p.NoiseHash != "" && l.noiseHash != "" && p.NoiseHash != l.noiseHash {
		say("WARNING: the recordings of noise_manifest are not those of when the checkpoint was written: utterances get other noise " +
			"than in the uninterrupted run")
	}
	if n := l.memory.replica.Wishes().Workers; n != p.Workers {
		say("NOTE: %s now, %d when the checkpoint was written: sums are in another order, so the run is not bit for bit the uninterrupted one",
			words.Count(n, "compute worker"), p.Workers)
	}
	if k := l.kernels; p.Kernels != "" && k != p.Kernels {
		say("NOTE: this run computes with the kernels %s, the checkpoint comes from one with %s: they round differently, "+
			"so the run is not bit for bit the uninterrupted one", k, p.Kernels)
	}
}

// savedSorted is the checkpoint's sort_first_epochs.
func (l *ledger) savedSorted() int {
	saved, err := l.origin.Config()
	var c struct {
		Epochs int `json:"sort_first_epochs"`
	}
	if err != nil || json.Unmarshal(saved, &c) != nil {
		return 0 // of before there was this setting
	}
	return c.Epochs
}

// otherSet says in what the training set differs from that of the checkpoint.
func (l *ledger) otherSet() string {
	counts := fmt.Sprintf("%s now, %d then", words.Count(l.setSize, "utterance"), l.state.Progress.SetSize)
	weights := l.otherWeights()
	switch {
	case weights == "":
		return counts + ", or others, or of other lengths"
	case l.setSize == l.state.Progress.SetSize:
		return weights
	}
	return weights + ", and " + counts
}

// otherWeights names the manifests that have another weight than in the checkpoint; "" if none has.
func (l *ledger) otherWeights() string {
	saved, err := l.origin.Config()
	if err != nil {
		return ""
	}
	var c struct {
		Paths []string `json:"train_manifest"`
	}
	if json.Unmarshal(saved, &c) != nil {
		return "" // one text, of before there were weights
	}
	then, err1 := data.ParseManifests(c.Paths)
	now, err2 := data.ParseManifests(l.cfg.Data.TrainManifest)
	if err1 != nil || err2 != nil {
		return ""
	}
	var list []string
	for _, m := range now {
		for _, old := range then {
			if old.Path == m.Path && old.Weight != m.Weight {
				list = append(list, fmt.Sprintf("%s has the weight %g now, %g then", m.Path, m.Weight, old.Weight))
			}
		}
	}
	return strings.Join(list, ", ")
}

// goOn forgets a validation that only the end of an earlier session brought about, unless training has ended still;
// it returns why, or "".
func (l *ledger) goOn() string {
	if l.state.Before == nil {
		return l.end()
	}
	last := l.state.judgment
	l.state.judgment = *l.state.Before
	why := l.end()
	if why == "" {
		l.state.Before = nil
	} else {
		l.state.judgment = last
	}
	return why
}

// textIdentity is a hash of the texts of a set.
func textIdentity(s *data.Set) string {
	sum := fnv.New128a()
	var line []byte
	for text := range s.Texts() {
		line = append(append(line[:0], text...), '\n')
		sum.Write(line)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// setIdentity is what the order of a training set depends on: the number of its utterances, and a hash of their ids
// and lengths in frames, and of their weights where they have any.
func setIdentity(s *data.Set) (size int, hash string) {
	sum := fnv.New128a()
	var line []byte
	for i := range s.Len() {
		line = strconv.AppendQuote(line[:0], s.ID(i))
		line = strconv.AppendInt(append(line, ' '), int64(s.Frames(i)), 10)
		sum.Write(append(line, '\n'))
	}
	if s.Weighted() {
		for i := range s.Len() {
			sum.Write(strconv.AppendFloat(line[:0], s.Weight(i), 'g', -1, 64))
			sum.Write([]byte{'\n'})
		}
	}
	return s.Len(), hex.EncodeToString(sum.Sum(nil))
}
