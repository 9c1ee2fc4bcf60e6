package main

import (
	"fmt"
	"slices"
)

// task is something to learn.
type task struct {
	name   string
	what   string // in words, for whoever reads the table
	preset string // the key of its base among the recipes
	words  bool   // utterances are single words: what counts is how many are right; else it is the character error rate
	all    bool   // a run wants all cores
	build  func(c *corpora, dir string) ([]fold, error)
}

// fold is one training set and what is tested on it.
type fold struct {
	name  string // "" of a task with one fold
	train string // manifests
	dev   string // "": none
	test  string
	more  []extra // further test sets, each scored with the same weights
}

// extra is a further test set.
type extra struct{ name, manifest string }

// tasks are all there are, in the order of the table.
var tasks = []*task{
	{name: "digits-theo", what: "spoken digits, five speakers to train on and theo to test on", preset: "digits", words: true,
		build: func(c *corpora, dir string) ([]fold, error) { return c.heldOut(dir, "theo") }},
	{name: "digits-jackson", what: "spoken digits, five speakers to train on and jackson to test on", preset: "digits", words: true,
		build: func(c *corpora, dir string) ([]fold, error) { return c.heldOut(dir, "jackson") }},
	{name: "digits-official", what: "spoken digits, takes 0 to 4 of all six speakers to test on", preset: "digits", words: true,
		build: (*corpora).official},
	{name: "sequences", what: "eight digits in a row, 40 recordings of five speakers to train on and 30 of jackson to test on", preset: "sequences",
		build: func(c *corpora, dir string) ([]fold, error) { return c.sequences(dir, "jackson") }},
	{name: "sequences-theo", what: "eight digits in a row, 40 recordings of five speakers to train on and 30 of theo to test on", preset: "sequences",
		build: func(c *corpora, dir string) ([]fold, error) { return c.sequences(dir, "theo") }},
	{name: "words", what: "bundled words, 80 recordings of four voices to train on and a fifth voice to test on, five times", preset: "words", words: true,
		build: (*corpora).words},
	{name: "sentences", what: "synthetic sentences, seven voices to train on and two to test on", preset: "sentences", all: true,
		build: (*corpora).sentences},
}

// taskNamed is the task of this name; nil where there is none.
func taskNamed(name string) *task {
	if i := slices.IndexFunc(tasks, func(t *task) bool { return t.name == name }); i >= 0 {
		return tasks[i]
	}
	return nil
}

// presetNames are the keys that a base may have.
func presetNames() []string {
	var names []string
	for _, t := range tasks {
		if !slices.Contains(names, t.preset) {
			names = append(names, t.preset)
		}
	}
	return names
}

// isTask says whether a recipe may name this: a task, or all tasks of a preset.
func isTask(name string) bool { return slices.Contains(knownTasks(), name) }

func knownTasks() []string {
	names := presetNames()
	for _, t := range tasks {
		if !slices.Contains(names, t.name) {
			names = append(names, t.name)
		}
	}
	return names
}

// chosen are the tasks of these names, in the order of the table; all where there is no name.
func chosen(names []string) ([]*task, error) {
	if len(names) == 0 {
		return tasks, nil
	}
	for _, name := range names {
		if taskNamed(name) == nil {
			return nil, fmt.Errorf("--tasks: there is no task %q; there are %v", name, taskNames())
		}
	}
	var list []*task
	for _, t := range tasks {
		if slices.Contains(names, t.name) {
			list = append(list, t)
		}
	}
	return list, nil
}

func taskNames() []string {
	var names []string
	for _, t := range tasks {
		names = append(names, t.name)
	}
	return names
}
