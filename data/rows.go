package data

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"konkanitrain/data/audio"
	"konkanitrain/internal/philox"
)

// rows are the lines of a manifest, packed: a million take some 40 MB and their texts. What is asked of all of them,
// time and again, stands in a list of its own; the rest is unpacked for each utterance that is asked for.
type rows struct {
	keys    []uint64 // philox.ID of the identity
	samples []int64
	frames  []int32 // T
	sounds  []int32 // index in found and paths; -1 for none
	tokens  []int32 // U; nil before Tokenize
	repeats []int32 // the number behind # of a path that is listed again; 0 for none; nil where there is none at all

	lists    []uint16 // which of several manifests; nil where there is but one
	prefixes []int32  // one more than the number of what stands before the identity; 0 for none; nil where there is none at all

	places   []uint64 // of the packed rests
	packed   arena
	letters  *letters
	paths    interned // of sounds, as they are written
	speakers interned
	files    interned
	before   interned       // of prefixes
	values   interned       // of keys that are asked for
	members  []audio.Source // by path, of those that are none; it may be shorter than paths
	found    []sound        // by path

	pack []byte // to pack in
}

// The parts of a packed line that aren't always there.
const (
	hasID = 1 << iota
	hasSpeaker
	hasOffset
	hasOdd
	hasTwice
	hasFailed
	hasSamples
	hasValues
)

// packedRow is what is packed of a line. Its id is only valid while rows is.
type packedRow struct {
	file, line int
	part       bool
	inSamples  bool // offset is in samples
	offset     float64
	speaker    int // 0 for none, else one more than its number
	id         []byte
	odd        string
	twice      string // keys, with a NUL between them
	values     []int  // of keys that are asked for: 0 for none, else one more than their numbers; nil for none at all
	unfit      int    // 0, else one more than its place in kinds
	text       []byte // packed by letters
}

// add packs a line and says which row it is.
func (r *rows) add(e *entry) int {
	i := len(r.places)
	flags, b := byte(0), r.pack[:0]
	b = append(b, 0)
	b = binary.AppendUvarint(b, uint64(r.files.number(e.file)))
	b = binary.AppendUvarint(b, uint64(e.line))
	if e.id != "" {
		flags |= hasID
		b = append(binary.AppendUvarint(b, uint64(len(e.id))), e.id...)
	}
	if e.speaker != "" {
		flags |= hasSpeaker
		b = binary.AppendUvarint(b, uint64(r.speakers.number(e.speaker)))
	}
	if e.part {
		flags |= hasOffset
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(e.offset))
	}
	if e.samples {
		flags |= hasSamples
	}
	if e.odd != "" {
		flags |= hasOdd
		b = append(binary.AppendUvarint(b, uint64(len(e.odd))), e.odd...)
	}
	if len(e.twice) > 0 {
		flags |= hasTwice
		twice := strings.Join(e.twice, "\x00")
		b = append(binary.AppendUvarint(b, uint64(len(twice))), twice...)
	}
	if e.values != nil {
		flags |= hasValues
		b = binary.AppendUvarint(b, uint64(len(e.values)))
		for _, value := range e.values {
			number := uint64(0)
			if value != "" {
				number = 1 + uint64(r.values.number(value))
			}
			b = binary.AppendUvarint(b, number)
		}
	}
	if e.kind != "" {
		flags |= hasFailed
		b = append(b, byte(slices.Index(kinds, e.kind)))
	} else {
		at := len(b)
		b = append(b, 0, 0, 0, 0)
		b = r.letters.pack(b, e.text)
		binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	}
	b[0] = flags
	r.pack = b
	r.places = append(r.places, r.packed.add(b))
	sound := int32(-1)
	if e.audio != "" {
		sound = r.paths.number(e.audio)
		if e.source != nil {
			if need := int(sound) + 1 - len(r.members); need > 0 {
				r.members = append(r.members, make([]audio.Source, need)...)
			}
			r.members[sound] = e.source
		}
	}
	r.sounds = append(r.sounds, sound)
	return i
}

