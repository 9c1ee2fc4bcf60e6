package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// job is a run that is to be made.
type job struct {
	key
	what string
	over string // the recipe that it is compared with
	plan *plan
	fold fold
	dir  string // its folder
}

// spent is what the sessions of a run have taken that came to their end, in order or not.
type spent struct {
	CPU     float64 `json:"cpu_s"`
	Updates int     `json:"updates"`
}

// identity is what a folder that was left must agree with for its run to go on.
type identity struct {
	key
	Program string `json:"program"`
	Workers int    `json:"workers"`
	Spent   spent  `json:"spent"`
}

const (
	identityFile = "run.json"
	resultFile   = "result.json"
	metricsFile  = "metrics.jsonl"
	logFile      = "log.txt"
	presetFile   = "preset.yaml"
)

// patience is how long a run may take to save itself when it is told to stop.
const patience = time.Minute

// learner makes runs with one program.
type learner struct {
	program  string
	revision string
}

// newLearner takes a copy of the program into a folder, so that it stays what it is while another one is built.
func newLearner(program, dir string) (*learner, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("the program that trains: %w", err)
	}
	l := &learner{program: filepath.Join(dir, "konkanitrain")}
	if err := os.WriteFile(l.program+".new", text, 0o777); err != nil {
		return nil, err
	}
	if err := os.Rename(l.program+".new", l.program); err != nil {
		return nil, err
	}
	l.revision, err = revisionOf(l.program)
	return l, err
}

// run makes a run, or goes on with one that was interrupted. The error is about this machine or its files, or says that
// the context has ended; a run that fails is a result.
func (l *learner) run(ctx context.Context, j *job, workers int) (*result, error) {
	id := identity{key: j.key, Program: l.revision, Workers: workers}
	if err := j.prepare(&id); err != nil {
		return nil, err
	}
	result := &result{key: j.key, What: j.what, Over: j.over, Program: l.revision, Workers: workers}
	args := []string{"--config", filepath.Join(j.dir, presetFile), "--train_manifest", j.fold.train, "--val_manifest", j.fold.dev,
		"--test_manifest", j.fold.test, "--checkpoint_dir", j.dir, "--resume", "auto", "--seed", fmt.Sprint(j.Seed), "--cpu_workers", fmt.Sprint(workers)}
	cpu, failed := l.start(ctx, j, workers, append(args, j.plan.flags.list()...))
	h, err := readMetrics(filepath.Join(j.dir, metricsFile))
	if err == nil && h.updates > h.started {
		id.Spent.CPU += cpu
		id.Spent.Updates += h.updates - h.started
		if err := id.write(j.dir); err != nil {
			return nil, err
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case failed != nil:
		result.Failed = lastLines(filepath.Join(j.dir, logFile), failed)
		return result, j.finish(result)
	case err != nil:
		return nil, err
	case h.test == nil:
		return nil, fmt.Errorf("%s has no score of the test set, though the run has ended well", filepath.Join(j.dir, metricsFile))
	}
	result.score, result.Weights = scoreOf(h.test), h.test.Weights
	result.Updates, result.Seconds = h.updates, digits(h.seconds, 4)
	if id.Spent.Updates > 0 {
		result.CPU = digits(id.Spent.CPU/float64(id.Spent.Updates), 4)
	}
	result.Losses, result.CERs = h.lossCurve(), h.cerCurve()
	for _, x := range j.fold.more {
		s, err := l.evaluate(ctx, j, x, workers)
		if err != nil {
			return nil, err
		}
		result.More = append(result.More, more{x.name, *s})
	}
	return result, j.finish(result)
}

// prepare makes the run's folder. What is there of the same run, by the same program, is gone on with; anything else is
// removed.
func (j *job) prepare(id *identity) error {
	var before identity
	text, err := os.ReadFile(filepath.Join(j.dir, identityFile))
	if err == nil && json.Unmarshal(text, &before) == nil {
		so := before.Spent
		before.Spent = spent{}
		if before == *id {
			id.Spent = so
			return nil
		}
	}
	if err := os.RemoveAll(j.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(j.dir, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(j.dir, presetFile), []byte(j.plan.preset), 0o666); err != nil {
		return err
	}
	return id.write(j.dir)
}

// write keeps the identity in the run's folder, whole or not at all.
func (id *identity) write(dir string) error {
	text, err := json.MarshalIndent(id, "", " ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, identityFile)
	if err := os.WriteFile(path+".new", text, 0o666); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// start runs the program until it ends, and gives its processor time. When the context ends it is told to save itself.
func (l *learner) start(ctx context.Context, j *job, workers int, args []string) (cpu float64, err error) {
	log, err := os.OpenFile(filepath.Join(j.dir, logFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	fmt.Fprintf(log, "%s %s\n", l.program, strings.Join(args, " "))
	cmd := l.command(ctx, workers, args)
	cmd.Stdout, cmd.Stderr = log, log
	err = cmd.Run()
	if s := cmd.ProcessState; s != nil {
		cpu = (s.UserTime() + s.SystemTime()).Seconds()
	}
	return cpu, err
}

// command is the program with a core for each worker. One more is for what runs beside the computing.
func (l *learner) command(ctx context.Context, workers int, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, l.program, args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", workers+1))
	cmd.Cancel = func() error {
		err := cmd.Process.Signal(os.Interrupt)
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			return cmd.Process.Kill() // systems without signals
		}
		return err
	}
	cmd.WaitDelay = patience
	return cmd
}

// evaluate scores a further test set. What eval takes of a run's folder is what the run has scored itself with.
func (l *learner) evaluate(ctx context.Context, j *job, x extra, workers int) (*score, error) {
	cmd := l.command(ctx, workers, []string{"eval", "--checkpoint", j.dir, "--manifest", x.manifest, "--json", "--cpu_workers", fmt.Sprint(workers)})
	var complaint strings.Builder
	cmd.Stderr = &complaint
	text, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", cmd.Args, err, complaint.String())
	}
	var e struct{ Result *record }
	if err := json.Unmarshal(text, &e); err != nil || e.Result == nil {
		return nil, fmt.Errorf("%v: its JSON has no result: %v", cmd.Args, err)
	}
	s := scoreOf(e.Result)
	return &s, nil
}

// finish leaves in the run's folder what tells how it went, and removes the rest: checkpoints above all.
func (j *job) finish(r *result) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(j.dir, resultFile), append(text, '\n'), 0o666); err != nil {
		return err
	}
	files, err := os.ReadDir(j.dir)
	for _, f := range files {
		switch f.Name() {
		case resultFile, metricsFile, logFile, presetFile:
		default:
			err = errors.Join(err, os.RemoveAll(filepath.Join(j.dir, f.Name())))
		}
	}
	return err
}

// lastLines is the end of a log.
func lastLines(path string, why error) string {
	const most = 5
	text, err := os.ReadFile(path)
	if err != nil {
		return why.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return why.Error() + "\n" + strings.Join(lines[max(0, len(lines)-most):], "\n")
}

// revisionOf is which program this is: the revision that it says it was built from, or the sum of its bytes.
func revisionOf(program string) (string, error) {
	said, err := exec.Command(program, "version").Output()
	if err != nil {
		return "", fmt.Errorf("%s version: %w", program, err)
	}
	first, _, _ := strings.Cut(string(said), "\n")
	if _, revision, found := strings.Cut(first, ", revision "); found {
		hash, modified, _ := strings.Cut(revision, ",")
		if modified == "" {
			return hash[:min(len(hash), 12)], nil
		}
	}
	f, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum, err := sumOf(f)
	return "sha256 " + sum, err
}
