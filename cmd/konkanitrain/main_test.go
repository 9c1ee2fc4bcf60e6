package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
	"konkanitrain/recognize"
	"konkanitrain/train"
)

// runHere is run with what it printed.
func runHere(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(args, streams{&out, &err})
	return code, out.String(), err.String()
}

type panics struct{}

func (panics) Write([]byte) (int, error) { panic("the writer broke") }

// A panic becomes an explanation and the exit code of a breakdown.
func TestPanicIsExplained(t *testing.T) {
	var stderr bytes.Buffer
	code := run([]string{"version"}, streams{panics{}, &stderr})
	if code != exitBroken {
		t.Errorf("exit code %d, want %d", code, exitBroken)
	}
	for _, want := range []string{"a mistake in the program itself: the writer broke", "konkanitrain version", "Please report", "goroutine"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("no %q in\n%s", want, stderr.String())
		}
	}
}

// An interrupt before there is anything to save is no error of the context's, in the user's words.
func TestInterruptedEarly(t *testing.T) {
	var stderr bytes.Buffer
	if code := report(&stderr, fmt.Errorf("reading: %w", context.Canceled)); code != exitInterrupted || stderr.String() != "konkanitrain: interrupted\n" {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
}

// Each error has its exit code, and the help names all of them.
func TestExitCodes(t *testing.T) {
	_, help, _ := runHere("help")
	for _, c := range []struct {
		err  error
		code int
		says string
	}{
		{nil, 0, ""},
		{errors.New("disk full"), 1, "konkanitrain: disk full\n"},
		{&usageError{errors.New("no such flag"), "train"}, 2, "konkanitrain: no such flag\n`konkanitrain help train` says what is possible.\n"},
		{fmt.Errorf("%w: cuLaunchKernel", train.ErrCardLost), 75, "konkanitrain: the card failed: cuLaunchKernel\n"},
		{fmt.Errorf("update 7: %w; go on with less", train.ErrOutOfMemory), 75, "konkanitrain: update 7: out of memory; go on with less\n"},
		{fmt.Errorf("%w; go on with: this", train.ErrInterrupted), 130, "konkanitrain: interrupted: the state is saved; go on with: this\n"},
		{context.Canceled, 130, "konkanitrain: interrupted\n"},
	} {
		var said bytes.Buffer
		if code := report(&said, c.err); code != c.code || said.String() != c.says {
			t.Errorf("%v: exit code %d, %q; want %d, %q", c.err, code, said.String(), c.code, c.says)
		}
		if line := fmt.Sprintf("\n  %-4d ", c.code); strings.Count(help, line) != 1 {
			t.Errorf("exit code %d is not in the help", c.code)
		}
	}
	if line := fmt.Sprintf("\n  %-4d ", exitBroken); !strings.Contains(help, line) {
		t.Errorf("exit code %d is not in the help", exitBroken)
	}
}

// Every setting has one place in the help, under its subject, with its default.
func TestHelpIsComplete(t *testing.T) {
	_, text, _ := runHere("help", "train")
	config := train.Default()
	o, err := newTrainOptions("train", &config)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range o.set.All {
		if n := strings.Count(text, "--"+x.Key+" "); n < 1 {
			t.Errorf("%s is not in the help", x.Key)
		}
	}
	at := 0
	for _, title := range []string{"\nData:\n", "\nModel:\n", "\nOptimization:\n", "\nRun:\n", "\nConfiguration:\n"} {
		i := strings.Index(text, title)
		if i < at {
			t.Errorf("%q is missing from the help, or before its time", title)
		}
		at = i
	}
	for _, want := range []string{"(default 8)", "(default 0.001)", `(default "auto")`, "(default 0.9,1,1.1)", "(default true)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in the help", want)
		}
	}
}