// at unpacks row i.
func (r *rows) at(i int) (p packedRow) {
	b := r.packed.at(r.places[i])
	flags := b[0]
	b = b[1:]
	number := func() int {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return int(v)
	}
	bytes := func() []byte {
		n := number()
		v := b[:n:n]
		b = b[n:]
		return v
	}
	p.file, p.line, p.inSamples = number(), number(), flags&hasSamples != 0
	if flags&hasID != 0 {
		p.id = bytes()
	}
	if flags&hasSpeaker != 0 {
		p.speaker = 1 + number()
	}
	if flags&hasOffset != 0 {
		p.part, p.offset = true, math.Float64frombits(binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	if flags&hasOdd != 0 {
		p.odd = string(bytes())
	}
	if flags&hasTwice != 0 {
		p.twice = string(bytes())
	}
	if flags&hasValues != 0 {
		p.values = make([]int, number())
		for k := range p.values {
			p.values[k] = number()
		}
	}
	if flags&hasFailed != 0 {
		p.unfit = int(b[0]) + 1
		return p
	}
	n := binary.LittleEndian.Uint32(b)
	p.text = b[4:][:n:n]
	return p
}

// appendID appends the identity of row i, which p was unpacked of, to b.
func (r *rows) appendID(b []byte, i int, p *packedRow) []byte {
	b = r.appendBase(b, i, p)
	if r.repeats != nil && r.repeats[i] > 0 {
		b = strconv.AppendInt(append(b, '#'), int64(r.repeats[i]), 10)
	}
	return b
}

// appendBase appends what an identity is before paths are numbered: the id key, or else the path as written (and the
// offset), behind the prefix where an earlier manifest has the same.
func (r *rows) appendBase(b []byte, i int, p *packedRow) []byte {
	if r.prefixes != nil && r.prefixes[i] > 0 {
		b = append(b, r.before.list[r.prefixes[i]-1]...)
	}
	return r.appendWritten(b, i, p)
}

// appendWritten appends what an identity is in its manifest, before it is told from others.
func (r *rows) appendWritten(b []byte, i int, p *packedRow) []byte {
	switch {
	case p.id != nil:
		return append(b, p.id...)
	case r.sounds[i] < 0:
		return b
	}
	b = append(b, r.paths.list[r.sounds[i]]...)
	if p.offset > 0 {
		b = fmt.Appendf(b, "@%v", p.offset)
	}
	return b
}

// id is the identity of row i.
func (r *rows) id(i int) string {
	p := r.at(i)
	return string(r.appendID(nil, i, &p))
}

// line is where a row stands in its list.
func (r *rows) line(p packedRow) string { return lineOf(r.files.list[p.file], p.line) }

// text is that of row i.
func (r *rows) text(i int) string { return r.letters.unpack(r.at(i).text) }

// utterance unpacks row i, without its tokens.
func (r *rows) utterance(i int) *Utterance {
	p := r.at(i)
	u := &Utterance{ID: string(r.appendID(nil, i, &p)), Offset: p.offset, File: r.files.list[p.file], Line: p.line, Text: r.letters.unpack(p.text)}
	if p.speaker > 0 {
		u.Speaker = r.speakers.list[p.speaker-1]
	}
	for k, value := range p.values {
		if u.Values == nil {
			u.Values = make([]string, len(p.values))
		}
		if value > 0 {
			u.Values[k] = r.values.list[value-1]
		}
	}
	if i < len(r.keys) {
		u.Key = r.keys[i]
	} else {
		u.Key = philox.ID(u.ID)
	}
	if s := r.sounds[i]; s >= 0 && r.found != nil {
		u.Recording = &r.found[s].Recording
		u.Offset = r.offset(i, &p)
	}
	if r.samples != nil {
		u.Samples, u.Frames = int(r.samples[i]), int(r.frames[i])
		u.Duration = float64(u.Samples) / float64(u.Rate())
	}
	return u
}

// keep moves row i to place k, which isn't behind it.
func (r *rows) keep(k, i int) {
	r.keys[k], r.samples[k], r.frames[k], r.sounds[k], r.places[k] = r.keys[i], r.samples[i], r.frames[i], r.sounds[i], r.places[i]
	if r.tokens != nil {
		r.tokens[k] = r.tokens[i]
	}
	if r.repeats != nil {
		r.repeats[k] = r.repeats[i]
	}
	if r.prefixes != nil {
		r.prefixes[k] = r.prefixes[i]
	}
	if i < len(r.lists) {
		r.lists[k] = r.lists[i]
	}
}

// cut keeps the first n rows.
func (r *rows) cut(n int) {
	r.keys, r.samples, r.frames, r.sounds, r.places = r.keys[:n], r.samples[:n], r.frames[:n], r.sounds[:n], r.places[:n]
	if r.tokens != nil {
		r.tokens = r.tokens[:n]
	}
	if r.repeats != nil {
		r.repeats = r.repeats[:n]
	}
	if r.prefixes != nil {
		r.prefixes = r.prefixes[:n]
	}
	r.lists = r.lists[:min(n, len(r.lists))]
}

// settle gives up what is only needed to add lines.
func (r *rows) settle() {
	r.paths.numbers, r.speakers.numbers, r.files.numbers, r.values.numbers, r.pack = nil, nil, nil, nil, nil
}

// offset is where row i, which p was unpacked of, starts in its recording, in seconds.
func (r *rows) offset(i int, p *packedRow) float64 {
	if p.inSamples {
		return p.offset / float64(r.found[r.sounds[i]].Info.Rate)
	}
	return p.offset
}

// seconds is the duration of row i.
func (r *rows) seconds(i int) float64 {
	return float64(r.samples[i]) / float64(r.found[r.sounds[i]].Info.Rate)
}

// pick is the rows in a list, which rises.
func (r *rows) pick(list []int) *rows {
	p := *r
	p.keys, p.samples, p.frames, p.sounds, p.places = slices.Clone(r.keys), slices.Clone(r.samples), slices.Clone(r.frames), slices.Clone(r.sounds), slices.Clone(r.places)
	p.tokens, p.repeats = slices.Clone(r.tokens), slices.Clone(r.repeats)
	p.prefixes, p.lists = slices.Clone(r.prefixes), slices.Clone(r.lists)
	for k, i := range list {
		p.keep(k, i)
	}
	p.cut(len(list))
	return &p
}
