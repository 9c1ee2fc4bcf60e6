package recognize

import (
	"fmt"
	"math"

	"konkanitrain/data/audio"
	"konkanitrain/data/cut"
	"konkanitrain/data/feature"
	"konkanitrain/engine"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/update"
)

// TranscribeOptions say how recordings are taken apart.
type TranscribeOptions struct {
	PieceSeconds   float64 // what is recognized at once, at most; 0: DefaultPiece, or less where the model learned from short utterances
	OverlapSeconds float64 // that two pieces share where there is no pause; 0: DefaultOverlap, or a quarter of a piece where that is less

	Planned  func(*TranscribePlan) // is told what it will take, before anything is read; nil: nobody is
	Progress func(Progress)        // is told how far it is, after each batch; nil: nobody is
	Batch    func(BatchMemory)     // is told what the memory is after each batch; nil: nobody is
	Warn     func(string)          // is told what is odd about a recording, when it has ended; nil: the model's log is
}

// Defaults of TranscribeOptions, in seconds.
const (
	DefaultPiece   = 20
	DefaultOverlap = 4
)

// ShortestPiece is the least PieceSeconds.
const ShortestPiece = cut.ShortestPiece

// Where the longest utterance of training is so short that DefaultPiece is more, a piece has two of it and so many
// seconds beside: longer ones are unlike anything that the network has heard.
const besideTwo = 2

// cut is how sound is cut for a model.
func (o TranscribeOptions) cut(d *Description) cut.Options {
	c := cut.Options{
		Rate: d.Features.SampleRate, Longest: o.PieceSeconds, Overlap: o.OverlapSeconds, Step: d.Network.Subsampling, Phrases: cut.Sentences(),
	}
	if d.Phrases != nil {
		c.Phrases = *d.Phrases
	}
	if c.Longest == 0 {
		c.Longest = DefaultPiece
		if longest := c.Phrases.Longest; longest > 0 {
			c.Longest = min(c.Longest, math.Ceil(2*longest+besideTwo))
		}
	}
	if c.Overlap == 0 {
		c.Overlap = min(DefaultOverlap, c.Longest/4)
	}
	return c
}

// TranscribePlan is what a transcription takes in memory: whatever the number of recordings and their lengths. Counts
// are bytes.
type TranscribePlan struct {
	PieceSeconds float64 // of a piece, at most: less than was asked for where the memory wants that
	Asked        float64 // seconds that were asked for
	Workers      int

	Program  int64 // the process, before anything was loaded
	Weights  int64 // and language models
	Arenas   int64 // of all workers
	Host     bool  // weights and arenas lie in the same memory as the rest
	Programs int64 // compiled programs and tables
	Decoding int64
	Sound    int64 // read, resampled, and as features, with what Go's heap grows beyond it
	Limit    int64 // of the memory that the sound lies in; 0: none

	cut        cut.Options
	readers    int // recordings that are read at once
	extractors int // pieces that features are made of at once
	window     int // samples that are recognized at once
	ahead      int // samples that may be in hand, but for what a batch waits for
	arena      int64
}

// Total is what is held of the memory that the sound lies in.
func (p *TranscribePlan) Total() int64 {
	sum := p.Program + p.Programs + p.Decoding + p.Sound
	if p.Host {
		sum += p.Weights + p.Arenas
	}
	return sum
}

// String is a line for people.
func (p *TranscribePlan) String() string {
	limit := "no limit"
	if p.Limit > 0 {
		limit = "a limit of " + words.Bytes(p.Limit)
	}
	where := fmt.Sprintf("weights and models %s, %s with %s each", words.Bytes(p.Weights), words.Count(p.Workers, "worker"), words.Bytes(p.arena))
	if !p.Host {
		where += " (on the card)"
	}
	s := fmt.Sprintf("memory: %s at most, however long the sound is, under %s: the program %s, %s, compiled programs %s, decoding %s, sound %s; pieces of up to %g s",
		words.Bytes(p.Total()), limit, words.Bytes(p.Program), where, words.Bytes(p.Programs), words.Bytes(p.Decoding), words.Bytes(p.Sound), p.PieceSeconds)
	if p.PieceSeconds < p.Asked {
		s += fmt.Sprintf(", not %g s, for which there is no room", p.Asked)
	}
	return s
}

// What is in hand at once.
const (
	piecesPerWorker = 4 // of the longest, that are recognized at once
	mostReaders     = 8 // recordings that are read at once
)

// atOnce is how many samples are resampled at a time.
const atOnce = 8192

// usualRates are those whose resampling is counted from the beginning, in Hz.
var usualRates = []int{8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000}

// PlanTranscribe says what a transcription takes in memory, and holds what of it are no buffers. Where there isn't
// enough for pieces as long as they are asked for, they are shorter. Where there isn't enough for the shortest, the
// error wraps *device.OutOfMemory.
func (m *Model) PlanTranscribe(o TranscribeOptions) (*TranscribePlan, error) {
	c := o.cut(m.Description)
	if err := c.Validate(); err != nil {
		return nil, err
	}
	m.unplan()
	var last error
	for longest := c.Longest; longest >= cut.ShortestPiece; longest /= 2 {
		for pieces := piecesPerWorker; pieces >= 1; pieces /= 2 {
			p := &TranscribePlan{PieceSeconds: longest, Asked: c.Longest, cut: c}
			p.cut.Longest, p.cut.Overlap = longest, c.Overlap*longest/c.Longest
			if last = m.fill(p, pieces); last == nil {
				return p, nil
			}
			m.unplan()
			if !OutOfMemory(last) {
				return nil, last
			}
		}
	}
	return nil, fmt.Errorf("there is not enough memory to recognize even short pieces of sound: %w; raise memory_limit, or use fewer cpu_workers", last)
}

