package train

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/audit"
	"konkanitrain/internal/testkit"
)

// perturbed turns every augmentation on.
func perturbed(c Config, noise string) Config {
	d := &c.Data
	d.SpeedPerturb, d.SpecAugment = true, true
	d.VTLP, d.Pitch, d.TimeShift, d.ReverbShare, d.NoiseShare, d.BandwidthShare, d.Volume = 0.1, 2, 0.05, 0.5, 0.5, 0.3, 12
	d.NoiseManifest = []string{noise}
	return c
}

func mustHear(t *testing.T, cfg Config, n int) *Hearing {
	t.Helper()
	parts, err := LoadForAudit(t.Context(), cfg, cfg.Data.TrainManifest, cfg.Data.ValManifest)
	if err != nil {
		t.Fatal(err)
	}
	h, err := Hear(t.Context(), cfg, parts, n)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

var allChanges = strings.Fields("speed_perturb pitch time_shift reverb_share noise_share bandwidth_share volume vtlp spec_augment")

// What is heard, all together, is what the first epoch of a run is given; each change is there alone, in the order in
// which they are made.
func TestHear(t *testing.T) {
	cfg := perturbed(small(tiny(t, speak(t, babble(7, 4, 1)...))), filepath.Dir(speak(t, babble(3, 4, 5)...)))
	cfg.Data.ValManifest = []string{speak(t, babble(5, 4, 2)...)}
	h := mustHear(t, cfg, 5)
	if len(h.Utterances) != 5 || !slices.Equal(h.On, allChanges) || len(h.Off) > 0 || h.Rate != 16000 || h.Bins != cfg.Data.NumMels {
		t.Fatalf("%d utterances, on %v, off %v, %d Hz, %d bins", len(h.Utterances), h.On, h.Off, h.Rate, h.Bins)
	}
	testkit.MustContain(t, strings.Join(h.Notes, "\n"), "noise: 3 recordings")
	given := map[string][]float32{}
	r := start(t, cfg, nil)
	for _, w := range windows(t, r, r.sets.loader.Windows()) {
		for _, e := range w.Examples {
			given[e.Utt.ID] = e.Features
		}
	}
	for _, u := range h.Utterances {
		var names []string
		for i, v := range u.Versions {
			names = append(names, v.Name)
			first, last := i == 0, i == len(u.Versions)-1
			if silent := v.Name == "vtlp" || v.Name == "spec_augment"; silent != (v.Sound == nil) || len(v.Features) == 0 {
				t.Errorf("%s, %q: %d samples, %d features", u.ID, v.Name, len(v.Sound), len(v.Features))
			}
			if (len(v.Drawn) == 0) != first || !last && len(v.Drawn) > 2 {
				t.Errorf("%s, %q: drawn %q", u.ID, v.Name, v.Drawn)
			}
			if same := slices.Equal(v.Features, u.Versions[0].Features); same != first {
				t.Errorf("%s, %q: the features are those of the utterance as it is: %v", u.ID, v.Name, same)
			}
		}
		if !slices.Equal(names, slices.Concat([]string{""}, allChanges, []string{""})) {
			t.Errorf("%s: versions %q", u.ID, names)
		}
		if got := u.Versions[len(u.Versions)-1]; got.Epoch != 0 || !slices.Equal(got.Features, given[u.ID]) {
			t.Errorf("%s: all together is not what a run is given", u.ID)
		}
	}
	if again := mustHear(t, cfg, 5); again.Utterances[0].ID != h.Utterances[0].ID || !slices.Equal(again.Utterances[4].Versions[3].Sound, h.Utterances[4].Versions[3].Sound) {
		t.Error("the second time it is another one")
	}
	if few := mustHear(t, cfg, 99); len(few.Utterances) != 7 {
		t.Errorf("%d utterances of 7 are heard", len(few.Utterances))
	}
}

// Without augmentation nothing is heard; settings that are off are named, and what can't be read is passed over.
func TestHearLittle(t *testing.T) {
	manifest := speak(t, babble(5, 4, 1)...)
	cfg := plain(small(tiny(t, manifest)))
	if h := mustHear(t, cfg, 3); len(h.Utterances) > 0 || len(h.On) > 0 || !slices.Equal(h.Off, allChanges) {
		t.Errorf("%d utterances, on %v, off %v", len(h.Utterances), h.On, h.Off)
	}
	cfg.Data.Volume, cfg.Data.Normalize = 6, "global"
	parts, err := LoadForAudit(t.Context(), cfg, cfg.Data.TrainManifest, nil)
	if err != nil {
		t.Fatal(err)
	}
	spoil(t, manifest, "000.wav", "001.wav", "003.wav")
	h, err := Hear(t.Context(), cfg, parts, 3)
	if err != nil || len(h.Utterances) != 2 || !slices.Equal(h.On, []string{"volume"}) || len(h.Utterances[0].Versions) != 3 {
		t.Errorf("%+v, %v", h, err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("enough"))
	_, err = Hear(ctx, cfg, parts, 3)
	testkit.MustFail(t, err, "enough")
	cfg.Data.NoiseShare, cfg.Data.NoiseManifest = 1, []string{"nowhere"}
	_, err = Hear(t.Context(), cfg, parts, 3)
	testkit.MustFail(t, err, "noise_manifest: ")
	if h, err := Hear(t.Context(), plain(tiny(t, "")), []audit.Part{}, 3); err != nil || len(h.Utterances) > 0 {
		t.Errorf("%+v, %v", h, err)
	}
}
