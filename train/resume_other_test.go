package train

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
	"konkanitrain/op"
)

// A resume with another batch size or other workers goes on, and says what that means.
func TestResumeWithAnotherBatch(t *testing.T) {
	cfg := tiny(t, speak(t, babble(23, 4, 1)...))
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.MaxUpdates = 2, 3, 2
	traced(t, cfg, io.Discard)
	cfg.Run.Resume, cfg.Optimizer.GradAccum, cfg.Optimizer.MaxUpdates, cfg.Run.CPUWorkers = "auto", 2, 5, 1
	var said strings.Builder
	run, err := setUp(t.Context(), cfg, Options{Out: &said})
	if err != nil {
		t.Fatal(err)
	}
	defer run.close()
	if p := run.ledger.state.Progress; p.Epoch != 0 || p.Window != 3 {
		t.Errorf("12 of 23 utterances are used, it goes on at %+v", p)
	}
	testkit.MustContain(t, said.String(), "a window has 4 utterances now, 6 when", "1 compute worker now, 2 when", "grad_accum: 3 / 2")
	if err := run.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A manifest that has changed since the checkpoint is said, whether there are more utterances, others, or other
// lengths.
func TestResumeNoticesAnotherSet(t *testing.T) {
	lines := babble(8, 4, 1)
	cfg := once(t, plain(tiny(t, speak(t, lines...))))
	longer, renamed := slices.Clone(lines), slices.Clone(lines)
	longer[3].samples = 6 * perLetter
	renamed[3].id = "another"
	for name, now := range map[string][]spoken{
		"the same": lines, "one more": append(slices.Clone(lines), spoken{id: "more", text: "abc"}), "one less": lines[:7], "longer": longer, "renamed": renamed,
	} {
		c := cfg
		c.Data.TrainManifest = []string{speak(t, now...)}
		var said strings.Builder
		start(t, c, &said).close()
		if warned := strings.Contains(said.String(), "WARNING: the training set is not what it was"); warned != (name != "the same") {
			t.Errorf("%s: warned %v:\n%s", name, warned, said.String())
		}
		if name == "one more" {
			testkit.MustContain(t, said.String(), "9 utterances now, 8 then")
		}
	}
}

// Another weight is named, with that of before; so are other texts.
func TestResumeNoticesWeightsAndTexts(t *testing.T) {
	lines := babble(8, 4, 1)
	path := speak(t, lines...)
	cfg := once(t, plain(tiny(t, path+":2")))
	said := func(cfg Config) string {
		var b strings.Builder
		start(t, cfg, &b).close()
		return b.String()
	}
	if again := said(cfg); strings.Contains(again, "WARNING: the training set") {
		t.Error(again)
	}
	cfg.Data.TrainManifest = []string{path}
	testkit.MustContain(t, said(cfg), "WARNING: the training set is not what it was", path+" has the weight 1 now, 2 then; they come in another order")

	cfg = once(t, plain(tiny(t, path)))
	list, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := `"text":"`
	changed := strings.Replace(string(list), text, text+lines[0].text[:1], 1)
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	testkit.MustContain(t, said(cfg), "WARNING: the training set has other texts than when the checkpoint was written")
}

// On a set that has shrunk to the windows that are done, or fewer, training goes on with the next epoch.
func TestResumeOnASetThatShrank(t *testing.T) {
	lines := babble(20, 4, 1) // five windows of 4
	cfg := plain(tiny(t, speak(t, lines...)))
	cfg.Optimizer.MaxUpdates = 3
	traced(t, cfg, io.Discard)
	cfg.Run.Resume, cfg.Optimizer.MaxUpdates = "auto", 5
	for _, c := range []struct{ utterances, epoch, window int }{{16, 0, 3}, {12, 1, 0}, {8, 1, 0}} {
		cfg.Data.TrainManifest = []string{speak(t, lines[:c.utterances]...)}
		run := start(t, cfg, nil)
		if p := run.ledger.state.Progress; p.Epoch != c.epoch || p.Window != c.window {
			t.Errorf("%d utterances: it goes on at epoch %d, window %d, want %d, %d", c.utterances, p.Epoch, p.Window, c.epoch, c.window)
		}
		run.ledger.dir = t.TempDir() // the next one resumes from the same checkpoint
		if err := run.loop(t.Context()); err != nil || run.updater.Updates != 5 {
			t.Errorf("%d utterances: %d updates (%v), want 5", c.utterances, run.updater.Updates, err)
		}
		run.close()
	}
}

// Other kernels round differently: a run that goes on with them says so, and one that goes on with the same does not.
func TestResumeWithOtherKernels(t *testing.T) {
	cfg := tiny(t, speak(t, babble(12, 4, 1)...))
	cfg.Optimizer.MaxUpdates = 1
	mustRun(t, cfg)
	cfg.Run.Resume = "auto"
	resumed := func() string {
		var said strings.Builder
		run, err := setUp(t.Context(), cfg, Options{Out: &said})
		if err != nil {
			t.Fatal(err)
		}
		run.close()
		return said.String()
	}
	if said := resumed(); strings.Contains(said, "kernels") {
		t.Errorf("the kernels are the same, and it says:\n%s", said)
	}
	if _, _, s := readCheckpoint(t, cfg.Run.CheckpointDir, 1); s.Progress.Kernels != op.Kernels() {
		t.Errorf("saved by %q, want %q", s.Progress.Kernels, op.Kernels())
	}
	rewrite(t, cfg.Run.CheckpointDir, func(c *contents) { c.state.Progress.Kernels = "abacus" })
	testkit.MustContain(t, resumed(), "NOTE: this run computes with the kernels "+op.Kernels()+", the checkpoint comes from one with abacus")
}
