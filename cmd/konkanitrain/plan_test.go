package main

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table in the guide to memory is what the command above it prints.
func TestGuideCompares(t *testing.T) {
	t.Chdir("../..")
	guide, err := os.ReadFile("docs/memory.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`(?m)^konkanitrain (plan --compare .*)$`).FindSubmatch(guide)
	if command == nil {
		t.Fatal("docs/memory.md has no line konkanitrain plan --compare ...")
	}
	code, table, stderr := runHere(strings.Fields(string(command[1]))...)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if !strings.Contains(string(guide), "\n"+table) {
		t.Errorf("docs/memory.md doesn't have this table:\n%s", table)
	}
}

// The keys of a plan as JSON are these, whatever comes out, and each is explained.
func TestPlanKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	network := []string{
		"plan", "--json", "--seconds", "1", "--d_model", "8", "--heads", "1", "--encoder_layers", "1", "--decoder_layers", "0", "--subsample_channels", "2",
		"--num_mels", "8", "--freq_width", "2", "--speeds", "0.9", "--batch_size", "2", "--card", "t4", "--memory",
	}
	want := strings.Fields(`activations advice all arena as_set averages batch_size beside bytes calls card choice ctc decoder eager_seconds encoder estimates
		file fitted flops fp16 frames gradients id launches learned left_out limit limit_from line longest max_bytes max_rows moments name next_bytes not_counted op ops parameters passes peak purpose
		recompute repeated rows seconds shapes subsampling target times title tokens total variety verdict vocabulary ways weights what window workers`)
	found := map[string]bool{}
	for memory, verdict := range map[string]string{"1GiB": "fits", "150KiB": "fitted", "1KiB": "does not fit"} {
		_, out, stderr := runHere(append(network, memory)...)
		var plan map[string]any
		if err := json.Unmarshal([]byte(out), &plan); err != nil || plan["verdict"] != verdict {
			t.Fatalf("%s: %v, %v\n%s", memory, err, plan["verdict"], stderr)
		}
		collect(plan, found)
	}
	got := slices.Sorted(maps.Keys(found))
	if !slices.Equal(got, want) {
		t.Errorf("the keys are\n%q, want\n%q", got, want)
	}
	_, help, _ := runHere("help", "plan")
	for _, key := range got {
		if !regexp.MustCompile(`\b` + key + `\b`).MatchString(help) {
			t.Errorf("%s is not in the help", key)
		}
	}
}

// collect notes the keys of all objects in a JSON value.
func collect(value any, keys map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for k, inner := range v {
			keys[k] = true
			collect(inner, keys)
		}
	case []any:
		for _, inner := range v {
			collect(inner, keys)
		}
	}
}
