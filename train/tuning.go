package train

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"konkanitrain/internal/patterns"
	"konkanitrain/internal/settings"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/update"
)

// Tuning says which parameters are trained, how fast, and whether their averages are kept.
func (c Config) Tuning() update.Tuning {
	scales, _ := update.ParseScales(c.Optimizer.LRScale) // Validate has looked at them
	decays, _ := update.ParseDecays(c.Optimizer.WeightDecayOf)
	return update.Tuning{Freeze: c.Optimizer.Freeze, Scales: scales, Decays: decays, Averages: c.Optimizer.EMADecay > 0}
}

// tuningRules hold what is set for parts of the network to the parts that there are.
func (c Config) tuningRules(p *settings.Problems) {
	o := c.Optimizer
	scales, err := update.ParseScales(o.LRScale)
	p.Add(settings.About("lr_scale", err))
	decays, err := update.ParseDecays(o.WeightDecayOf)
	p.Add(settings.About("weight_decay_of", err))
	network := c.Network(max(c.Model.VocabSize, 3))
	if len(o.Freeze)+len(scales)+len(decays)+len(network.DropoutOf) == 0 || network.Validate() != nil {
		return
	}
	parameters := model.Parameters(network)
	frozen := update.Tuning{Freeze: o.Freeze}
	for _, pattern := range o.Freeze {
		p.Add(settings.About("freeze", checkPattern("freeze", pattern, parameterName, namesOf(parameters))))
	}
	p.Require(len(frozen.Learned(parameters)) > 0, "freeze", "freeze %s is the whole network: nothing is left to learn", strings.Join(o.Freeze, ","))
	// of refuses a rule for no parameter, or for none that belongs among those that learn.
	of := func(key string, r patterns.Rule, what string, belongs func(model.Parameter) bool) {
		if err := checkPattern(key, r.Pattern, parameterName, namesOf(parameters)); err != nil {
			p.Add(settings.About(key, err))
			return
		}
		matched := func(x model.Parameter) bool { return patterns.Match(r.Pattern, x.Name) && belongs(x) }
		p.Require(slices.ContainsFunc(parameters, matched), key, "%s is for %s, of which nothing %s", key, r.Pattern, what)
		p.Require(!slices.ContainsFunc(parameters, matched) || slices.ContainsFunc(frozen.Learned(parameters), matched), key+" freeze",
			"%s is for %s, and freeze %s leaves nothing of that to learn: leave one of them out", key, r.Pattern, strings.Join(o.Freeze, ","))
	}
	for _, s := range scales {
		of("lr_scale", s, "learns", func(model.Parameter) bool { return true })
		p.Require(o.LearningRate*s.Value <= 1, "lr_scale learning_rate", "learning_rate %g times lr_scale %g, for %s, is %g: want at most 1",
			o.LearningRate, s.Value, s.Pattern, o.LearningRate*s.Value)
	}
	for _, d := range decays {
		of("weight_decay_of", d, "decays: biases and norms never do", func(x model.Parameter) bool { return x.Decay })
	}
	p.Add(settings.About("dropout_of", checkDropout(network)))
}

// checkDropout refuses rules for places without dropout.
func checkDropout(network model.Config) error {
	rules, err := patterns.Parse("dropout_of", "share", "", network.DropoutOf)
	if err != nil || len(rules) == 0 {
		return err
	}
	sites, err := model.DropoutSites(network)
	if err != nil {
		return err
	}
	var names []string
	for _, s := range sites {
		names = append(names, s.Name)
	}
	var problems []error
	for _, r := range rules {
		problems = append(problems, checkPattern("dropout_of", r.Pattern, "no name of a dropout", names))
	}
	return errors.Join(problems...)
}

// parameterName is what a pattern matches none of, for checkPattern.
const parameterName = "no parameter's name"

// checkPattern refuses a pattern that none of the names begins with, and says which there are where the two part.
func checkPattern(key, pattern, none string, names []string) error {
	if slices.ContainsFunc(names, func(name string) bool { return patterns.Match(pattern, name) }) {
		return nil
	}
	parent, rest := "", pattern
	for {
		children := childrenOf(parent, names)
		first, later, _ := strings.Cut(rest, ".")
		if slices.Contains(children, first) || first == "*" && len(children) > 0 {
			parent, rest = joined(parent, first), later
			continue
		}
		in := "the network has"
		if parent != "" {
			in = parent + " has"
		}
		hint := ""
		if near := settings.Nearest(first, children); near != "" {
			hint = fmt.Sprintf(": did you mean %s?", joined(parent, near))
		}
		if len(children) == 0 {
			return fmt.Errorf("%s %q: %s begins so: %s is one, without parts", key, pattern, none, parent)
		}
		return fmt.Errorf("%s %q: %s begins so: %s %s%s", key, pattern, none, in, strings.Join(ranges(children), ", "), hint)
	}
}

// sayTuning says what of the network doesn't learn, or learns otherwise than the rest.
func (r *run) sayTuning() error {
	t, parameters := r.cfg.Tuning(), model.Parameters(r.net)
	if idle := slices.DeleteFunc(t.Learned(parameters), func(p model.Parameter) bool { return !patterns.Match("decoder", p.Name) }); len(idle) > 0 && r.net.CTCWeight == 1 {
		r.report.say("WARNING: ctc_weight is 1: the decoder has no share in the loss, so its %d parameters take time and memory and learn nothing; "+
			"decoder_layers 0 leaves it out", size(idle))
	}
	if len(t.Freeze) > 0 {
		r.report.say("frozen: %s: %d of %d parameters learn", words.List(grouped(parameters, func(p model.Parameter) bool { return t.Frozen(p.Name) }), 20),
			size(t.Learned(parameters)), size(parameters))
	}
	r.sayParts("learning_rate times", parameters, func(p model.Parameter) (float64, bool) {
		s := t.Scale(p.Name)
		return s, s != 1 && !t.Frozen(p.Name)
	})
	r.sayParts("weight_decay", parameters, func(p model.Parameter) (float64, bool) {
		d := t.Decay(p.Name)
		return d.Value, d.Set && !t.Frozen(p.Name)
	})
	if len(r.net.DropoutOf) == 0 {
		return nil
	}
	sites, err := model.DropoutSites(r.net)
	if err != nil {
		return err
	}
	var places []model.Parameter // named as parameters are
	shares := map[string]float64{}
	for _, s := range sites {
		places = append(places, model.Parameter{Name: s.Name})
		shares[s.Name] = s.P
	}
	r.sayParts("dropout", places, func(p model.Parameter) (float64, bool) { return shares[p.Name], shares[p.Name] != r.net.Dropout })
	return nil
}

// sayParts says, value by value, which parts of the network have one of their own.
func (r *run) sayParts(what string, parts []model.Parameter, own func(model.Parameter) (value float64, ok bool)) {
	values := map[float64]bool{}
	for _, p := range parts {
		if v, ok := own(p); ok {
			values[v] = true
		}
	}
	for _, v := range slices.Sorted(maps.Keys(values)) {
		belongs := func(p model.Parameter) bool {
			of, ok := own(p)
			return ok && of == v
		}
		r.report.say("%s %g: %s", what, v, words.List(grouped(parts, belongs), 20))
	}
}

// size is the number of elements of parameters.
func size(parameters []model.Parameter) (n int) {
	for _, p := range parameters {
		n += p.Size()
	}
	return n
}
