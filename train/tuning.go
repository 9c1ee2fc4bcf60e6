package train

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"konkanitrain/internal/settings"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/update"
)

// Tuning says which parameters are trained, how fast, and whether their averages are kept.
func (c Config) Tuning() update.Tuning {
	scales, _ := update.ParseScales(c.Optimizer.LRScale) // Validate has looked at them
	return update.Tuning{Freeze: c.Optimizer.Freeze, Scales: scales, Averages: c.Optimizer.EMADecay > 0}
}

// tuningRules hold freeze and lr_scale to the parameters of the network.
func (c Config) tuningRules(p *settings.Problems) {
	o := c.Optimizer
	scales, err := update.ParseScales(o.LRScale)
	p.Add(settings.About("lr_scale", err))
	network := c.Network(max(c.Model.VocabSize, 3))
	if len(o.Freeze)+len(scales) == 0 || network.Validate() != nil {
		return
	}
	parameters := model.Parameters(network)
	frozen := update.Tuning{Freeze: o.Freeze}
	for _, prefix := range o.Freeze {
		p.Add(settings.About("freeze", checkPrefix("freeze", prefix, parameters)))
	}
	p.Require(len(frozen.Learned(parameters)) > 0, "freeze", "freeze %s is the whole network: nothing is left to learn", strings.Join(o.Freeze, ","))
	for _, s := range scales {
		if err := checkPrefix("lr_scale", s.Prefix, parameters); err != nil {
			p.Add(settings.About("lr_scale", err))
			continue
		}
		learned := slices.ContainsFunc(frozen.Learned(parameters), func(x model.Parameter) bool { return update.Begins(x.Name, s.Prefix) })
		p.Require(learned, "lr_scale freeze", "lr_scale is for %s, and freeze %s leaves nothing of that to learn: leave one of them out",
			s.Prefix, strings.Join(o.Freeze, ","))
		p.Require(o.LearningRate*s.Factor <= 1, "lr_scale learning_rate", "learning_rate %g times lr_scale %g, for %s, is %g: want at most 1",
			o.LearningRate, s.Factor, s.Prefix, o.LearningRate*s.Factor)
	}
}

// checkPrefix refuses a prefix that no parameter has, and says which there are where the two part.
func checkPrefix(key, prefix string, parameters []model.Parameter) error {
	if slices.ContainsFunc(parameters, func(p model.Parameter) bool { return update.Begins(p.Name, prefix) }) {
		return nil
	}
	parent, rest := "", prefix
	for {
		children := childrenOf(parent, parameters)
		first, later, _ := strings.Cut(rest, ".")
		if slices.Contains(children, first) {
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
			return fmt.Errorf("%s %q: no parameter's name begins so: %s is one, without parts", key, prefix, parent)
		}
		return fmt.Errorf("%s %q: no parameter's name begins so: %s %s%s", key, prefix, in, strings.Join(ranges(children), ", "), hint)
	}
}

// sayTuning says what of the network doesn't learn, or learns at another rate.
func (r *run) sayTuning() {
	t, parameters := r.cfg.Tuning(), model.Parameters(r.net)
	if len(t.Freeze) > 0 {
		r.report.say("frozen: %s: %d of %d parameters learn", words.List(grouped(parameters, func(p model.Parameter) bool { return t.Frozen(p.Name) }), 20),
			size(t.Learned(parameters)), size(parameters))
	}
	byScale := map[float64][]string{}
	for _, p := range parameters {
		if s := t.Scale(p.Name); s != 1 && !t.Frozen(p.Name) {
			byScale[s] = nil
		}
	}
	for _, s := range slices.Sorted(maps.Keys(byScale)) {
		r.report.say("learning_rate times %g: %s", s,
			words.List(grouped(parameters, func(p model.Parameter) bool { return t.Scale(p.Name) == s && !t.Frozen(p.Name) }), 20))
	}
}

// size is the number of elements of parameters.
func size(parameters []model.Parameter) (n int) {
	for _, p := range parameters {
		n += p.Size()
	}
	return n
}
