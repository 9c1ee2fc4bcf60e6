package archive

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"konkanitrain/data/audio"
)

// sounds is what is known of the recordings in an archive, by where they lie in it; or of files, by their path.
type sounds struct {
	id    identity
	known map[string]known
	dirty bool
}

type known struct {
	size, time int64 // of a file of its own
	info       []byte
}

// Probe describes a recording, as [audio.Probe] does, without opening it where the index knows it. What it finds is
// kept by Save: of all recordings in archives, and of files that are not WAV, since their whole length may have to be
// gone through.
func (x *Index) Probe(src audio.Source) (audio.Info, error) {
	archive, key, k, err := x.key(src)
	if err != nil {
		return audio.Probe(src) // which says what is wrong with it
	}
	if b := x.lookUp(archive, key, k); b != nil {
		info := audio.Info{Path: src.Name()}
		if info.UnmarshalBinary(b) == nil {
			return info, nil
		}
	}
	info, err := audio.Probe(src)
	if err != nil || archive.path == "" && strings.Contains(info.Format, "PCM") {
		return info, err
	}
	if k.info, err = info.MarshalBinary(); err != nil {
		return info, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.sounds[archive.path]; s != nil {
		s.known[key], s.dirty = k, true
	}
	return info, nil
}

// key is the archive that a source lies in, and what it is called there; or no archive, and a file's path and state.
func (x *Index) key(src audio.Source) (archive identity, key string, k known, err error) {
	var r recorder
	switch s := src.(type) {
	case *span:
		r.number(s.at)
		archive, err = s.file.identity()
	case *cell:
		r.number(int64(s.row))
		archive, err = s.places.file.identity()
	case audio.File:
		id, err := identify(string(s))
		return identity{}, id.path, known{size: id.size, time: id.time}, err
	default:
		return identity{}, "", known{}, errors.New("a source that isn't kept")
	}
	return archive, string(r), known{}, err
}

// lookUp finds what is known of a recording; nil if nothing is.
func (x *Index) lookUp(archive identity, key string, k known) []byte {
	x.mu.Lock()
	s := x.sounds[archive.path]
	x.mu.Unlock()
	if s == nil {
		s = &sounds{id: archive}
		s.replay(x.load("sound", archive))
		x.mu.Lock()
		if x.sounds[archive.path] == nil {
			x.sounds[archive.path] = s
		}
		s = x.sounds[archive.path]
		x.mu.Unlock()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if found, ok := s.known[key]; ok && found.size == k.size && found.time == k.time {
		return found.info
	}
	return nil
}

// Save keeps what was found out since the last call, and forgets it here.
func (x *Index) Save() {
	x.mu.Lock()
	all := x.sounds
	x.sounds = map[string]*sounds{}
	x.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if s := all[path]; s.dirty {
			x.save("sound", s.id, s.record())
		}
	}
}

func (s *sounds) record() []byte {
	var r recorder
	r.number(int64(len(s.known)))
	for _, key := range slices.Sorted(maps.Keys(s.known)) {
		k := s.known[key]
		r.text(key)
		r.number(k.size)
		r.number(k.time)
		r.text(string(k.info))
	}
	return r
}

func (s *sounds) replay(b []byte) {
	r := replayer{b: b}
	s.known = map[string]known{}
	for range r.count() {
		key, k := r.text(), known{}
		k.size, k.time, k.info = r.number(), r.number(), []byte(r.text())
		s.known[key] = k
	}
	if b != nil && !r.whole() {
		s.known = map[string]known{}
	}
}
