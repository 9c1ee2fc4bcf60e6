package train

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"konkanitrain/checkpoint"
)

// A recogniser hears with the features of its training, global statistics included; files and manifests give
// the same texts, and a bad file is named without ending the others.
func TestRecogniser(t *testing.T) {
	manifest := speak(t, babble(6, 5, 1)...)
	cfg := plain(tiny(t, manifest))
	cfg.Data.Normalize, cfg.Run.Seed, cfg.Optimizer.MaxUpdates, cfg.Data.ValManifest = "global", 1<<63+3, 2, manifest
	run := start(t, cfg, nil)
	run.layout.View(run.weights.Floats(), "ctc.bias")[0] = -1 // so that something comes out
	if err := run.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := run.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := cfg
	again.Run.Resume = "auto"
	if s := start(t, again, nil).state.Stats; !slices.Equal(s.Mean, run.state.Stats.Mean) || !slices.Equal(s.Deviation, run.state.Stats.Deviation) {
		t.Error("the statistics changed with the resume")
	}

	rec, err := Load(cfg.Run.CheckpointDir, LoadOptions{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	if got, want := rec.cfg, cfg; got.Run.Seed != want.Run.Seed || got.Model != want.Model || got.Optimizer != want.Optimizer {
		t.Errorf("the configuration is %+v, was saved as %+v", got, want)
	}
	dir := filepath.Dir(manifest)
	if err := writeFile(filepath.Join(dir, "bad.wav"), "no sound"); err != nil {
		t.Fatal(err)
	}
	paths := []string{filepath.Join(dir, "bad.wav")}
	var want []string
	e, err := rec.Evaluate(t.Context(), manifest, EvalOptions{PerUtterance: func(h Hypothesis) error {
		paths, want = append(paths, h.Utt.Path), append(want, h.Text)
		return nil
	}})
	if err != nil || e.Score.EmptyHyps == 6 || e.Loss != run.state.Score.Loss {
		t.Fatalf("%v (%v), training said %v", e, err, run.state.Score)
	}
	var got []string
	err = rec.Transcribe(t.Context(), paths, func(path, text string, err error) error {
		if path == paths[0] {
			if err == nil {
				t.Error("a file without sound was transcribed")
			}
			return nil
		}
		got = append(got, text)
		return err
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("transcribed alone: %q (%v), in the manifest: %q", got, err, want)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := rec.Transcribe(ctx, paths, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after a stop: %v", err)
	}
	if _, err := rec.Evaluate(ctx, manifest, EvalOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after a stop: %v", err)
	}
}

func TestLoadFindsTheBestOrSaysWhy(t *testing.T) {
	if _, err := Load(t.TempDir(), LoadOptions{}); err == nil {
		t.Error("an empty folder was loaded")
	} else {
		mustContain(t, err.Error(), "neither a checkpoint", "nor a folder with checkpoints")
	}
	if _, err := Load(t.TempDir(), LoadOptions{Device: "cuda"}); err == nil {
		t.Error("a device that is not there was taken")
	}
	cfg := once(t, tiny(t, speak(t, babble(4, 4, 1)...)))
	newest := filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(2), checkpoint.ModelFile)
	if err := os.Truncate(newest, 1000); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	rec, err := Load(cfg.Run.CheckpointDir, LoadOptions{Log: &said})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	mustContain(t, said.String(), "passed over", checkpoint.Name(2))
	mustContain(t, rec.Describe(), checkpoint.Name(1)+": update 1")
}

// onWrite calls itself with whatever is written.
type onWrite func(text string)

func (f onWrite) Write(b []byte) (int, error) {
	f(string(b))
	return len(b), nil
}

// A run in progress removes old checkpoints: where the one that was found goes before it is read, Load looks again.
func TestLoadBesideARun(t *testing.T) {
	cfg := averaging(t)
	cfg.Run.KeepLast, cfg.Run.AverageLast = 5, 0
	mustRun(t, cfg)
	dir := cfg.Run.CheckpointDir
	if err := os.Truncate(filepath.Join(dir, checkpoint.Name(5), checkpoint.ModelFile), 10); err != nil {
		t.Fatal(err)
	}
	removed := false
	log := onWrite(func(text string) { // between the search and the reading
		mustContain(t, text, "passed over", checkpoint.Name(5))
		if !removed {
			removed = true
			if err := os.RemoveAll(filepath.Join(dir, checkpoint.Name(4))); err != nil {
				t.Error(err)
			}
		}
	})
	r, err := Load(dir, LoadOptions{Workers: 1, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	mustContain(t, r.Describe(), checkpoint.Name(3))
}
