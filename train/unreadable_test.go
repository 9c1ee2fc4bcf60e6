package train

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// Files whose sound is bad behind a good header are named once in a run, with their line, whatever the number of epochs
// and validations, and counted at the end. Training leaves them out, and so do the statistics of global normalization.
func TestUnreadableFilesAreNamedOnce(t *testing.T) {
	train, val := speakSome(t, babble(8, 3, 1), 2, 5), speakSome(t, babble(3, 3, 2), 1)
	for _, normalize := range []string{"utterance", "global"} {
		cfg := small(tiny(t, train))
		cfg.Data.ValManifest, cfg.Data.Normalize, cfg.Optimizer.NumEpochs = []string{val}, normalize, 3
		said := mustRun(t, cfg)
		mustContainOnce(t, said, fmt.Sprintf("WARNING: left out: utt02 (%s, line 3): ", train), fmt.Sprintf("WARNING: left out: utt05 (%s, line 6): ", train),
			"WARNING: 2 utterances of 8 could not be read and took no part in training; they are named above",
			"WARNING: 1 file of "+val+" can't be read any more")
		if n := strings.Count(said, "validation after update"); n != 3 {
			t.Errorf("%d validations", n)
		}
		_, _, s := readCheckpoint(t, cfg.Run.CheckpointDir, 6)
		if p := s.Progress; p.Failed != 6 || p.Utterances != 18 || p.Epoch != 3 || (s.Stats != nil) != (normalize == "global") {
			t.Errorf("%+v", p)
		}
		if s.Stats == nil {
			continue
		}
		for _, mean := range s.Stats.Mean {
			if math.IsNaN(mean) {
				t.Fatalf("the means are %v", s.Stats.Mean)
			}
		}
	}
}

// bad_line_limit holds for them too, once an epoch has met them, or the statistics have. What the epoch has learned is
// saved.
func TestTooManyUnreadableFiles(t *testing.T) {
	cfg := small(tiny(t, speakSome(t, babble(8, 3, 1), 2, 5)))
	cfg.Data.BadLineLimit, cfg.Optimizer.NumEpochs = 0.2, 3
	_, err := Run(t.Context(), cfg, Options{})
	testkit.MustFail(t, err, "2 of 8 lines are bad, the limit (bad_line_limit) is 20 %", "line 6", "005.wav", "is saved in")
	mustHave(t, cfg.Run.CheckpointDir, 2)
	_, _, s := readCheckpoint(t, cfg.Run.CheckpointDir, 2)
	if p := s.Progress; p.Epoch != 1 || p.Window != 0 {
		t.Errorf("the place is %+v, want the end of the epoch", p)
	}
	global := elsewhere(t, cfg)
	global.Data.Normalize = "global"
	testkit.MustContain(t, refused(t, global), "statistics: 2 of 8 lines are bad, the limit (bad_line_limit) is 20 %")
}

// A set that has files enough is not said to lack any.
func TestAllIsReadable(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(4, 3, 1)...)))
	cfg.Optimizer.NumEpochs = 1
	mustNotContain(t, mustRun(t, cfg), "could not be read", "left out")
}

// Odd sound is reported whichever set it is in, each file once, however often it is read.
func TestOddSoundIsReportedInAllSets(t *testing.T) {
	var said bytes.Buffer
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Data.ValManifest, cfg.Data.TestManifest = []string{speak(t, babble(4, 4, 2)...)}, []string{speak(t, babble(4, 4, 3)...)}
	silence(t, cfg.Data.TrainManifest[0], "001.wav")
	silence(t, cfg.Data.ValManifest[0], "002.wav")
	silence(t, cfg.Data.TestManifest[0], "003.wav")
	cfg.Optimizer.MaxUpdates, cfg.Run.EvalEvery = 4, 1
	if _, err := Run(t.Context(), cfg, Options{Out: &said}); err != nil {
		t.Fatal(err)
	}
	mustContainOnce(t, said.String(), "WARNING: left out: utt01 ", "001.wav: silence", "002.wav: silence", "003.wav: silence",
		"WARNING: 1 utterance of 8 without any sound took no part in training; they are named above")
	mustNotContain(t, said.String(), "could not be read", "left out: utt02", "left out: utt03")
	if _, _, s := readCheckpoint(t, cfg.Run.CheckpointDir, 4); s.Progress.Failed == 0 {
		t.Errorf("%+v", s.Progress)
	}
	_, scored := mustScore(t, mustLoad(t, cfg.Run.CheckpointDir), cfg.Data.TestManifest[0])
	mustContainOnce(t, scored, "003.wav: silence")
}
