package train

import (
	"bytes"
	"testing"
)

func TestDefaultIsValid(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Error(err)
	}
}

// Every problem is in one message.
func TestValidateListsEverything(t *testing.T) {
	c := Default()
	c.Model.Heads, c.Model.CTCWeight, c.Optimizer.BatchSize, c.Optimizer.GradAccum = 5, 1.5, 0, 0
	c.Optimizer.LearningRate, c.Optimizer.WarmupUpdates, c.Data.Normalize, c.Data.NumMels = -1, 0, "global", 0
	c.Data.Speeds, c.Data.MaxDuration, c.Data.MinDuration = nil, 1, 2
	c.Run.Resume, c.Run.InitFrom, c.Run.EarlyStop, c.Run.Device = "auto", "x", 3, "tpu"
	err := c.Validate()
	if err == nil {
		t.Fatal("it was accepted")
	}
	mustContain(t, err.Error(), "heads 5 does not divide d_model 192", "ctc_weight is 1.5", "batch_size is 0", "grad_accum is 0",
		"learning_rate is -1", "warmup_updates is 0", "speeds is empty", "max_duration 1 s is not above min_duration 2 s",
		"resume and init_from are both set", "early_stop is 3, but there is no val_manifest", `device is "tpu"`, "mel")
	mustContainOnce(t, err.Error(), "num_mels is 0")
}

// The utterances of an update are counted, and that doesn't overflow.
func TestValidateWindow(t *testing.T) {
	for _, size := range [][2]int{{1 << 17, 1}, {1, 1 << 17}, {300, 300}, {1 << 40, 1 << 40}} {
		c := Default()
		c.Optimizer.BatchSize, c.Optimizer.GradAccum = size[0], size[1]
		if err := c.Validate(); err == nil {
			t.Errorf("%d x %d was accepted", size[0], size[1])
		} else {
			mustContain(t, err.Error(), "utterances in an update")
		}
	}
}

// What was saved comes back, and a key that this version doesn't know is refused.
func TestSettingsThereAndBack(t *testing.T) {
	c := tiny(t, "x.jsonl")
	c.Data.PathMap, c.Run.Seed = []string{"a=b", "c:\\d=e"}, 1<<64-1
	saved, err := c.settings()
	if err != nil {
		t.Fatal(err)
	}
	back, err := fromSettings(saved)
	if err != nil {
		t.Fatal(err)
	}
	again, err := back.settings()
	if err != nil || !bytes.Equal(saved, again) {
		t.Errorf("%s\n%s %v", saved, again, err)
	}
	if _, err := fromSettings([]byte(`{"d_model": 16, "magic": true}`)); err == nil {
		t.Error("an unknown key was accepted")
	} else {
		mustContain(t, err.Error(), "magic")
	}
}

// A profile of some updates is printed, and nothing is saved.
func TestProfile(t *testing.T) {
	cfg := tiny(t, speak(t, babble(4, 4, 1)...))
	cfg.Run.ProfileSteps = 2
	var said bytes.Buffer
	result, err := Run(t.Context(), cfg, &said)
	if err != nil || result.Updates != 2 || result.Checkpoint != "" {
		t.Fatalf("%+v, %v", result, err)
	}
	mustContain(t, said.String(), "attention", "linear")
}
