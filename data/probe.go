package data

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"konkanitrain/data/audio"
)

// sound is what is known of one audio file.
type sound struct {
	Recording
	path  string
	found bool
	err   error
}

// probe reads the headers of all files that entries still need, each once, by the path as written. It stops when the
// context ends, whose cause is the error then.
func probe(ctx context.Context, l listing, manifest string, o Options) (map[string]*sound, error) {
	base := manifest
	if !l.folder {
		base = filepath.Dir(manifest)
	}
	r := &resolver{base: base, maps: o.PathMap, clips: l.clips}
	sounds := map[string]*sound{}
	var paths []string
	for i := range l.entries {
		if e := &l.entries[i]; e.kind == "" && sounds[e.audio] == nil {
			sounds[e.audio] = new(sound)
			paths = append(paths, e.audio)
		}
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(o.Workers, len(paths)) {
		wait.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(paths) && ctx.Err() == nil; i = next.Add(1) - 1 {
				f := sounds[paths[i]] // the map isn't written any more
				if f.path, f.found = r.find(paths[i]); f.found {
					f.Source = audio.File(f.path)
					f.Info, f.err = audio.Probe(f.Source)
				}
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return sounds, nil
}

// foundAny is one error if not a single file is where the manifest says.
func foundAny(sounds map[string]*sound, entries []entry, manifest string) error {
	var first *entry
	n := 0
	for i := range entries {
		e := &entries[i]
		if e.kind != "" {
			continue
		}
		if sounds[e.audio].found {
			return nil
		}
		if n++; first == nil {
			first = e
		}
	}
	if first == nil {
		return nil
	}
	folder := slashes(first.audio)
	folder = folder[:max(strings.LastIndexByte(folder, '/'), 0)]
	if folder == "" {
		folder = "FOLDER"
	}
	looked := sounds[first.audio].path
	if looked == first.audio {
		looked = "written"
	}
	return fmt.Errorf("manifest %s: 0 of %d audio files found. The first, on line %d, is %s, looked for as %s. "+
		"If the files lie elsewhere on this computer, map the paths: --path_map '%s=NEW_FOLDER' (path_map in a YAML file)%s",
		manifest, n, first.line, first.audio, looked, folder, tildeHint(first.audio))
}
