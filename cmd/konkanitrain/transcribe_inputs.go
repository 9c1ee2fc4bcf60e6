package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"konkanitrain/data"
	"konkanitrain/recognize"
)

// standardInput is what stands for it among files.
const standardInput = "-"

// manifestEndings are those of files that are no sound.
var manifestEndings = []string{".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".scp", ".gz", ".tar", ".parquet"}

// recordings are the sounds that files, folders and manifests name, in their order. missing counts what manifests name
// that can't be had, each of which is told to w.
func (c *transcribeConfig) recordings(ctx context.Context, files []string, w io.Writer) (list []recognize.Recording, missing int, err error) {
	for _, path := range append(slices.Clone(files), c.Manifest...) {
		pattern, _ := data.Pattern(path)
		switch {
		case path == standardInput:
			list = append(list, recognize.Recording{Name: standardInput, Pipe: os.Stdin, Spool: c.spool()})
		case pattern || slices.Contains(c.Manifest, path) || isFolder(path) || slices.Contains(manifestEndings, strings.ToLower(filepath.Ext(path))):
			some, left, err := manifestRecordings(ctx, path, w)
			if err != nil {
				return nil, 0, err
			}
			list, missing = append(list, some...), missing+left
		default:
			list = append(list, recognize.FileRecording(path))
		}
	}
	return list, missing, nil
}

// manifestRecordings are the sounds of a manifest or a folder.
func manifestRecordings(ctx context.Context, path string, w io.Writer) (list []recognize.Recording, missing int, err error) {
	set, err := data.Load(ctx, path, data.Options{SoundOnly: true, SkipBadLines: true, BadLimit: 1})
	if err != nil {
		return nil, 0, err
	}
	for _, n := range set.Report.Notes {
		if n.Skipped {
			fmt.Fprintf(w, "konkanitrain: %v\n", n)
		}
	}
	for kind, skipped := range set.Report.Sorts() {
		if skipped {
			missing += set.Report.CountOf(kind, true)
		}
	}
	for _, u := range set.All() {
		list = append(list, recognize.UtteranceRecording(u))
	}
	return list, missing, nil
}
