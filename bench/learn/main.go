// Command learn tries recipes for learning from little speech: it trains each on each task with several seeds, writes
// down what came of it, and makes a table and a page with curves of that.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/pflag"

	"konkanitrain/checkpoint"
)

// options say what is tried, and where.
type options struct {
	corpora
	tasks, recipes []string // names; none: all
	seeds          []uint
	sheet          string // the file of recipes
	out            string
	jobs           int
	program        string
	results        string // a file of results, to report on alone
	page           string
}

func main() {
	var o options
	pflag.StringVar(&o.recordings, "recordings", "", "folder of the Free Spoken Digit Dataset's recordings, DIGIT_SPEAKER_TAKE.wav; for digits and sequences")
	pflag.StringVar(&o.spoken, "sentences", "", "folder with synth (train.jsonl, dev.jsonl, test.jsonl) and held (all.jsonl) in it; for sentences")
	pflag.StringVar(&o.script, "make-sentences", "", "in place of --sentences: the script that speaks those of --text")
	pflag.StringVar(&o.text, "text", "", "with --make-sentences: a sentence a line, 170 or more")
	pflag.StringVar(&o.examples, "words", filepath.Join("examples", "konkani_words"), "folder of the bundled words")
	pflag.StringSliceVar(&o.tasks, "tasks", nil, fmt.Sprintf("tasks to learn, of %v; none: those that there is sound for", strings.Join(taskNames(), ", ")))
	pflag.StringSliceVar(&o.recipes, "recipes", nil, "names of recipes to try; none: all")
	pflag.UintSliceVar(&o.seeds, "seeds", []uint{1, 2, 3}, "a run for each")
	pflag.StringVar(&o.sheet, "sheet", filepath.Join("bench", "learn", "recipes.yaml"), "file of recipes")
	pflag.StringVar(&o.out, "out", filepath.Join("runs", "learn"), "folder for all that is made; what is done in it is not done again")
	pflag.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "cores: as many runs at a time, or one that takes them all")
	pflag.StringVar(&o.program, "program", os.Getenv("KONKANITRAIN"), "the program that trains")
	pflag.StringVar(&o.results, "results", "", "make no run: print the table of this file of results, and write the --page")
	pflag.StringVar(&o.page, "page", "", "the page with tables and curves; empty: OUT/page.html, and with --results none")
	pflag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	do := learn
	if o.results != "" {
		do = reportAlone
	}
	if err := do(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "learn:", err)
		os.Exit(1)
	}
}

// learn makes the runs that have no result yet.
func learn(ctx context.Context, o options, out io.Writer) error {
	if o.program == "" {
		return errors.New("no --program: start it by bench/learn.sh, which builds one")
	}
	if o.jobs < 1 || o.jobs > 1024 {
		return fmt.Errorf("--jobs is %d, want 1 to 1024", o.jobs)
	}
	if len(o.seeds) == 0 {
		return errors.New("--seeds names none: give one or more")
	}
	s, err := readSheet(o.sheet)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return err
	}
	lock, err := checkpoint.Lock(o.out)
	if err != nil {
		return err
	}
	defer lock.Close()
	done, err := openResults(filepath.Join(o.out, "results.jsonl"))
	if err != nil {
		return err
	}
	l, err := newLearner(o.program, o.out)
	if err != nil {
		return err
	}
	jobs, err := o.all(s)
	if err != nil {
		return err
	}
	if o.page == "" {
		o.page = filepath.Join(o.out, "page.html")
	}
	err = l.every(ctx, jobs, done, o.jobs, out)
	sections := summarize(done.list, s.names())
	return errors.Join(err, os.WriteFile(filepath.Join(o.out, "table.md"), []byte(markdown(tables(sections))), 0o666), writePage(sections, o.page))
}

// reportAlone reports on results that are there.
func reportAlone(_ context.Context, o options, out io.Writer) error {
	s, err := readSheet(o.sheet)
	if err != nil {
		return err
	}
	if _, err := os.Stat(o.results); err != nil {
		return fmt.Errorf("--results: %w", err)
	}
	done, err := openResults(o.results)
	if err != nil {
		return err
	}
	sections := summarize(done.list, s.names())
	if _, err := io.WriteString(out, markdown(tables(sections))); err != nil || o.page == "" {
		return err
	}
	return writePage(sections, o.page)
}

