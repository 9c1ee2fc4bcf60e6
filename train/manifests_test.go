package train

import (
	"encoding/json"
	"slices"
	"testing"

	"konkanitrain/checkpoint"
)

// A checkpoint of when each set was one manifest is of the same run as one list of it, and not of another list.
func TestManifestsThatWereOneText(t *testing.T) {
	now := Default()
	now.Data.TrainManifest = []string{"a.jsonl"}
	current, err := now.settings()
	if err != nil {
		t.Fatal(err)
	}
	var saved map[string]json.RawMessage
	if err := json.Unmarshal(current, &saved); err != nil {
		t.Fatal(err)
	}
	saved["train_manifest"], saved["val_manifest"] = json.RawMessage(`"a.jsonl"`), json.RawMessage(`""`)
	old, err := json.Marshal(saved)
	if err != nil {
		t.Fatal(err)
	}
	if changed, _, err := sameRun(old, now); err != nil || len(changed) != 0 {
		t.Errorf("%v, %v", changed, err)
	}
	now.Data.TrainManifest = []string{"a.jsonl", "b.jsonl:2"}
	changed, _, err := sameRun(old, now)
	if err != nil || len(changed) != 1 || !slices.ContainsFunc(changed, func(d checkpoint.Difference) bool { return d.Key == "train_manifest" }) {
		t.Errorf("%v, %v", changed, err)
	}
}

// Weights are part of what the order of a set depends on; a single manifest is what it was before there were any.
func TestSetIdentityKnowsWeights(t *testing.T) {
	a, b := speak(t, babble(6, 3, 1)...), speak(t, babble(5, 3, 2)...)
	hash := func(paths ...string) string {
		set, err := loadManifests(t.Context(), paths, Default(), true, "")
		if err != nil {
			t.Fatal(err)
		}
		_, h := setIdentity(set)
		return h
	}
	one, two, weighted := hash(a), hash(a, b), hash(a, b+":2")
	if one != hash(a, "") || one == two || two == weighted || weighted != hash(a, b+":2") {
		t.Errorf("%s, %s, %s", one, two, weighted)
	}
	if _, err := loadManifests(t.Context(), []string{a + ":2"}, Default(), false, ""); err == nil {
		t.Error("scores with a weight")
	}
}
