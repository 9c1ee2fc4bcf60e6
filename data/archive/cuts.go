package archive

import (
	"encoding/binary"
	"errors"
	"sort"

	"github.com/klauspost/compress/snappy"
)

// cut is a place in a Snappy block where decompression can begin: nothing behind it refers to what lies before.
type cut struct{ plain, packed uint32 }

// cutEvery is about how far cuts lie apart, in decompressed bytes. It is how much Snappy's own encoder compresses at a
// time, each piece without the others.
const cutEvery = 1 << 16

var errSnappy = errors.New("damaged Snappy data")

// snappyCuts finds the cuts of a block by its elements alone, literals and copies, whatever encoder wrote it. The first
// is at the start, the last at the end: [C+1] for C pieces. (Snappy format description, sections 1 and 2.)
func snappyCuts(b []byte) ([]cut, error) {
	size, at := binary.Uvarint(b)
	if at <= 0 || size > 1<<31-1 {
		return nil, errSnappy
	}
	cuts := []cut{{0, uint32(at)}}
	plain := 0
	for at < len(b) {
		if last := cuts[len(cuts)-1]; plain-int(last.plain) >= cutEvery {
			cuts = append(cuts, cut{uint32(plain), uint32(at)})
		}
		tag := b[at]
		at++
		more := int(tag & 3) // bytes of a copy's offset
		if more == 3 {
			more = 4
		}
		length := int(tag>>2) + 1
		if more == 0 && length > 60 {
			more = length - 60
		}
		if more > len(b)-at {
			return nil, errSnappy
		}
		number := 0
		for i := range more {
			number |= int(b[at+i]) << (8 * i)
		}
		at += more
		if tag&3 == 0 {
			if length > 60 {
				length = number + 1
			}
			if length > len(b)-at {
				return nil, errSnappy
			}
			at += length
		} else {
			if tag&3 == 1 {
				length = 4 + int(tag>>2&7)
				number |= int(tag>>5) << 8
			}
			from := plain - number
			if from < 0 || number == 0 {
				return nil, errSnappy
			}
			for int(cuts[len(cuts)-1].plain) > from {
				cuts = cuts[:len(cuts)-1]
			}
		}
		if plain += length; uint64(plain) > size {
			return nil, errSnappy
		}
	}
	if uint64(plain) != size {
		return nil, errSnappy
	}
	return append(cuts, cut{uint32(plain), uint32(len(b))}), nil
}

// covering is the pieces, from first up to but without last, that bytes from up to to lie in.
func covering(cuts []cut, from, to uint32) (first, last int) {
	first = sort.Search(len(cuts), func(i int) bool { return cuts[i].plain > from }) - 1
	last = sort.Search(len(cuts), func(i int) bool { return cuts[i].plain >= to })
	return first, max(last, first)
}

// decodePieces decompresses the pieces between two cuts.
func decodePieces(b []byte, size uint32) ([]byte, error) {
	whole := binary.AppendUvarint(make([]byte, 0, len(b)+binary.MaxVarintLen32), uint64(size))
	return snappy.Decode(nil, append(whole, b...))
}
