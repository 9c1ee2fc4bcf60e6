package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"
)

// Verdicts.
const (
	caught       = "caught"
	survived     = "survived"
	notCompiling = "not compiling"
)

// result is a change and what the tests said.
type result struct {
	change
	Verdict  string  `json:"verdict"`
	By       string  `json:"by,omitempty"` // package and name of the test that caught it
	TimedOut bool    `json:"timed_out,omitempty"`
	Seconds  float64 `json:"seconds"`
}

// test makes the changes of the queue, one after the other, and runs tests on each until opts.count of them have
// compiled or the queue is empty. It prints a line for each, and returns the results in the queue's order, also
// beside an error. Which changes are tested doesn't depend on the number of workers.
func test(ctx context.Context, repo *repository, queue []change, opts options, out io.Writer) ([]result, error) {
	dir, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tests, err := newTester(ctx, repo, opts)
	if err != nil {
		return nil, err
	}

	var mu sync.Mutex // guards what follows, and out
	results := make([]result, len(queue))
	next, taken, done := 0, 0, 0 // of the queue; of them compiling, as far as is known; judged
	work := func() {
		mu.Lock()
		defer mu.Unlock()
		for taken < opts.count && next < len(queue) && ctx.Err() == nil {
			i := next
			next, taken = next+1, taken+1
			mu.Unlock()
			r, err := tests.judge(ctx, queue[i], filepath.Join(dir, fmt.Sprint(i)), opts.importers)
			mu.Lock()
			if err != nil {
				cancel(err) // the first one stays
				return
			}
			results[i] = r
			if r.Verdict == notCompiling {
				taken-- // the next one replaces it
			} else {
				done++
			}
			printResult(out, r, done, min(opts.count, len(queue)))
		}
	}
	var workers sync.WaitGroup
	for range opts.workers {
		workers.Go(work)
	}
	workers.Wait()
	judged := results[:0]
	for _, r := range results[:next] {
		if r.Verdict != "" {
			judged = append(judged, r)
		}
	}
	return judged, context.Cause(ctx)
}

// judge makes one change in an overlay, whose files go to the folder dir, and runs tests until one fails: those of
// the changed package, then those of its importers, nearest first.
func (t *tester) judge(ctx context.Context, c change, dir string, importers bool) (result, error) {
	r, start := result{change: c, Verdict: survived}, time.Now()
	overlay, ok, err := t.overlay(c, dir)
	if err != nil {
		return r, err
	}
	testers := t.repo.testers(c.Package)
	if !importers && len(testers) > 0 {
		testers = testers[:1]
		if testers[0] != c.Package {
			testers = nil
		}
	}
	if ok && len(testers) == 0 { // nothing will test it, but it may not compile
		ok = t.builds(ctx, c.Package, overlay)
	}
	if !ok {
		r.Verdict, testers = notCompiling, nil
	}
	for _, p := range testers {
		limit, err := t.limits[p]()
		if err != nil {
			return r, err
		}
		o, err := t.run(ctx, p, overlay, limit)
		if err != nil {
			return r, err
		}
		if o.verdict != survived {
			r.Verdict, r.TimedOut = o.verdict, o.timedOut
			if o.verdict == caught {
				r.By = path.Base(p) + " " + o.test
			}
			break
		}
	}
	r.Seconds = time.Since(start).Seconds()
	return r, ctx.Err()
}

// overlay writes the changed file and the JSON file that makes the go command read it in the place of the original.
// It reports false if the changed file is no Go file.
func (t *tester) overlay(c change, dir string) (file string, ok bool, err error) {
	original := filepath.Join(t.repo.root, filepath.FromSlash(c.File))
	src, err := os.ReadFile(original)
	if err != nil {
		return "", false, err
	}
	if src, err = c.apply(src); err != nil {
		return "", false, err
	}
	if !parses(src) {
		return "", false, nil
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", false, err
	}
	changed := filepath.Join(dir, filepath.Base(original))
	data, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		return "", false, err
	}
	if err := os.WriteFile(changed, src, 0o644); err != nil {
		return "", false, err
	}
	file = filepath.Join(dir, "overlay.json")
	return file, true, os.WriteFile(file, data, 0o644)
}