// all lists the runs: of each task, seed by seed, all recipes.
func (o *options) all(s *sheet) ([]*job, error) {
	list, err := chosen(o.tasks)
	if err != nil {
		return nil, err
	}
	for _, name := range o.recipes {
		if s.named(name, len(s.Recipes)) == nil {
			return nil, fmt.Errorf("--recipes: there is no recipe %q in %s", name, o.sheet)
		}
	}
	var jobs []*job
	for _, t := range list {
		if len(o.tasks) == 0 && !o.source(t) {
			continue
		}
		dir, err := filepath.Abs(filepath.Join(o.out, "data", t.name))
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
		folds, err := t.build(&o.corpora, dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		for _, seed := range o.seeds {
			for i := range s.Recipes {
				r := &s.Recipes[i]
				if !r.isFor(t) || len(o.recipes) > 0 && !slices.Contains(o.recipes, r.Name) {
					continue
				}
				p, err := s.planFor(r, t, ".")
				if err != nil {
					return nil, fmt.Errorf("%s: %w", r.Name, err)
				}
				sum, _ := sumOf(strings.NewReader(p.preset))
				for _, f := range folds {
					k := key{t.name, f.name, r.Name, uint64(seed), strings.Join(p.flags.list(), " "), sum}
					dir, err := filepath.Abs(filepath.Join(o.out, "runs", k.folder()))
					if err != nil {
						return nil, err
					}
					jobs = append(jobs, &job{k, r.What, r.over(s), p, f, dir})
				}
			}
		}
	}
	return jobs, nil
}

// source says whether the sound of a task was given.
func (o *options) source(t *task) bool {
	switch t.preset {
	case "words":
		return true
	case "sentences":
		return o.spoken != "" || o.script != ""
	}
	return o.recordings != ""
}

// every makes all runs that have no result, as many at a time as there are cores.
func (l *learner) every(ctx context.Context, jobs []*job, done *results, cores int, out io.Writer) error {
	var todo []*job
	for _, j := range jobs {
		if !done.done(j.key) {
			todo = append(todo, j)
		}
	}
	fmt.Fprintf(out, "%d runs, %d of them to be made; the program is %s\n", len(jobs), len(todo), l.revision)
	var mutex sync.Mutex // of all below
	free := sync.NewCond(&mutex)
	left, ended, failed := cores, 0, 0
	var problems []error
	defer context.AfterFunc(ctx, func() { mutex.Lock(); free.Broadcast(); mutex.Unlock() })()
	mutex.Lock()
	defer mutex.Unlock()
	for _, j := range todo {
		want := 1
		if j.plan.all {
			want = cores
		}
		for left < want && ctx.Err() == nil && len(problems) == 0 {
			free.Wait()
		}
		if ctx.Err() != nil || len(problems) > 0 {
			break
		}
		left -= want
		go func() {
			r, err := l.run(ctx, j, want)
			mutex.Lock()
			defer mutex.Unlock()
			defer free.Broadcast()
			left += want
			if err == nil {
				err = done.add(*r)
			}
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", j.name(), err))
				return
			}
			ended++
			if r.Failed != "" {
				failed++
			}
			fmt.Fprintf(out, "%s  %s  (%d of %d)\n", j.name(), r.line(), ended, len(todo))
		}()
	}
	for left < cores {
		free.Wait()
	}
	if ctx.Err() != nil {
		return fmt.Errorf("stopped: %d of %d runs have ended, and started again it goes on with the others", len(jobs)-len(todo)+ended, len(jobs))
	}
	if failed > 0 {
		problems = append(problems, fmt.Errorf("%d of %d runs have failed", failed, len(todo)))
	}
	return errors.Join(problems...)
}

// line is what is said of a result at once.
func (r *result) line() string {
	if r.Failed != "" {
		return "FAILED: " + strings.ReplaceAll(r.Failed, "\n", "\n    ")
	}
	text := fmt.Sprintf("WER %.2f %%  CER %.2f %%  exact %.2f %%  blanks %.0f %%", r.WER, r.CER, r.Exact, r.Blanks)
	for _, m := range r.More {
		text += fmt.Sprintf("  %s: CER %.2f %%", m.Name, m.CER)
	}
	return text + fmt.Sprintf("  %d updates of %.3f CPU s, %.0f s", r.Updates, r.CPU, r.Seconds)
}

// sumOf is the first digits of a SHA-256.
func sumOf(r io.Reader) (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil))[:12], err
}
