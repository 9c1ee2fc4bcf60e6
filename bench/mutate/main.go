// Command mutate tells how good the tests are: it makes many small changes to production code, one at a time, and
// counts those that some test catches. README.md beside it says how to read what it prints.
//
//	go run ./bench/mutate --seed 1 --count 200
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	limitMemory()
	if err := run(ctx, ".", os.Args[1:], os.Stdout); err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// equivalentsFile holds the judged equivalents; its path is relative to the module's root.
const equivalentsFile = "bench/mutate/equivalent.txt"

// options are what the flags say.
type options struct {
	seed      uint64
	count     int
	packages  []string // patterns, as the go command takes them; none: the whole module
	importers bool
	workers   int
	timeout   time.Duration
	least     float64 // per cent
	json      string  // path of a file, "" for none
	list      bool
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	f := pflag.NewFlagSet("mutate", pflag.ContinueOnError)
	f.SetOutput(out)
	f.SortFlags = false
	f.Uint64Var(&o.seed, "seed", 1, "chooses the changes: the same seed and code give the same ones")
	f.IntVar(&o.count, "count", 200, "changes that compile and are not judged equivalent")
	f.StringSliceVar(&o.packages, "packages", nil, "change only these packages; none named: all of the module's")
	f.BoolVar(&o.importers, "importers", true,
		"run the tests of importing packages as well; false: a package's own tests have to catch every change")
	f.IntVar(&o.workers, "workers", 2, "changes tested at the same time, 1 or 2")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second,
		"what tests may take on changed code, beside four times what they take on the code as it is")
	f.Float64Var(&o.least, "least", 0, "exit with code 1 if fewer per cent are caught")
	f.StringVar(&o.json, "json", "", "write all figures and every change to this file")
	f.BoolVar(&o.list, "list", false, "print the chosen changes and test nothing")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q: packages are named by --packages", f.Arg(0))
	case o.count < 1:
		return o, fmt.Errorf("--count is %d; it must be 1 or more", o.count)
	case o.workers < 1 || o.workers > 2:
		return o, fmt.Errorf("--workers is %d; it must be 1 or 2", o.workers)
	case o.timeout <= 0:
		return o, fmt.Errorf("--timeout is %v; it must be more than 0", o.timeout)
	case !(o.least >= 0 && o.least <= 100):
		return o, fmt.Errorf("--least is %v; it must be from 0 to 100 per cent", o.least)
	}
	return o, nil
}

// run does what the flags in args ask for, for the module that dir lies in, and prints to out. Relative paths and
// package patterns start at dir.
func run(ctx context.Context, dir string, args []string, out io.Writer) error {
	opts, err := parse(args, out)
	if err != nil {
		return err
	}
	repo, err := loadRepository(ctx, dir)
	if err != nil {
		return err
	}
	chosenPackages, err := repo.match(ctx, dir, opts.packages)
	if err != nil {
		return err
	}
	all, lines, err := repo.changes()
	if err != nil {
		return err
	}
	judged, err := readEquivalents(filepath.Join(repo.root, equivalentsFile))
	if err != nil {
		return err
	}
	stale := judged.stale(all)
	queue := slices.DeleteFunc(order(all, lines, opts.seed), func(c change) bool {
		return judged[c.ID] || !slices.Contains(chosenPackages, c.Package)
	})
	if len(queue) == 0 {
		return fmt.Errorf("--packages %v: no production line there that a change could be made on", opts.packages)
	}

	if opts.list {
		for _, c := range queue[:min(opts.count, len(queue))] {
			fmt.Fprintf(out, "%s:%d  %s  %s\n", c.File, c.Line, c.Kind, c.Text)
		}
		printStale(out, stale)
		return nil
	}
	results, err := test(ctx, repo, queue, opts, out)
	if err != nil && ctx.Err() == nil {
		return err
	}
	r := newReport(opts, results, stale)
	r.interrupted = ctx.Err() != nil
	r.print(out)
	if r.interrupted {
		return errors.New("interrupted: the report holds what was tested until then")
	}
	if opts.json != "" {
		if err := writeJSON(opts.json, dir, r); err != nil {
			return err
		}
	}
	if tested := r.Caught + r.Survived; tested == 0 {
		return fmt.Errorf("none of %d changes compiled: nothing is known about the tests", r.NotCompiling)
	}
	if r.Score < opts.least {
		return fmt.Errorf("%.1f %% of the changes were caught; --least asks for %v %%", r.Score, opts.least)
	}
	return nil
}

func writeJSON(path, dir string, r report) error {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
