package audio

import (
	"io"

	"github.com/hajimehoshi/go-mp3"
)

// mp3WarmUp is how many frames are decoded before those that are wanted. A frame's data may start up to 511 bytes
// before it, in as many frames before as these take (9 of the shortest at 32 kbit/s, more of those that hold little
// sound); its overlap and the filter bank reach back two frames.
const mp3WarmUp = 12

// decode decodes from mp3WarmUp frames before the first sample that is wanted.
func (s *mp3Stream) decode(src io.ReaderAt, first int, out *sink) error {
	each := int64(s.head.samples())
	want := int64(first) + s.skip
	from := max(want/each-mp3WarmUp, 0) * each // the first sample of the frame to start with
	p := s.points[s.points.before(from)]
	f := newMP3Frames(s, src, p.at)
	for sample := p.sample; sample+each <= from; sample += each {
		if _, err := f.frame(); err != nil {
			return f.ended(err)
		}
	}
	dec, err := mp3.NewDecoder(f)
	if err != nil {
		return f.ended(err)
	}
	out.skip = int(want - from)
	buf := make([]byte, 4*each)
	mono := make([]float32, each)
	for {
		n, err := io.ReadFull(dec, buf)
		if n < len(buf) {
			return f.ended(err)
		}
		sound := false
		for i := range mono {
			l, r := int16(uint16(buf[4*i])|uint16(buf[4*i+1])<<8), int16(uint16(buf[4*i+2])|uint16(buf[4*i+3])<<8)
			sound = sound || l != 0 || r != 0
			mono[i] = (mp3Value(l) + mp3Value(r)) / 2
		}
		if err := out.put(mono, sound); err != nil {
			return err
		}
	}
}

// mp3Value undoes what the library makes of a sample: it multiplies by 32767 and drops the fraction, half of which is
// given back.
func mp3Value(v int16) float32 {
	switch {
	case v > 0:
		return (float32(v) + 0.5) / 32767
	case v < 0:
		return (float32(v) - 0.5) / 32767
	}
	return 0
}
