package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"konkanitrain/checkpoint"
	"konkanitrain/data/text"
	"konkanitrain/engine"
	"konkanitrain/internal/settings"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/recognize"
	"konkanitrain/update"
)

// A new run can start with the weights of a trained model (init_from), which may have another vocabulary, and with
// init_partial another depth or width.

// findSource reads what the model that init_from names says of itself, and refuses one that hears other sound, or is of
// another network, unless init_partial takes what fits. Of a file that says nothing the tensors alone decide.
func (l *ledger) findSource() error {
	path := l.cfg.Run.InitFrom
	if path == "" {
		return nil
	}
	d, err := recognize.Describe(path)
	switch {
	case errors.Is(err, recognize.ErrNoDescription):
		return nil
	case err != nil:
		return fmt.Errorf("init_from: %w", err)
	}
	if err := sameNetwork(d, l.cfg); err != nil {
		return fmt.Errorf("init_from: %s: %w", path, err)
	}
	l.source = d
	return l.notePolicy(d)
}

// notePolicy says where the new run's texts are written otherwise than those that the model has learned.
func (l *ledger) notePolicy(d *recognize.Description) error {
	then := l.cfg
	then.Data.KeepJoiners, then.Data.FoldDigits = d.Policy.KeepJoiners, d.Policy.FoldDigits
	saved, err := then.settings()
	if err != nil {
		return err
	}
	now, err := l.cfg.settings()
	if err != nil {
		return err
	}
	differences, err := compare(saved, now)
	for _, x := range differences {
		l.report.say("NOTE: texts are written otherwise than those of %s (its / now): %s: %s / %s", l.cfg.Run.InitFrom, x.Key, x.Saved, x.Current)
	}
	return err
}

// sameNetwork refuses a model that hears other sound, or of another network, naming each setting with both values. How
// its texts were written is no matter: a letter's row is that letter's, and letters that it doesn't know get new rows.
func sameNetwork(d *recognize.Description, now Config) error {
	then := now
	n, f := d.Network, d.Features
	if !now.Run.InitPartial {
		then.Model.DModel, then.Model.EncoderLayers, then.Model.DecoderLayers, then.Model.Heads = n.DModel, n.EncoderLayers, n.DecoderLayers, n.Heads
		then.Model.ConvKernel, then.Model.Subsampling, then.Model.SubsampleChannels = n.ConvKernel, n.Subsampling, n.SubsampleChannels
	}
	then.Data.SampleRate, then.Data.NumMels, then.Data.Normalize = f.SampleRate, f.NumMels, f.Normalize
	then.Data.HighHz, then.Data.SampleScale = f.HighHz, f.SampleScale
	saved, err := then.settings()
	if err != nil {
		return err
	}
	set, err := settings.Of(&now)
	if err != nil {
		return err
	}
	_, _, err = sameRun(saved, now)
	var differ *checkpoint.SettingsError
	if errors.As(err, &differ) && !slices.ContainsFunc(differ.Differences, func(d checkpoint.Difference) bool { return set.Lookup(d.Key).Group != "Model" }) {
		err = fmt.Errorf("%w, or take what fits of it with --init_partial", err)
	}
	return err
}

// startVocabulary is the vocabulary of a run that starts from a model. Of characters it is the model's, and behind it
// what the training texts have beside it: nothing is lost that the model can write, and every row keeps its place.
// Where one of the two cuts texts otherwise it is that of the settings, and rows go by what their tokens write.
func (r *run) startVocabulary(s *recognize.Description, built text.Tokenizer) (text.Tokenizer, error) {
	path, kept := r.cfg.Run.InitFrom, s.Vocabulary
	fresh, idle := tokensBeside(built, kept), tokensBeside(kept, built)
	const shown = 40
	old, characters := text.Bare(kept).(*text.Vocabulary)
	now, also := text.Bare(built).(*text.Vocabulary)
	switch {
	case characters && also && len(fresh) == 0 || built.Diff(kept) == nil:
		r.report.say("the vocabulary is that of %s: %d entries", path, kept.Size())
		return kept, nil
	case characters && also:
		r.report.say("the vocabulary is that of %s, %d entries, and behind it %s of the training texts: %s", path, kept.Size(),
			words.Count(len(fresh), "new character"), words.List(fresh, shown))
		if len(idle) > 0 {
			r.report.say("NOTE: no training text has %s of %s: %s", words.Count(len(idle), "character"), path, words.List(idle, shown))
		}
		return old.With(now)
	}
	r.report.say("the vocabulary is another one than that of %s: %s, and %d have their row from there", path, words.Count(built.Size(), "token"),
		built.Size()-len(fresh))
	if len(fresh) > 0 {
		r.report.say("  new: %s", words.List(fresh, shown))
	}
	if len(idle) > 0 {
		r.report.say("NOTE: %s of %s not taken: %s", words.Count(len(idle), "token"), path, words.List(idle, shown))
	}
	return built, nil
}

