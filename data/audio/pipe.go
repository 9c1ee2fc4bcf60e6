package audio

import (
	"errors"
	"fmt"
	"io"
	"os"

	"konkanitrain/internal/words"
)

// Spool is where sound from a pipe is kept that can't be read from its start to its end alone.
type Spool struct {
	Dir   string // "" is the system's folder for temporary files
	Limit int64  // the most bytes of it
}

// pipeHead is the most that may stand before the samples of a WAV file that comes through a pipe, in bytes.
const pipeHead = 1 << 20

// OpenPipe is a Track of what comes through a pipe; name is for messages. WAV is decoded as it comes, also where its
// header gives no length, or a wrong one: to the end of the pipe then, or where the header says that the samples end.
// Other formats are read here from their ends, or are looked through before they are decoded; they are put into a file
// first, which nobody else sees and which is gone when the Track is closed. The error says where there is too much for
// that, or that it is no sound.
func OpenPipe(name string, r io.Reader, s Spool) (*Track, error) {
	p := &pipe{name: name, r: r}
	head := make([]byte, 12)
	n, err := p.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if head = head[:n]; n == 0 {
		return nil, fmt.Errorf("%s: nothing came, 0 bytes (%w)", name, ErrNoSamples)
	}
	if n == 12 && string(head[8:]) == "WAVE" {
		return p.wav()
	}
	return p.spool(s)
}

// pipe is the start of what comes through a pipe, kept, and the rest.
type pipe struct {
	name string
	r    io.Reader
	head []byte
	end  error // of r; nil: there may be more
}

// ReadAt reads from the start, which it takes from the pipe as far as needed.
func (p *pipe) ReadAt(b []byte, at int64) (int, error) {
	for int64(len(p.head)) < at+int64(len(b)) && p.end == nil {
		if len(p.head) >= pipeHead {
			return 0, fmt.Errorf("more than %s before the first sample", words.Bytes(pipeHead))
		}
		more := make([]byte, 4096)
		n, err := p.r.Read(more)
		p.head, p.end = append(p.head, more[:n]...), err
	}
	if p.end != nil && p.end != io.EOF {
		return 0, p.end
	}
	if at >= int64(len(p.head)) {
		return 0, io.EOF
	}
	n := copy(b, p.head[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// endless is the size of a file of which the end isn't known, in bytes.
const endless = 1 << 62

// wav is the Track of a WAV file.
func (p *pipe) wav() (*Track, error) {
	info, h, declared, err := walk(p, endless, p.name)
	if err != nil && p.end == io.EOF { // it is all there, and its true size makes the better message
		info, h, declared, err = walk(p, int64(len(p.head)), p.name)
	}
	if err != nil {
		return nil, err
	}
	info.Rate, info.Channels, info.Format = h.rate, h.channels, h.format()
	t := &Track{Info: info, close: func() error { return nil }}
	if declared > 0 && declared < unknownSize {
		t.Info.Samples = int(declared / int64(h.block))
	}
	t.play = func(use func([]float32) error) (Info, error) { return p.playWAV(t.Info, h, declared, use) }
	return t, nil
}

// playWAV plays samples as they come.
func (p *pipe) playWAV(info Info, h *header, declared int64, use func([]float32) error) (Info, error) {
	var r Reader
	if h.integer() {
		if err := r.ints.reset(h.container); err != nil {
			return info, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	left := int64(endless)
	if info.Samples > 0 {
		left = int64(info.Samples) * int64(h.block)
	}
	var e ear
	var a alignment
	info.Samples = 0
	p.head = p.head[min(h.dataAt, int64(len(p.head))):]
	piece := make([]byte, max(pieceBytes/h.block, 1)*h.block)
	have, end := 0, p.end
	for left > 0 && (end == nil || len(p.head) > 0) {
		want := piece[have:min(int64(len(piece)), int64(have)+left)]
		n := copy(want, p.head)
		if p.head = p.head[n:]; n == 0 {
			n, end = p.r.Read(want) // what there is: it may come as it is spoken
		}
		have, left = have+n, left-int64(n)
		whole := have / h.block * h.block
		if whole == 0 {
			continue
		}
		b := piece[:whole]
		if h.mayBeLow() {
			a.look(b, h.bigEndian)
			h.low = a.right()
		}
		rest := append([]byte(nil), piece[whole:have]...) // decoding overwrites
		if err := r.give(h, e.n, b, &e, use); err != nil {
			var own *useError
			if errors.As(err, &own) {
				return info, own.error
			}
			return info, fmt.Errorf("%s: %w", p.name, err)
		}
		have = copy(piece, rest)
	}
	info.Samples = e.n
	info.FileSamples = e.n
	switch {
	case end != nil && end != io.EOF:
		return info, fmt.Errorf("%s: after %s: %w", p.name, words.Count(e.n, "sample"), end)
	case e.n == 0:
		return info, fmt.Errorf("%s: a header but no sound (%w)", p.name, ErrNoSamples)
	case declared > 0 && declared < unknownSize && left > 0:
		info.warn("cut off: the header declares %d samples, %d came", declared/int64(h.block), e.n)
	}
	e.warn(&info)
	return info, nil
}

// spool puts all of it into a file.
func (p *pipe) spool(s Spool) (*Track, error) {
	if _, err := p.ReadAt(make([]byte, headBytes), 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	if !starts(p.head, "fLaC") && !starts(p.head, "OggS") && !mp3Starts(p.head) && skipID3(p.head) == 0 {
		return nil, notRead(p.name, p.head)
	}
	file, err := os.CreateTemp(s.Dir, "konkanitrain-*.sound")
	if err != nil {
		return nil, fmt.Errorf("%s: it is no WAV, so it is put into a file first: %w", p.name, err)
	}
	b := &spooled{File: file}
	_ = os.Remove(file.Name()) // where that can't be done to an open file, Close does it
	if err := p.copy(b, s); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	t, err := newTrack(b, p.name, nil, 0, 0)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return t, nil
}

// copy fills the file.
func (p *pipe) copy(b *spooled, s Spool) error {
	n, err := b.Write(p.head[:min(int64(len(p.head)), s.Limit)])
	b.size = int64(n)
	if err == nil && p.end == nil {
		var rest int64
		rest, err = io.Copy(b.File, io.LimitReader(p.r, s.Limit-b.size+1))
		b.size += rest
	}
	if err != nil {
		return fmt.Errorf("%s: it is no WAV, so it is put into a file first: after %s: %w", p.name, words.Bytes(b.size), err)
	}
	if b.size > s.Limit || int64(len(p.head)) > s.Limit {
		return fmt.Errorf("%s: it is no WAV, so it is put into a file first, and more than the %s came that such a file may have; "+
			"give it as a file, or as WAV (... | ffmpeg -i - -f wav - | ...), which is read as it comes", p.name, words.Bytes(s.Limit))
	}
	p.head = nil
	return nil
}

// spooled is what came through a pipe, in a file.
type spooled struct {
	*os.File
	size int64
}

func (s *spooled) Size() int64 { return s.size }

func (s *spooled) Close() error {
	err := s.File.Close()
	_ = os.Remove(s.Name()) // mostly it is gone already
	return err
}

// unknownSize is the least size of samples, in bytes, with which writers into pipes say that they don't know it: sox
// writes 0x7FFFF000 less its header, and ffmpeg 0xFFFFFFFF. 0 says so too.
const unknownSize = 0x7FFFF000 - 0x1000
