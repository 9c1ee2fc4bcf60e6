package train

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// noisy is a run that takes noise from a folder of sounds for every utterance.
func noisy(t *testing.T, folder string) Config {
	cfg := small(tiny(t, speak(t, babble(6, 4, 1)...)))
	cfg.Data.NoiseShare, cfg.Data.NoiseManifest = 1, []string{folder}
	return cfg
}

// What noise is taken from is said, and what it can't be taken from; nothing at all ends the run before training.
func TestNoiseManifest(t *testing.T) {
	sounds := speak(t, babble(9, 3, 2)...)
	folder := filepath.Dir(sounds)
	spoil(t, sounds, "001.wav")
	notNumbers(t, filepath.Join(folder, "002.wav"))
	if err := os.Symlink("nowhere.wav", filepath.Join(folder, "009.wav")); err != nil {
		t.Fatal(err)
	}
	cfg := noisy(t, folder)
	cfg.Optimizer.MaxUpdates = 2
	said := mustRun(t, cfg)
	testkit.MustContain(t, said, "noise: 7 recordings, 2.", "WARNING: no noise is taken from 001.wav", "WARNING: no noise is taken from 002.wav",
		"WARNING: no noise is taken from 009.wav ("+folder+"): audio file not found: "+filepath.Join(folder, "009.wav"))

	for i := range 9 {
		spoil(t, sounds, "00"+string(rune('0'+i))+".wav")
	}
	testkit.MustContain(t, refused(t, elsewhere(t, cfg)), "noise_manifest: ", "no utterance is left")
	for i := range 9 {
		notNumbers(t, filepath.Join(folder, "00"+string(rune('0'+i))+".wav"))
	}
	testkit.MustContain(t, refused(t, elsewhere(t, cfg)), "noise_manifest: none of the recordings can be used; the first: 000.wav")
}

// Many that can't be used are counted.
func TestNoiseLeftOutIsBounded(t *testing.T) {
	sounds := speak(t, babble(9, 3, 2)...)
	for i := range 8 {
		spoil(t, sounds, "00"+string(rune('0'+i))+".wav")
	}
	var said strings.Builder
	start(t, noisy(t, filepath.Dir(sounds)), &said).close()
	testkit.MustContain(t, said.String(), "WARNING: no noise is taken from 3 recordings more")
	if n := strings.Count(said.String(), "WARNING: no noise"); n != 6 {
		t.Errorf("%d warnings", n)
	}
}

// Other recordings than those of the checkpoint are said; the same, and none, are not.
func TestResumeNoticesOtherNoise(t *testing.T) {
	one, other := filepath.Dir(speak(t, babble(4, 3, 2)...)), filepath.Dir(speak(t, babble(5, 3, 2)...))
	cfg := once(t, noisy(t, one))
	for folder, want := range map[string]bool{one: false, other: true, "": false} {
		c := cfg
		c.Data.NoiseManifest = []string{folder}
		var said strings.Builder
		start(t, c, &said).close()
		if warned := strings.Contains(said.String(), "WARNING: the recordings of noise_manifest are not those"); warned != want {
			t.Errorf("%q: warned %v:\n%s", folder, warned, said.String())
		}
	}
}

// A plan reads no sound of noise, and counts what a run would keep of it.
func TestPlanCountsNoise(t *testing.T) {
	sounds := speak(t, babble(9, 3, 2)...)
	for _, seconds := range []float64{0, 3} {
		cfg := noisy(t, filepath.Dir(sounds))
		o := PlanOptions{Seconds: seconds, TokensPerSecond: 10}
		if seconds > 0 {
			cfg.Data.TrainManifest = nil
		}
		p, err := newPlanner(t.Context(), cfg, o)
		if err != nil {
			t.Fatal(err)
		}
		sound := p.held.Loaders.Sound - p.sets.loader.Memory().Sound
		if want := p.sets.noise.Pending(); sound != want || want < 9*2*2*perLetter || p.sets.noise.Recordings != nil {
			t.Errorf("%g s: %d bytes of noise, want %d", seconds, sound, want)
		}
		p.replica.Close()
	}
	if err := os.RemoveAll(filepath.Dir(sounds)); err != nil {
		t.Fatal(err)
	}
	_, err := Plan(t.Context(), noisy(t, filepath.Dir(sounds)), PlanOptions{})
	testkit.MustFail(t, err, "noise_manifest: ")
}