// Other names are of settings that exist, in files and on the command line alike.
func TestAliases(t *testing.T) {
	t.Chdir(t.TempDir()) // where the default checkpoint_dir is made
	manifest := touch(t, "train.jsonl")
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte("gradient_accumulation_steps: 7\ntrain_manifest: "+manifest+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	config := train.Default()
	o, err := newTrainOptions("train", &config)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.parse([]string{"--config", file, "--mixed-precision"}); err != nil {
		t.Fatal(err)
	}
	if err := o.load(&config); err != nil {
		t.Fatal(err)
	}
	if config.Optimizer.GradAccum != 7 || !config.Run.FP16 || !slices.Equal(config.Data.TrainManifest, []string{manifest}) {
		t.Errorf("grad_accum %d, fp16 %v, train_manifest %s: want 7, true, %s", config.Optimizer.GradAccum, config.Run.FP16, config.Data.TrainManifest[0], manifest)
	}
}

func touch(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// The files with mistakes among the reference data.
func TestSharedMistakes(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "cases", "configs")
	for file, want := range map[string][]string{
		"unknown_key.yaml":   {`unknown_key.yaml:3: unknown key "bacth_size": did you mean batch_size?`},
		"duplicate_key.yaml": {"duplicate_key.yaml:3: batch_size is set twice, on lines 1 and 3"},
		"types.yaml":         {`types.yaml:2: fp16 is the text "yes", want true or false`, "types.yaml:3: batch_size is 2.5, want a whole number"},
		"many_errors.yaml": {
			"many_errors.yaml:2: heads 5 does not divide d_model 192", "many_errors.yaml:3: batch_size is 0", "many_errors.yaml:4: grad_accum is 0",
			"many_errors.yaml:5: learning_rate is -0.001", "many_errors.yaml:6: ctc_weight is 1.5",
			`many_errors.yaml:7: unknown key "warmup": did you mean warmup_updates?`,
		},
	} {
		code, _, stderr := runHere("--config", filepath.Join(dir, file))
		if code != exitUsage {
			t.Errorf("%s: exit code %d, want %d", file, code, exitUsage)
		}
		for _, w := range want {
			if !strings.Contains(stderr, w) {
				t.Errorf("%s: no %q in\n%s", file, w, stderr)
			}
		}
		if len(want) > 1 && !strings.Contains(stderr, fmt.Sprintf("%d problems", len(want))) {
			t.Errorf("%s: want %d problems in\n%s", file, len(want), stderr)
		}
	}
}

// Whatever the arguments are, the program answers with an error or help: it never panics. No run begins, for
// there is no manifest in the folder.
func FuzzArguments(f *testing.F) {
	f.Add("--batch_size\x002")
	f.Add("eval\x00--json=maybe")
	f.Add("transcribe\x00--\x00--\x00a.wav")
	f.Add("-\x00---\x00--=\x00--speeds=,")
	f.Add("help\x00train")
	f.Fuzz(func(t *testing.T, joined string) {
		code, _, stderr := runHere(strings.Split(joined, "\x00")...)
		if code != exitOK && code != exitUsage && code != exitFailed || strings.Contains(stderr, "mistake in the program") {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	})
}

// The nearest guess for flags looks at all of them.
func TestNearestFlag(t *testing.T) {
	for given, want := range map[string]string{
		"--bacth_size": "--batch_size", "--bacth-size=3": "--batch_size", "--lr": "--learning_rate", "--confg": "--config", "--epochs": "--num_epochs",
	} {
		if _, _, stderr := runHere(given, "1"); !strings.Contains(stderr, "did you mean "+want+"?") {
			t.Errorf("%s: no guess %s in %s", given, want, stderr)
		}
	}
}

// What is printed to be typed is quoted for a shell.
func TestCommandsAreQuoted(t *testing.T) {
	got := flagsOf(decoding{LM: "my lm.arpa"}, recognize.Decoding{Decoder: recognize.Beam, Width: 8, LMWeight: 0.5})
	if want := "--decoder beam --beam_width 8 --lm 'my lm.arpa' --lm_weight 0.5 --length_weight 0"; got != want {
		t.Errorf("flags %s, want %s", got, want)
	}
	var stderr bytes.Buffer
	reportPanic(&stderr, []string{"eval", "--checkpoint", "my runs"}, "why", nil)
	testkit.MustContain(t, stderr.String(), "\n  konkanitrain eval --checkpoint 'my runs'\n")
}
