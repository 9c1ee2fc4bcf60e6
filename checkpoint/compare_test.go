package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"konkanitrain/internal/testkit"
)

// many is a vocabulary of n entries.
func many(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("<%d>", i))
	}
	return list
}

func TestCompare(t *testing.T) {
	swapped := many(81)
	swapped[7], swapped[9] = swapped[9], swapped[7]
	type m = map[string]any
	for _, c := range []struct {
		name           string
		saved, current any
		want           []Difference
	}{
		{"equal", m{"a": 1, "b": m{"c": []int{1}}}, m{"b": m{"c": []float64{1.0}}, "a": 1.0}, nil},
		{"a struct against its JSON", theState(3), json.RawMessage(`{"best": 2.5e-1, "settings": {"vocabulary": ["<blank>", "क", "<sos/eos>"], "d_model": 128}}`), nil},
		{"architecture", m{"d_model": 128, "encoder_layers": 6, "heads": 4}, m{"d_model": 192, "encoder_layers": 8, "heads": 4},
			[]Difference{{"d_model", "128", "192"}, {"encoder_layers", "6", "8"}}},
		{"levels", m{"a": m{"x": "p", "y": true}}, m{"a": m{"x": "q", "y": false}}, []Difference{{"a.x", `"p"`, `"q"`}, {"a.y", "true", "false"}}},
		{"missing", m{"a": 1, "n": m{"x": 1, "y": 2}}, m{"b": nil}, []Difference{{"a", "1", "not set"}, {"b", "not set", "null"}, {"n.x", "1", "not set"}, {"n.y", "2", "not set"}}},
		{"new level", m{}, m{"n": m{"x": 1}}, []Difference{{"n.x", "not set", "1"}}},
		{"kind", m{"a": m{"x": 1}}, m{"a": "<x>"}, []Difference{{"a", `{"x":1}`, `"<x>"`}}},
		{"sizes of vocabularies", m{"v": many(81)}, m{"v": many(193)}, []Difference{{"v", "81 entries", "193 entries"}}},
		{"order of vocabularies", m{"v": many(81)}, m{"v": swapped}, []Difference{{"v", `entry 7 is "<7>"`, `"<9>" (2 of 81 entries differ)`}}},
		{"short lists", m{"v": []int{1, 2}}, m{"v": []int{2, 1}}, []Difference{{"v", "[1,2]", "[2,1]"}}},
		{"large whole numbers", m{"seed": int64(1)<<62 + 1}, m{"seed": int64(1) << 62}, []Difference{{"seed", "4611686018427387905", "4611686018427387904"}}},
		{"objects in lists", m{"v": []m{{"a": 1, "b": 2}}}, m{"v": []m{{"a": 1, "b": 3}}}, []Difference{{"v", `[{"a":1,"b":2}]`, `[{"a":1,"b":3}]`}}},
		{"equal objects in lists", m{"v": []m{{"a": 1}, {}}}, m{"v": []any{m{"a": 1.0}, m{}}}, nil},
		{"kinds in lists", m{"v": []any{m{"a": 1}, []int{1}, 1, nil}}, m{"v": []any{[]int{1}, 1, "1", false}}, []Difference{{"v", `[{"a":1},[1],1,null]`, `[[1],1,"1",false]`}}},
		{"an object against nothing in a list", m{"v": []any{m{}}}, m{"v": []any{nil}}, []Difference{{"v", "[{}]", "[null]"}}},
		{"a list against nothing in a list", m{"v": []any{[]int{}}}, m{"v": []any{nil}}, []Difference{{"v", "[[]]", "[null]"}}},
		{"lists in lists", m{"v": [][]int{{1}, {2, 3}}}, m{"v": [][]int{{1}, {2}}}, []Difference{{"v", "[[1],[2,3]]", "[[1],[2]]"}}},
		{"numbers beyond float64", m{"x": json.RawMessage("1e400")}, m{"x": json.RawMessage("1e500")}, []Difference{{"x", "1e400", "1e500"}}},
		{"one number beyond float64", m{"x": json.RawMessage("1e308")}, m{"x": json.RawMessage("1e309")}, []Difference{{"x", "1e308", "1e309"}}},
		{"a whole number in two spellings", m{"x": json.RawMessage("100")}, m{"x": json.RawMessage("1e2")}, nil},
		{"a long value", m{"x": strings.Repeat("a", 78)}, m{"x": strings.Repeat("a", 79)}, []Difference{{"x", `"` + strings.Repeat("a", 78) + `"`, `"` + strings.Repeat("a", 79) + `...`}}},
		{"cut between letters", m{"x": "a" + strings.Repeat("क", 40)}, m{}, []Difference{{"x", `"a` + strings.Repeat("क", 26) + `...`, "not set"}}},
		{"lists of 160 bytes", m{"v": []string{strings.Repeat("a", 76)}}, m{"v": []string{strings.Repeat("b", 76)}},
			[]Difference{{"v", `["` + strings.Repeat("a", 76) + `"]`, `["` + strings.Repeat("b", 76) + `"]`}}},
		{"lists of 161 bytes", m{"v": []string{strings.Repeat("a", 76)}}, m{"v": []string{strings.Repeat("b", 77)}},
			[]Difference{{"v", `entry 0 is "` + strings.Repeat("a", 76) + `"`, `"` + strings.Repeat("b", 77) + `" (1 of 1 entries differ)`}}},
		{"a long list against a number", m{"v": many(81)}, m{"v": 1}, []Difference{{"v", `["<0>","<1>","<2>","<3>","<4>","<5>","<6>","<7>","<8>","<9>","<10>","<11>","<12>...`, "1"}}},
		{"an object against another kind at the top", m{"a": 1}, 1, []Difference{{"settings", `{"a":1}`, "1"}}},
		{"not maps", 1, "1", []Difference{{"settings", "1", `"1"`}}},
	} {
		err := Compare(c.saved, c.current)
		var e *SettingsError
		if c.want == nil {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		} else if !errors.As(err, &e) {
			t.Errorf("%s: got %v", c.name, err)
		} else if diff := cmp.Diff(c.want, e.Differences); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	if err := Compare(math.NaN(), 1); err == nil || !contains(err.Error(), "the checkpoint's settings: ") {
		t.Error("NaN is no setting:", err)
	}
	if err := Compare(1, math.NaN()); err == nil || !contains(err.Error(), "the present settings: ") {
		t.Error("NaN is no setting:", err)
	}
}

func TestCompareOfTwoConfigurations(t *testing.T) {
	read := func(name string) (m map[string]any) {
		text, err := os.ReadFile(filepath.Join(testkit.Shared(t), "cases", "configs", name))
		if err == nil {
			err = yaml.Unmarshal(text, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	want := "the settings differ (checkpoint / now):\n  d_model: 128 / 192\n  decoder_layers: 3 / 4\n  encoder_layers: 6 / 8"
	if err := Compare(read("save_minimal.yaml"), read("resume_other.yaml")); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
