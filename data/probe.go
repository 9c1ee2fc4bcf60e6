package data

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unique"

	"konkanitrain/data/audio"
)

// sound is what is known of one audio file.
type sound struct {
	Recording
	path    string
	instead string // of which file it was taken, which isn't there; "" for none
	found   bool
	err     error
}

// probe reads the headers of all files that lines still need, each once, by the path as written. It stops when the
// context ends, whose cause is the error then.
func (in *intake) probe() error {
	r := &resolver{base: in.base, maps: in.options.PathMap, places: in.places, parents: in.parents}
	rows := in.rows
	tars := &beside{in: in}
	rows.found = append(rows.found, make([]sound, len(rows.paths.list)-in.sounds)...)
	wanted := make([]bool, len(rows.found))
	for i := in.from; i < len(rows.sounds); i++ {
		if s := rows.sounds[i]; s >= 0 && !wanted[s] {
			wanted[s] = rows.at(i).unfit == 0
		}
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(in.options.Workers, len(wanted)) {
		wait.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(wanted) && in.ctx.Err() == nil; i = next.Add(1) - 1 {
				if wanted[i] {
					in.look(&rows.found[i], int(i), r, tars)
				}
			}
		})
	}
	wait.Wait()
	in.index.Save() // also of a part, where it ends early
	in.notes = append(in.notes, tars.notes()...)
	in.notes = append(in.notes, in.index.Notes()...)
	if in.ctx.Err() != nil {
		return context.Cause(in.ctx)
	}
	return nil
}

// look finds sound number i and reads its header.
func (in *intake) look(f *sound, i int, r *resolver, tars *beside) {
	written := in.rows.paths.list[i]
	if i < len(in.rows.members) && in.rows.members[i] != nil {
		f.path, f.found, f.Source = written, true, in.rows.members[i]
	} else if f.path, f.instead, f.found = r.find(written); f.found {
		f.Source = audio.File(f.path)
	} else if f.Source, f.err = tars.find(written); f.Source != nil || f.err != nil {
		f.found = true
	} else if f.err = r.why(written); f.err != nil {
		f.found = true
	}
	if f.found && f.err == nil {
		if f.Info, f.err = in.index.Probe(f.Source); f.err == nil {
			f.Info.Path, f.Info.Format = f.path, unique.Make(f.Info.Format).Value() // once each in memory
		}
	}
}

// foundAny is one error if not a single file is where the manifest says.
func (in *intake) foundAny() error {
	r := in.rows
	first, n := -1, 0
	for i := in.from; i < len(r.sounds); i++ {
		s := r.sounds[i]
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
		in.path, n, r.at(first).line, written, looked, folder, pathHint(written))
}
