package audio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	goaudio "github.com/go-audio/audio"
	"github.com/go-audio/wav"
)

// integers decodes PCM samples of 1 to 4 bytes with go-audio/wav.
//
// The library believes the sizes of a file's chunks and knows no extensible tag, so it is not shown the file's own
// header but a plain one of 44 bytes that says what readHeader found out; what stands for the chunk of samples is
// the piece that was just read.
type integers struct {
	decoder *wav.Decoder
	size    int // bytes of a sample that decoder was made for
	piece   bytes.Reader
	buf     goaudio.IntBuffer
}

// reset makes ready for samples of size bytes (1 to 4).
func (d *integers) reset(size int) error {
	if d.size == size {
		return nil
	}
	plain := binary.LittleEndian.AppendUint32([]byte("RIFF"), 36)
	plain = binary.LittleEndian.AppendUint32(append(plain, "WAVEfmt "...), 16)
	plain = binary.LittleEndian.AppendUint16(plain, tagPCM)
	plain = binary.LittleEndian.AppendUint16(plain, 1)    // channels: frames are put together by header.decode
	plain = binary.LittleEndian.AppendUint32(plain, 8000) // rate, unused
	plain = binary.LittleEndian.AppendUint32(plain, uint32(8000*size))
	plain = binary.LittleEndian.AppendUint16(plain, uint16(size))
	plain = binary.LittleEndian.AppendUint16(plain, uint16(8*size))
	plain = binary.LittleEndian.AppendUint32(append(plain, "data"...), 0)
	d.decoder = wav.NewDecoder(bytes.NewReader(plain))
	if err := d.decoder.FwdToPCM(); err != nil {
		return fmt.Errorf("decoding samples of %d bytes: %w", size, err)
	}
	d.decoder.PCMChunk.R = &d.piece
	d.size = size
	return nil
}

// decode returns the samples of b, little-endian, of the size that reset was given, as they are written: those of one
// byte lie around 128. The next decode overwrites them.
func (d *integers) decode(b []byte) ([]int, error) {
	n := len(b) / d.size
	if cap(d.buf.Data) < n {
		d.buf.Data = make([]int, n)
	}
	d.buf.Data = d.buf.Data[:n]
	d.piece.Reset(b)
	got, err := d.decoder.PCMBuffer(&d.buf)
	if err == nil && got < n {
		err = fmt.Errorf("%d samples of %d", got, n)
	}
	if err != nil {
		return nil, fmt.Errorf("decoding samples of %d bytes: %w", d.size, err)
	}
	return d.buf.Data, nil
}

// integer says whether the samples are integers that the type integers decodes.
func (h *header) integer() bool { return h.tag == tagPCM && h.container <= 4 }

// mean turns the integers of whole frames into the mean of their channels as decode does.
func (h *header) mean(dst []float32, samples []int) (sound bool) {
	zero, shift := 0, 0
	if h.container == 1 { // up to 8 bits are unsigned
		zero = 128
	}
	if h.low {
		shift = 8
	}
	full := math.Ldexp(1, 1-8*h.container) // one over the largest sample's size
	heard := 0
	share := 1 / float64(h.channels)
	for i := range dst {
		sum := 0.0
		for _, v := range samples[i*h.channels : (i+1)*h.channels] {
			v = int(int32((v - zero) << shift))
			heard |= v
			sum += float64(v) * full
		}
		dst[i] = float32(sum * share)
	}
	return heard != 0
}
