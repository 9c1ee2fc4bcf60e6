package recognize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"konkanitrain/data"
	"konkanitrain/data/audio"
	"konkanitrain/data/cut"
	"konkanitrain/data/feature"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/recognize/transcript"
	"konkanitrain/update"
)

// recognize hears pieces in one pass. What there is no memory for is heard in shorter pieces, and so is all that comes
// after it.
func (t *transcribing) recognize(ctx context.Context, pieces []*piece) ([]row, error) {
	window := make([]*data.Example, len(pieces))
	for i, p := range pieces {
		window[i] = p.example
	}
	heard, err := t.hear(ctx, window)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(pieces))
	rate := float64(t.feature.SampleRate)
	for i, p := range pieces {
		r := row{heard[i].Shift(float64(p.start) / rate), heard[i].err}
		r.End = float64(p.start+p.samples) / rate
		if whole := p.flow.info.Seconds(); whole > 0 && r.End > whole-float64(frameShift) {
			r.End = whole // which may be a part of a sample less, or more
		}
		rows[i] = r
	}
	return rows, nil
}

// hear runs examples through the network. What doesn't fit even alone is halved.
func (t *transcribing) hear(ctx context.Context, window []*data.Example) ([]row, error) {
	heard, _, err := t.recognizer.decode(ctx, window, model.Transcribing)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(window))
	for i, x := range window {
		var large *update.TooLarge
		switch {
		case errors.As(x.Err, &large):
			if rows[i], err = t.halve(ctx, x, large); err != nil {
				return nil, err
			}
		default:
			rows[i] = row{heard[i].Segment, cmp.Or(x.Err, heard[i].err, heard[i].numbers)}
		}
	}
	return rows, nil
}

// halve hears an example in two halves that overlap, and has all pieces be as short from now on.
func (t *transcribing) halve(ctx context.Context, x *data.Example, large *update.TooLarge) (row, error) {
	bins := t.feature.NumMels
	overlap := max(x.Frames/8, 1)
	middle := x.Frames / 2
	seconds := frameShift * float64(middle+overlap)
	if seconds < 0.5*cut.ShortestPiece {
		return row{err: fmt.Errorf("%s: not even %.1f s of sound can be recognized at once: out of memory: %w", x.Utt.ID, x.Utt.Duration, large)}, nil
	}
	if shorter := max(seconds, cut.ShortestPiece); shorter < t.seconds() {
		t.shorten(shorter)
		fmt.Fprintf(t.log, "NOTICE: %v; pieces have up to %.1f s from now on\n", large, shorter)
	}
	half := func(from, to int) *data.Example {
		return &data.Example{
			Utt: &data.Utterance{ID: x.Utt.ID, Duration: frameShift * float64(to-from)}, Features: x.Features[from*bins : to*bins],
			Frames: to - from, Planned: to - from,
		}
	}
	from, to := middle-overlap, middle+overlap
	rows, err := t.hear(ctx, []*data.Example{half(0, to), half(from, x.Frames)})
	if err != nil {
		return row{}, err
	}
	for _, r := range rows {
		if r.err != nil {
			return r, nil
		}
	}
	left, right := rows[0].Segment, rows[1].Shift(frameShift*float64(from))
	left, right = stitch(left, right, frameShift*float64(from), frameShift*float64(to))
	return row{Segment: joined(left, right)}, nil
}

// joined is two segments as one.
func joined(a, b transcript.Segment) transcript.Segment {
	a.End, a.Alternatives = b.End, together(a, b)
	a.Words, a.Characters = append(a.Words, b.Words...), append(a.Characters, b.Characters...)
	a.Text = sentence(a.Words)
	return a
}

// chargeResampling has what the kernels of a rate take count, where the plan doesn't know the rate.
func (m *Model) chargeResampling(f feature.Options) func(rate int) error {
	var mu sync.Mutex
	known := map[int]bool{}
	for _, rate := range usualRates {
		known[rate] = true
	}
	var ratios []audio.Ratio
	return func(rate int) error {
		mu.Lock()
		defer mu.Unlock()
		if known[rate] || m.pools.Host == nil {
			return nil
		}
		ratio, err := audio.Convert(rate, f.SampleRate, audio.Ratio{})
		if err != nil {
			return err
		}
		bytes := f.Resampler.KernelBytes(append(ratios, ratio))
		if err := m.pools.Host.Hold(resampling, bytes); err != nil {
			_ = m.pools.Host.Hold(resampling, f.Resampler.KernelBytes(ratios))
			return fmt.Errorf("resampling from %d Hz: %w", rate, err)
		}
		known[rate], ratios = true, append(ratios, ratio)
		return nil
	}
}

// resampling is the name under which kernels of unusual rates are held.
const resampling = "resampling of unusual rates"

// BatchMemory is what the memory is after a batch, in bytes.
type BatchMemory struct {
	Batch   int // from 1
	Pieces  int
	Seconds float64
	Held    int64   // buffers, and what the process is said to hold beside
	Planned int64   // by the plan
	Limit   int64   // 0: none
	Ahead   float64 // seconds of sound that are read already
}

// String is a line for people.
func (b BatchMemory) String() string {
	limit := ""
	if b.Limit > 0 {
		limit = " of " + words.Bytes(b.Limit)
	}
	return fmt.Sprintf("memory: batch %d, %s of %.1f s: %s held%s, %s planned; %.1f s of sound ahead",
		b.Batch, words.Count(b.Pieces, "piece"), b.Seconds, words.Bytes(b.Held), limit, words.Bytes(b.Planned), b.Ahead)
}

// memory is what there is after a batch.
func (t *transcribing) memory(pieces int, seconds float64) BatchMemory {
	b := BatchMemory{Batch: t.batches, Pieces: pieces, Seconds: seconds, Planned: t.plan.Total(), Ahead: t.gate.seconds(t.feature.SampleRate)}
	if t.pools.Host != nil {
		u := t.pools.Host.Usage()
		b.Held, b.Limit = u.Reserved+u.Held, u.Limit
	}
	return b
}
