package data

import (
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"konkanitrain/data/audio"
	"konkanitrain/data/perturb"
	"konkanitrain/internal/words"
)

// noiseBytes is the most that recordings of noise take: 70 minutes at 16 kHz.
const noiseBytes = 128 << 20

// Noise is the recordings that noise for training is taken from, kept in memory at one sample rate. Where all of them
// would take more than 128 MiB, each is cut to its first seconds, as many as there is room for.
type Noise struct {
	Recordings []perturb.Recording // those that Read has found to be usable

	set     *Set
	lengths []int // in samples at the sample rate; 0 of what Read has left out
	most    int   // samples that are kept of each
	pending int64 // bytes that Read will take
}

// LoadNoise reads manifests of any form, without texts, or folders of sound files, and the headers of what they list;
// what can't be used is left out, and is in Report. It is an error if nothing can be used. Options are those for
// training utterances; their limits are of no matter.
func LoadNoise(ctx context.Context, manifests []string, o Options) (*Noise, error) {
	return loadNoise(ctx, manifests, o, noiseBytes)
}

func loadNoise(ctx context.Context, manifests []string, o Options, limit int64) (*Noise, error) {
	list, err := ParseManifests(manifests)
	if err != nil {
		return nil, err
	}
	for _, m := range list {
		if m.Weight != 1 {
			return nil, fmt.Errorf("%v: noise has no weights: all of its recordings are as likely", m)
		}
	}
	set, err := LoadAll(ctx, list, Options{SampleRate: o.SampleRate, PathMap: o.PathMap, Index: o.Index, Workers: o.Workers,
		SoundOnly: true, SkipBadLines: true, BadLimit: 1})
	if err != nil {
		return nil, err
	}
	n := &Noise{set: set, lengths: make([]int, set.Len())}
	for i := range n.lengths {
		samples, rate := set.sound(i)
		ratio, err := audio.Convert(rate, o.SampleRate, audio.Ratio{})
		if err != nil {
			return nil, err // Load has left such recordings out
		}
		n.lengths[i] = ratio.Len(samples)
	}
	n.most = fair(n.lengths, int(limit/perturb.Bytes(1)))
	for _, length := range n.lengths {
		n.pending += perturb.Bytes(min(length, n.most))
	}
	return n, nil
}

// fair is the largest limit with which numbers that are cut to it sum up to no more than total.
func fair(numbers []int, total int) int {
	sorted := slices.Sorted(slices.Values(numbers))
	for i, n := range sorted {
		left := len(sorted) - i
		if n > total/left {
			return total / left
		}
		total -= n
	}
	return slices.Max(sorted)
}

// Report says what was left out when the headers were read.
func (n *Noise) Report() *Report { return n.set.Report }

// Pending is what Read will take to keep, in bytes; 0 once it was called.
func (n *Noise) Pending() int64 { return n.pending }

// String says how much there is, as far as is known: what has no sound in it is found by Read.
func (n *Noise) String() string {
	used, cut, samples := 0, 0, 0
	for _, length := range n.lengths {
		samples += length
		if length > 0 {
			used++
		}
		if length > n.most {
			cut++
		}
	}
	seconds := func(samples int) float64 { return float64(samples) / float64(n.set.SampleRate) }
	s := fmt.Sprintf("%s, %s", words.Count(used, "recording"), words.Duration(seconds(samples)))
	if cut > 0 {
		s += fmt.Sprintf("; of %d longer ones the first %.1f s are kept", cut, seconds(n.most))
	}
	return s
}

// Identity is a hash of what Recordings are: names and lengths, in their order. Draws depend on it.
func (n *Noise) Identity() string {
	h := fnv.New64a()
	for _, r := range n.Recordings {
		fmt.Fprintf(h, "%s\x00%d\n", r.Name, r.Len())
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// Read fills Recordings, in the order of the manifests, whatever the number of workers. What can't be read, or has no
// sound in it, is left out, and is among the notes; it is an error if nothing is left.
func (n *Noise) Read(ctx context.Context, workers int) ([]Note, error) {
	all := make([]perturb.Recording, n.set.Len())
	shared := audio.NewResampler()
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(max(workers, 1), len(all)) {
		wait.Go(func() {
			x := noiseReader{resampler: shared}
			for i := int(next.Add(1) - 1); i < len(all) && ctx.Err() == nil; i = int(next.Add(1) - 1) {
				u := n.set.At(i)
				r, err := x.read(u, n.set.SampleRate, min(n.lengths[i], n.most))
				switch {
				case err != nil:
					n.set.found(u, Unreadable, err.Error(), true)
				case r.Len() == 0:
					n.set.found(u, Silent, "all samples are equal", true)
				}
				all[i] = r
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	n.pending, n.Recordings = 0, nil
	for i, r := range all {
		if r.Len() == 0 {
			n.lengths[i] = 0
			continue
		}
		n.Recordings = append(n.Recordings, r)
	}
	notes := n.set.News()
	slices.SortFunc(notes, func(a, b Note) int { return strings.Compare(a.ID, b.ID) })
	if len(n.Recordings) == 0 {
		return nil, fmt.Errorf("none of the recordings can be used; the first: %v", notes[0])
	}
	return notes, nil
}

// soundFiles lists the sound files in a folder and below, by their endings and in the order of their paths.
func (l *listing) soundFiles(folder string) error {
	count := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		name := strings.ToLower(filepath.Base(path))
		if err != nil || d.IsDir() || strings.HasPrefix(name, "._") || !slices.Contains(soundEndings, filepath.Ext(name)) {
			return err
		}
		rel, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		count++
		l.add(entry{audio: filepath.ToSlash(rel), file: folder})
		return l.ctx.Err()
	})
	if err != nil && l.ctx.Err() == nil {
		return fmt.Errorf("manifest %s: %w", folder, err)
	}
	if count == 0 && err == nil {
		return fmt.Errorf("manifest %s: there is no sound file in this folder or below (%s); it has %s", folder, strings.Join(soundEndings, ", "), contents(folder))
	}
	return nil
}