// tokensBeside are the tokens that one vocabulary has and another has not, in quotes.
func tokensBeside(one, other text.Tokenizer) (list []string) {
	for id, row := range rowsIn(one, other) {
		if row < 0 {
			list = append(list, strconv.Quote(one.Token(int32(id))))
		}
	}
	return list
}

// startedFromModel says whether the run began with the weights of a model, whose vocabulary it may have.
func (l *ledger) startedFromModel() bool {
	var then struct {
		InitFrom string `json:"init_from"` // of checkpoints that don't name the source by itself
	}
	return l.state.Source != "" || json.Unmarshal(l.state.Config, &then) == nil && then.InitFrom != ""
}

// startWeights are those of the model that init_from names, or drawn from the seed.
func (l *ledger) startWeights(u *update.Updater) error {
	if err := l.memory.replica.Initialize(l.cfg.Run.Seed); err != nil {
		return err
	}
	path := l.cfg.Run.InitFrom
	if path == "" {
		l.warnOfFrozen("the seed", l.memory.parameters)
		return nil
	}
	m, err := checkpoint.OpenModel(path)
	if err == nil {
		err = l.take(m)
	}
	if err != nil {
		return fmt.Errorf("init_from: %w", err)
	}
	odd, err := l.memory.replica.Finite()
	if err != nil {
		return err
	}
	if odd != nil {
		return fmt.Errorf("init_from: in %s %v: a network with such weights can't be trained", path, odd)
	}
	l.state.Source = path
	return nil
}

// take takes over the weights of a model: all of them, or with init_partial those that fit. What it doesn't give stays
// as it was drawn.
func (l *ledger) take(m *checkpoint.Model) error {
	var rows []int
	if l.source != nil {
		rows = rowsIn(l.state.Vocabulary, l.source.Vocabulary)
	}
	shapes := m.Shapes()
	var fitting []checkpoint.Tensor
	var drawn []model.Parameter
	list := l.memory.weights()
	for i, p := range l.memory.parameters {
		t := &list[i]
		if p.Vocab && rows != nil {
			t.Shape = append([]int{l.source.Vocabulary.Size()}, p.Shape[1:]...)
			t.Load = func(r io.Reader) error { return l.takeRows(p, rows, r) }
		}
		if shape, there := shapes[p.Name]; there && slices.Equal(shape, t.Shape) {
			fitting = append(fitting, *t)
		} else {
			drawn = append(drawn, p)
		}
	}
	if !l.cfg.Run.InitPartial {
		var misfit *checkpoint.TensorsError
		err := m.LoadWeights(list)
		if errors.As(err, &misfit) {
			err = fmt.Errorf("%w\ngive the settings that it was trained with, or take what fits of it with --init_partial", err)
		}
		if err == nil {
			l.report.say("weights from %s", l.cfg.Run.InitFrom)
			l.warnOfNewRows()
		}
		return err
	}
	if len(fitting) == 0 {
		return fmt.Errorf("%s: not one of its tensors has the name and the shape of one of this network's: nothing can be taken from it", m.Path)
	}
	if err := m.LoadSome(fitting); err != nil {
		return err
	}
	l.sayTaken(shapes, drawn)
	l.warnOfNewRows()
	l.warnOfFrozen("the seed, as "+l.cfg.Run.InitFrom+" doesn't have them in this shape", drawn)
	return nil
}

