// Command memory holds training runs to what they promise about memory. It runs the real program on noise that it
// writes itself, prints what it saw, and fails where a promise is broken. --check says which:
//
//	line    what a run says that it takes in all is what it takes: its peak RSS
//	group   in a control group of whatever size a run fits itself, or refuses in words; the kernel never has to kill it
//	pair    two runs with a part of a group each fit beside each other
//	growth  resident memory and step time stay level over many updates, and over many files that are transcribed
//	long    an utterance for which there is no room is named before the first update, or left out if that is asked for
//	halved  a run goes on when its limit is lowered, twice, and learns the same
//
// Groups need Linux, root, and control groups of either version.
//
//	go build -o konkanitrain ./cmd/konkanitrain
//	go run ./bench/memory --check group
//	go run ./bench/memory --within 10 -- --config configs/optimized.yaml --batch_size 2 --grad_accum 4
//
// What stands behind -- goes to the run of the check line.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

// check is one of the promises. Its files are made in dir.
type check struct {
	name string
	hold func(s settings, dir string, out io.Writer) error
}

var checks = []check{
	{"line", settings.checkLine}, {"group", settings.checkGroup}, {"pair", settings.checkPair}, {"growth", settings.checkGrowth},
	{"long", settings.checkLong}, {"halved", settings.checkHalved},
}

// settings are what the flags say.
type settings struct {
	check    check
	program  string
	training []string // arguments of the run of line
	sound    sound    // for line
	updates  int
	within   float64 // percent; 0 only shows
	level    float64 // percent; 0 only shows

	printLines bool
}

func parse(args []string) (settings, error) {
	var s settings
	var names []string
	for _, c := range checks {
		names = append(names, c.name)
	}
	f := pflag.NewFlagSet("memory", pflag.ContinueOnError)
	name := f.String("check", "line", "the promise to hold runs to: "+strings.Join(names, ", "))
	f.StringVar(&s.program, "program", "./konkanitrain", "the program to run")
	f.IntVar(&s.sound.utterances, "utterances", 64, "line: utterances to train on")
	f.IntVar(&s.sound.validated, "validated", 8, "line: utterances to validate on")
	f.Float64Var(&s.sound.seconds, "seconds", 8, "line: mean length of an utterance; lengths go from half of it to one and a half")
	f.IntVar(&s.sound.rate, "rate", 16000, "line: samples a second")
	f.IntVar(&s.updates, "updates", 6, "line: updates; half of them come before the first validation and the first save")
	f.Float64Var(&s.within, "within", 0, "line: fail where what the run says is further from what it takes, in percent; 0 for never")
	f.Float64Var(&s.level, "level", 0, "growth: fail where the last updates take longer than the first by more, in percent; 0 for never: that asks for a quiet machine")
	f.BoolVar(&s.printLines, "lines", false, "line: show what the run prints")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	s.training = f.Args()
	i := slices.Index(names, *name)
	switch {
	case i < 0:
		return s, fmt.Errorf("--check is %q, want one of %s", *name, strings.Join(names, ", "))
	case s.updates < 2:
		return s, fmt.Errorf("--updates is %d, want 2 or more: one is made before the validation", s.updates)
	case !(s.within >= 0) || !(s.level >= 0):
		return s, fmt.Errorf("--within is %v %% and --level %v %%, want 0 or more", s.within, s.level)
	}
	s.check, s.sound.spread = checks[i], 0.5
	return s, s.sound.check()
}

func run(args []string, out io.Writer) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	if s.program, err = filepath.Abs(s.program); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "konkanitrain-memory-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return s.check.hold(s, dir, out)
}
