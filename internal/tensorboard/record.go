package tensorboard

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	headBytes = 8 + 4     // length and its checksum
	tailBytes = 4         // checksum of the data
	mostBytes = 256 << 20 // of the data of a record: far more than anything written here
)

// ErrTorn says that a file ends within a record, as that of a killed process may.
var ErrTorn = errors.New("the file ends within a record")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is the masked CRC-32C of a record's part.
func checksum(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// appendRecord appends data as a record.
func appendRecord(to, data []byte) []byte {
	at := len(to)
	to = binary.LittleEndian.AppendUint64(to, uint64(len(data)))
	to = binary.LittleEndian.AppendUint32(to, checksum(to[at:]))
	to = append(to, data...)
	return binary.LittleEndian.AppendUint32(to, checksum(data))
}

// Reader reads the records of a file.
type Reader struct {
	in   *bufio.Reader
	data []byte
	at   int64 // bytes of whole records
}

// NewReader reads from the start of a file.
func NewReader(in io.Reader) *Reader { return &Reader{in: bufio.NewReader(in)} }

// At is where the record begins that Next reads next, in bytes.
func (r *Reader) At() int64 { return r.at }

// Next is the next record's event. At the end of the file the error is io.EOF, or ErrTorn; any other means that the
// file is damaged, and nothing behind it can be read.
func (r *Reader) Next() (*Event, error) {
	var head [headBytes]byte
	if _, err := io.ReadFull(r.in, head[:]); err != nil {
		return nil, torn(err)
	}
	length := binary.LittleEndian.Uint64(head[:8])
	if checksum(head[:8]) != binary.LittleEndian.Uint32(head[8:]) {
		return nil, fmt.Errorf("byte %d: the length of a record doesn't agree with its checksum", r.at)
	}
	if length > mostBytes {
		return nil, fmt.Errorf("byte %d: a record of %d bytes, more than the %d that are read", r.at, length, mostBytes)
	}
	if err := r.fill(int64(length) + tailBytes); err != nil {
		return nil, torn(err)
	}
	data, tail := r.data[:length], r.data[length:]
	if checksum(data) != binary.LittleEndian.Uint32(tail) {
		return nil, fmt.Errorf("byte %d: a record of %d bytes doesn't agree with its checksum", r.at, length)
	}
	e, err := parseEvent(data)
	if err != nil {
		return nil, fmt.Errorf("byte %d: %w", r.at, err)
	}
	r.at += headBytes + int64(length) + tailBytes
	return e, nil
}

// fill reads n bytes, and takes memory for those alone that are there.
func (r *Reader) fill(n int64) error {
	r.data = r.data[:0]
	for n > 0 {
		part := min(n, 1<<20)
		at := len(r.data)
		r.data = append(r.data, make([]byte, part)...)
		if _, err := io.ReadFull(r.in, r.data[at:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		n -= part
	}
	return nil
}

func torn(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrTorn
	}
	return err
}
