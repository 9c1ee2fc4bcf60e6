package audit

import (
	"encoding/binary"
	"math"

	"konkanitrain/data"
	"konkanitrain/data/audio"
)

// clipRate is the highest rate of a clip, in Hz.
const clipRate = 16000

// Clipper makes short WAV files of utterances, to be heard. The zero value is ready. It belongs to one goroutine.
type Clipper struct {
	reader audio.Reader
	resize *audio.Resampler
	out    []float32
}

// Clip is an utterance, or its first seconds, as a WAV file of one channel and 16 bits at 16 kHz, or at the recording's
// own rate where that is less. cut says that there is more of it. Errors name the file.
func (c *Clipper) Clip(u *data.Utterance, seconds float64) (wav []byte, cut bool, err error) {
	duration := u.Duration
	if cut = duration > seconds; cut {
		duration = seconds
	}
	_, x, err := c.reader.Read(u.Recording.Source, &u.Recording.Info, u.Offset, duration)
	if err != nil {
		return nil, false, err
	}
	rate := u.Rate()
	if rate > clipRate {
		if c.resize == nil {
			c.resize = audio.NewResampler()
		}
		ratio, err := audio.Convert(rate, clipRate, audio.Ratio{})
		if err != nil {
			return nil, false, err
		}
		x, rate = c.resize.Resample(c.out, x, ratio), clipRate
		c.out = x
	}
	return EncodeWAV(x, rate), cut, nil
}

// EncodeWAV writes samples of one channel at a rate in Hz as a WAV file of 16 bits: a RIFF file with a format chunk of
// 16 bytes (Microsoft, Multimedia Programming Interface and Data Specifications 1.0) and the samples. Those beyond full
// scale are clipped.
func EncodeWAV(x []float32, rate int) []byte {
	size := 2 * len(x)
	b := make([]byte, 0, 44+size)
	u16 := func(v int) { b = binary.LittleEndian.AppendUint16(b, uint16(v)) }
	u32 := func(v int) { b = binary.LittleEndian.AppendUint32(b, uint32(v)) }
	b = append(b, "RIFF"...)
	u32(36 + size)
	b = append(b, "WAVEfmt "...)
	u32(16)
	u16(1) // PCM
	u16(1) // channel
	u32(rate)
	u32(2 * rate)
	u16(2)
	u16(16)
	b = append(b, "data"...)
	u32(size)
	for _, v := range x {
		u16(int(int16(min(max(math.RoundToEven(32768*float64(v)), math.MinInt16), math.MaxInt16))))
	}
	return b
}
