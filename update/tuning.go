package update

import (
	"fmt"

	"konkanitrain/engine"
	"konkanitrain/internal/patterns"
	"konkanitrain/model"
)

// Tuning says which parameters of a network learn, how fast, and whether averages of them are kept, by patterns of
// their names. The zero Tuning has all learn alike.
type Tuning struct {
	Freeze   []string       // patterns of parameters that stay as they are: no gradient, no moments, no decay
	Scales   patterns.Rules // factors of the learning rate; weight decay is a share of the rate, and scaled with it
	Decays   patterns.Rules // weight decays in place of the general one; biases and norms have none in any case
	Averages bool           // there are exponential moving averages of what learns
}

// ParseScales reads factors of the learning rate, each PATTERN=FACTOR with a factor above 0.
func ParseScales(list []string) (patterns.Rules, error) {
	rules, err := patterns.Parse("lr_scale", "factor", "encoder=0.1", list)
	for i, r := range rules {
		if r.Value == 0 {
			return nil, fmt.Errorf("lr_scale %q: with a rate of 0 nothing is learned: --freeze %s says so, and saves time and memory", list[i], r.Pattern)
		}
		if r.Value < 0 {
			return nil, fmt.Errorf("lr_scale %q: the factor is %g, want a number above 0", list[i], r.Value)
		}
	}
	return rules, err
}

// ParseDecays reads weight decays, each PATTERN=DECAY with a decay of 0 or more and below 1.
func ParseDecays(list []string) (patterns.Rules, error) {
	rules, err := patterns.Parse("weight_decay_of", "decay", "decoder=0.01", list)
	for i, r := range rules {
		if !(r.Value >= 0 && r.Value < 1) {
			return nil, fmt.Errorf("weight_decay_of %q: the decay is %g, want 0 or more and below 1", list[i], r.Value)
		}
	}
	return rules, err
}

// Frozen says whether the parameter of this name stays as it is.
func (t Tuning) Frozen(name string) bool {
	for _, pattern := range t.Freeze {
		if patterns.Match(pattern, name) {
			return true
		}
	}
	return false
}

// Scale is the factor of the learning rate for the parameter of this name.
func (t Tuning) Scale(name string) float64 {
	if factor, ok := t.Scales.Of(name); ok {
		return factor
	}
	return 1
}

// Decay is the own weight decay of the parameter of this name, if it has one.
func (t Tuning) Decay(name string) engine.OwnDecay {
	value, ok := t.Decays.Of(name)
	return engine.OwnDecay{Set: ok, Value: value}
}

// Learned are those of parameters that are not frozen.
func (t Tuning) Learned(parameters []model.Parameter) (learned []model.Parameter) {
	for _, p := range parameters {
		if !t.Frozen(p.Name) {
			learned = append(learned, p)
		}
	}
	return learned
}
