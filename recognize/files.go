package recognize

import (
	"context"
	"slices"

	"konkanitrain/data"
	"konkanitrain/data/feature"
	"konkanitrain/model"
	"konkanitrain/update"
)

// Files are transcribed in batches that are read and dealt together, in the order in which they were given.
const (
	filesPerWorker = 16      // in a batch, at least: so that all workers have about the same to do
	mostFrames     = 200_000 // feature frames of a batch that is made larger for the sake of a long file: half an hour
	filesProbed    = 256     // headers that are read at once
)

// queue cuts a list of files into batches.
type queue struct {
	paths      []string    // not looked at yet
	probed     []data.File // looked at, and in no batch yet
	net        model.Config
	sampleRate int // Hz
	workers    int
}

// next is the next batch; it is empty where there are no more files.
//
// A long file occupies one worker, so its batch goes on until the others have as much to do, but for memory: beside as
// many files of that length as there are workers, the arenas of which take far more, mostFrames are enough.
func (q *queue) next(ctx context.Context) ([]data.File, error) {
	var cost, longest float64
	total, most := 0, 0 // feature frames
	for n := 0; ; n++ {
		if n == len(q.probed) {
			if err := q.probe(ctx); err != nil {
				return nil, err
			}
		}
		if n == len(q.probed) || n >= filesPerWorker*q.workers && cost >= float64(q.workers)*longest {
			return q.take(n), nil
		}
		u := q.probed[n].Utterance
		if u == nil {
			continue
		}
		most = max(most, u.Frames)
		if total += u.Frames; n > 0 && total > max(mostFrames, q.workers*most) {
			return q.take(n), nil
		}
		c := update.Cost(model.Shape{Batch: 1, Frames: u.Frames, Tokens: 1}, q.net)
		cost += c
		longest = max(longest, c)
	}
}

// probe reads more headers.
func (q *queue) probe(ctx context.Context) error {
	some := q.paths[:min(filesProbed, len(q.paths))]
	files, err := data.Files(ctx, some, q.sampleRate)
	if err != nil {
		return err
	}
	q.paths = q.paths[len(some):]
	q.probed = append(q.probed, files...)
	return nil
}

// giveBack puts files at the front again.
func (q *queue) giveBack(files []data.File) { q.probed = append(slices.Clone(files), q.probed...) }

// take removes the first n files.
func (q *queue) take(n int) []data.File {
	batch := q.probed[:n:n]
	q.probed = append([]data.File(nil), q.probed[n:]...)
	return batch
}

// batch is files of which the sound is being read, or will be.
type batch struct {
	files  []data.File
	loader *data.Loader // nil where no file can be used
	stream *data.Stream // nil before start
	bytes  int64        // that the reading takes
	frames int          // feature frames of the longest
	rows   int          // how many they are
	alone  bool         // it takes so many that nothing is recognized meanwhile
}

// begin takes the next batch from the queue; nil where there are no more files. Under a limit it has so many files as
// can be read beside others, or a single one.
func (m *Model) begin(ctx context.Context, q *queue, f feature.Options) (*batch, error) {
	files, err := q.next(ctx)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	for {
		b := &batch{files: files}
		set := data.FileSet(files, q.sampleRate)
		if set.Len() == 0 {
			return b, nil
		}
		if b.loader, err = data.NewLoader(set, data.LoaderOptions{
			Evaluate: true, Window: set.Len(), Feature: f, Workers: min(q.workers, set.Len()), Ahead: 1,
		}); err != nil || !m.limited() {
			return b, err
		}
		b.bytes, b.frames, b.rows = reading(b.loader), longestOf(set), set.Len()
		if b.alone = float64(b.bytes) > aheadShare*float64(m.room()); !b.alone {
			return b, nil
		}
		if n := len(files) / 2; n > 0 {
			q.giveBack(files[n:])
			files = files[:n:n]
			continue
		}
		u := files[0].Utterance
		if err := m.tooLarge(u, b.bytes); err != nil {
			return &batch{files: []data.File{{Path: files[0].Path, Err: err}}}, nil
		}
		return b, nil
	}
}

// longestOf is how many feature frames the longest utterance of a set has.
func longestOf(set *data.Set) (frames int) {
	for i := range set.Len() {
		frames = max(frames, set.Frames(i))
	}
	return frames
}

// start begins to read, where that has not begun.
func (b *batch) start(ctx context.Context) (err error) {
	if b.loader != nil && b.stream == nil {
		b.stream, err = b.loader.Start(ctx, 0, 0)
	}
	return err
}

// close ends the reading. nil has nothing to end.
func (b *batch) close() {
	if b != nil && b.stream != nil {
		b.stream.Close()
	}
}