// fill fills in the plan, with so many pieces for each worker at once, and holds what it says. The error says that it
// doesn't fit.
func (m *Model) fill(p *TranscribePlan, pieces int) (err error) {
	u := m.replica.Usage()
	p.Workers, p.Program, p.Weights, p.Host = m.workers(), m.program, u.Weights+m.models, m.pools.Host == nil || m.onHost()
	p.readers, p.extractors = min(max(p.Workers, 2), mostReaders), p.Workers
	if pieces == 1 { // memory is short
		p.readers, p.extractors = 1, 1
	}
	p.window = pieces * p.Workers * p.cut.Samples()
	p.ahead = 2 * p.window
	if p.Sound, err = p.soundBytes(m.Description.Features); err != nil {
		return err
	}
	most, err := m.Description.Features.Frames(p.cut.Samples(), p.cut.Rate, audio.Ratio{})
	if err != nil {
		return err
	}
	p.Decoding = m.recognizer.Bytes(most, pieces*p.Workers+1)
	variants := m.largest(most)
	m.replica.Forget()
	if err := m.replica.MakeTables(variants[0]); err != nil {
		return err
	}
	one := m.replica.ProgramBytes() + m.replica.MachineBytes()
	u = m.replica.Usage()
	p.Programs = u.Tables + u.Workspaces + int64(min(len(variants)*bucketsAnOctave, engine.ProgramsKept))*one
	prices, err := m.replica.Prices(variants)
	if err != nil {
		return err
	}
	m.replica.Shrink(0)
	if m.pools.Host != nil {
		if p.Limit = m.pools.Host.Usage().Limit; p.Limit > 0 && p.Total() > p.Limit {
			return m.noRoom(p.Sound, fmt.Sprintf("reading sound in pieces of %g s", p.PieceSeconds))
		}
		for name, bytes := range p.held() {
			_ = m.pools.Host.Hold(name, bytes) // there is room, as it was counted
		}
	}
	room := m.replica.Room()
	least := prices[0].Bytes
	if d := m.recognizer.script; d.asksDecoder() {
		tokens := model.Shape{Frames: most}.Encoded(m.Description.Network) // CTC has no more than frames
		step, err := m.replica.Prices([]update.Variant{update.Stepped(min(d.width(), update.MostPrefixes), most, tokens, m.Description.Network)})
		if err != nil {
			return err
		}
		least = max(least, step[0].Bytes)
	}
	if least > room {
		return m.noRoom(int64(p.Workers)*least, fmt.Sprintf("recognizing pieces of %g s", p.PieceSeconds))
	}
	p.arena = least
	for _, price := range prices {
		if price.Bytes <= room {
			p.arena = max(p.arena, price.Bytes)
		}
	}
	p.Arenas = int64(p.Workers) * p.arena
	return nil
}

// held is what the plan says of the process beside its buffers, by name.
func (p *TranscribePlan) held() map[string]int64 {
	return map[string]int64{"programs and tables": p.Programs, "decoding": p.Decoding, "sound in hand": p.Sound}
}

// unplan takes back what a plan holds.
func (m *Model) unplan() {
	if m.pools.Host != nil {
		for name := range (&TranscribePlan{}).held() {
			_ = m.pools.Host.Hold(name, 0)
		}
		_ = m.pools.Host.Hold(resampling, 0)
	}
	m.recognizer.runner.Fit.SetLimit(max(min(m.replica.Room(), math.MaxInt64-1), 1))
}

// bucketsAnOctave is about how many lengths of micro-batches there are with each number of rows: two octaves of pieces.
const bucketsAnOctave = 16

// largest are the largest programs that pieces of so many feature frames need, the one with a single row first.
func (m *Model) largest(most int) (list []update.Variant) {
	net, wishes, purpose := m.Description.Network, m.replica.Wishes(), model.Transcribing
	if m.recognizer.script.asksDecoder() {
		purpose = model.Listening
	}
	for rows := 1; rows <= batchSize; rows *= 2 {
		encoded := min(model.Shape{Frames: most}.Encoded(net), wishes.Rows/rows)
		if rows == 1 {
			encoded = model.Shape{Frames: most}.Encoded(net)
		}
		if encoded < 1 {
			break
		}
		list = append(list, update.Padded(purpose, rows, encoded*net.Subsampling, net))
	}
	return list
}

// soundBytes is what recordings take that are read, whatever their number and lengths.
func (p *TranscribePlan) soundBytes(f feature.Options) (int64, error) {
	samples, most := p.ahead+p.window+p.cut.Samples(), p.cut.Samples()
	r := f.Resampler
	flow, out := int64(0), int64(0) // of a reader, and what it resamples at a time
	var ratios []audio.Ratio
	for _, rate := range usualRates {
		ratio, err := audio.Convert(rate, f.SampleRate, audio.Ratio{})
		if err != nil {
			return 0, err
		}
		ratios = append(ratios, ratio)
		flow = max(flow, r.FlowBytes(atOnce, ratio))
		out = max(out, 4*int64(ratio.Len(atOnce)))
	}
	scratch, err := f.ScratchBytes(most, f.SampleRate, audio.Ratio{}, nil)
	if err != nil {
		return 0, err
	}
	reader := audio.TrackBytes + flow + 2*out + p.cut.Bytes(int(out/4))
	features := int64(f.NumMels) * 4 * int64(samples/(p.cut.Rate/100))
	return garbage * (features + int64(p.readers)*reader + int64(p.extractors)*(4*int64(most)+scratch) + r.KernelBytes(ratios)), nil
}
