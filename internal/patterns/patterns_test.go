package patterns

import (
	"slices"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	const name = "encoder.blocks.10.attn.query.weight"
	for pattern, want := range map[string]bool{
		"encoder": true, "encoder.blocks": true, "encoder.blocks.10": true, name: true,
		"encoder.blocks.*.attn": true, "*": true, "*.*.*.*.query": true, "encoder.*.10.attn.*.weight": true,
		"": false, ".": false, "enc": false, "encoder.": false, "encoder.blocks.1": false, "encoder.blocks.*.conv": false,
		"*.10": false, name + ".x": false, name + ".*": false, "encoder.bl*": false, "encoder..10": false,
	} {
		if Match(pattern, name) != want {
			t.Errorf("%q matches %s: %v, want %v", pattern, name, !want, want)
		}
	}
}

// The rule that says most holds, in whatever order they are given.
func TestRules(t *testing.T) {
	rules := Rules{
		{"encoder", 1}, {"encoder.blocks.*.attn", 2}, {"encoder.blocks.0.*", 3}, {"encoder.blocks.0.attn.query", 4}, {"*.embed", 5}, {"decoder.*", 6},
		{"*.blocks.1.attn", 7},
	}
	for range len(rules) {
		rules = append(rules[1:], rules[0])
		for name, want := range map[string]float64{
			"encoder.subsample.proj": 1, "encoder.blocks.7.attn.out": 2, "encoder.blocks.0.ffn1.up": 3, "encoder.blocks.0.attn.out": 3,
			"encoder.blocks.0.attn.query.bias": 4, "decoder.embed": 6, "decoder.norm": 6, "encoder.blocks.1.attn.out": 2,
		} {
			if got, ok := rules.Of(name); !ok || got != want {
				t.Errorf("%v: the value of %s is %g, want %g", rules, name, got, want)
			}
		}
		for _, name := range []string{"ctc.weight", "decoder", "encoders"} {
			if got, ok := rules.Of(name); ok {
				t.Errorf("%v: %s has the value %g", rules, name, got)
			}
		}
	}
}

func TestParse(t *testing.T) {
	got, err := Parse("key", "factor", "a=1", []string{"encoder=0.1", "encoder.*.ffn1=1e-3", "encoder=0.1", "a=0", "b=-2"})
	if want := (Rules{{"encoder", 0.1}, {"encoder.*.ffn1", 1e-3}, {"encoder", 0.1}, {"a", 0}, {"b", -2}}); err != nil || !slices.Equal(got, want) {
		t.Errorf("rules are %v, %v, want %v", got, err, want)
	}
	for text, says := range map[string]string{
		"encoder": `key "encoder": write PATTERN=FACTOR, such as a=1`, "=1": "write PATTERN=FACTOR", "a=": `"" is no factor`, "a=x": `"x" is no factor`,
		"a=nan": "no factor", "a=inf": "no factor", "a=1e999": "no factor", "encoder=0.2": "key gives encoder two values, 0.1 and 0.2: give one",
	} {
		if _, err := Parse("key", "factor", "a=1", []string{"encoder=0.1", text}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: error is %v, want %q", text, err, says)
		}
	}
}
