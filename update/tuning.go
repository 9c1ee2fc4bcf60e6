package update

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"konkanitrain/model"
)

// Tuning says which parameters of a network learn, how fast, and whether averages of them are kept. Parameters are
// named by prefixes: a prefix is a name, or what of it comes before a dot. The zero Tuning has all learn alike.
type Tuning struct {
	Freeze   []string // prefixes of parameters that stay as they are: no gradient, no moments, no decay
	Scales   []Scale  // of learning rates; where several fit a parameter, the one of the longest prefix holds
	Averages bool     // there are exponential moving averages of what learns
}

// Scale is the factor of the learning rate for the parameters with a prefix. Weight decay is a share of the rate, and
// scaled with it.
type Scale struct {
	Prefix string
	Factor float64
}

// ParseScales reads scales, each PREFIX=FACTOR with a factor above 0.
func ParseScales(list []string) (scales []Scale, err error) {
	for _, text := range list {
		prefix, factor, ok := strings.Cut(text, "=")
		f, wrong := strconv.ParseFloat(factor, 64)
		switch {
		case !ok || prefix == "":
			return nil, fmt.Errorf("lr_scale %q: write PREFIX=FACTOR, such as encoder=0.1", text)
		case wrong != nil || math.IsInf(f, 0) || !(f >= 0):
			return nil, fmt.Errorf("lr_scale %q: %q is no factor: want a number above 0", text, factor)
		case f == 0:
			return nil, fmt.Errorf("lr_scale %q: with a rate of 0 nothing is learned: --freeze %s says so, and saves time and memory", text, prefix)
		}
		for _, s := range scales {
			if s.Prefix == prefix && s.Factor != f {
				return nil, fmt.Errorf("lr_scale gives %s two factors, %g and %g: give one", prefix, s.Factor, f)
			}
		}
		scales = append(scales, Scale{prefix, f})
	}
	return scales, nil
}

// Begins says whether a parameter's name begins with prefix, up to its end or to a dot.
func Begins(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	return ok && prefix != "" && (rest == "" || rest[0] == '.')
}

// Frozen says whether the parameter of this name stays as it is.
func (t Tuning) Frozen(name string) bool {
	for _, prefix := range t.Freeze {
		if Begins(name, prefix) {
			return true
		}
	}
	return false
}

// Scale is the factor of the learning rate for the parameter of this name.
func (t Tuning) Scale(name string) float64 {
	longest := Scale{Factor: 1}
	for _, s := range t.Scales {
		if Begins(name, s.Prefix) && len(s.Prefix) > len(longest.Prefix) {
			longest = s
		}
	}
	return longest.Factor
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
