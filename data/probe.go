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

// probe reads the headers of all files that lines still need, each once, by the path as written. It stops when the
// context ends, whose cause is the error then.
func (in *intake) probe() error {
	base := in.path
	if !in.folder {
		base = filepath.Dir(in.path)
	}
	r := &resolver{base: base, maps: in.options.PathMap, clips: in.clips}
	rows := in.rows
	rows.found = make([]sound, len(rows.paths.list))
	wanted := make([]bool, len(rows.found))
	for i, s := range rows.sounds {
		if s >= 0 && !wanted[s] {
			wanted[s] = rows.at(i).unfit == 0
		}
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(in.options.Workers, len(wanted)) {
		wait.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(wanted) && in.ctx.Err() == nil; i = next.Add(1) - 1 {
				if f := &rows.found[i]; wanted[i] {
					f.path, f.found = r.find(rows.paths.list[i])
					if f.found {
						f.Source = audio.File(f.path)
						f.Info, f.err = audio.Probe(f.Source)
					}
				}
			}
		})
	}
	wait.Wait()
	if in.ctx.Err() != nil {
		return context.Cause(in.ctx)
	}
	return nil
}

// foundAny is one error if not a single file is where the manifest says.
func (in *intake) foundAny() error {
	r := in.rows
	first, n := -1, 0
	for i, s := range r.sounds {
		if s < 0 || r.at(i).unfit > 0 {
			continue
		}
		if r.found[s].found {
			return nil
		}
		if n++; first < 0 {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	written, looked := r.paths.list[r.sounds[first]], r.found[r.sounds[first]].path
	folder := slashes(written)
	folder = folder[:max(strings.LastIndexByte(folder, '/'), 0)]
	if folder == "" {
		folder = "FOLDER"
	}
	if looked == written {
		looked = "written"
	}
	return fmt.Errorf("manifest %s: 0 of %d audio files found. The first, on line %d, is %s, looked for as %s. "+
		"If the files lie elsewhere on this computer, map the paths: --path_map '%s=NEW_FOLDER' (path_map in a YAML file)%s",
		in.path, n, r.at(first).line, written, looked, folder, tildeHint(written))
}