// rowsIn says where the entries of one vocabulary stand in another: -1 for those that it lacks.
func rowsIn(now, then text.Tokenizer) []int {
	at := map[string]int{}
	for id := range then.Size() {
		at[then.Token(int32(id))] = id
	}
	rows := make([]int, now.Size())
	for id := range rows {
		rows[id] = -1
		if old, ok := at[now.Token(int32(id))]; ok {
			rows[id] = old
		}
	}
	return rows
}

// takeRows reads a parameter of another vocabulary, and puts its rows where their entries stand now.
func (l *ledger) takeRows(p model.Parameter, rows []int, r io.Reader) error {
	var now bytes.Buffer
	if err := l.memory.replica.Export(engine.Weights, p.Name, &now); err != nil {
		return err
	}
	then, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	width := now.Len() / len(rows)
	for to, from := range rows {
		if from >= 0 {
			copy(now.Bytes()[to*width:][:width], then[from*width:])
		}
	}
	return l.memory.replica.Import(engine.Weights, p.Name, &now)
}

// sayTaken says which parts of the network come from the model and which are drawn, and why.
func (l *ledger) sayTaken(shapes map[string][]int, drawn []model.Parameter) {
	all := l.memory.parameters
	is := func(list []model.Parameter, p model.Parameter) bool {
		return slices.ContainsFunc(list, func(x model.Parameter) bool { return x.Name == p.Name })
	}
	say := func(what string, belongs func(model.Parameter) bool) {
		if list := grouped(all, belongs); len(list) > 0 {
			l.report.say("  %s: %s", what, strings.Join(list, ", "))
		}
	}
	l.report.say("weights from %s, %d of %d parameters:", l.cfg.Run.InitFrom, size(all)-size(drawn), size(all))
	say("taken", func(p model.Parameter) bool { return !is(drawn, p) })
	there := func(p model.Parameter) bool { _, ok := shapes[p.Name]; return ok }
	say("drawn, of another shape there", func(p model.Parameter) bool { return is(drawn, p) && there(p) })
	say("drawn, not there", func(p model.Parameter) bool { return is(drawn, p) && !there(p) })
	var unused []model.Parameter
	for name := range shapes {
		if !is(all, model.Parameter{Name: name}) {
			unused = append(unused, model.Parameter{Name: name})
		}
	}
	slices.SortFunc(unused, func(a, b model.Parameter) int { return inOrder(a.Name, b.Name) })
	if len(unused) > 0 {
		left := append(slices.Clone(all), unused...)
		l.report.say("  left: %s", strings.Join(grouped(left, func(p model.Parameter) bool { return is(unused, p) }), ", "))
	}
}

// warnOfNewRows warns of new entries of the vocabulary that can't be learned.
func (l *ledger) warnOfNewRows() {
	if l.source == nil {
		return
	}
	fresh := tokensBeside(l.state.Vocabulary, l.source.Vocabulary)
	frozen := grouped(l.memory.parameters, func(p model.Parameter) bool { return p.Vocab && l.cfg.Tuning().Frozen(p.Name) })
	if len(fresh) > 0 && len(frozen) > 0 {
		l.report.say("WARNING: the rows of %s in %s are drawn and frozen, so they are never learned: take these out of freeze",
			words.Count(len(fresh), "new character"), words.List(frozen, 5))
	}
}

// warnOfFrozen warns of parameters that are drawn and stay so.
func (l *ledger) warnOfFrozen(from string, drawn []model.Parameter) {
	t := l.cfg.Tuning()
	frozen := grouped(l.memory.parameters, func(p model.Parameter) bool {
		return t.Frozen(p.Name) && slices.ContainsFunc(drawn, func(x model.Parameter) bool { return x.Name == p.Name })
	})
	if len(frozen) > 0 {
		l.report.say("WARNING: freeze keeps %s as drawn from %s: they are never learned", words.List(frozen, 5), from)
	}
}
