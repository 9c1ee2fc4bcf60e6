package archive

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

var errValues = errors.New("damaged values")

// hybrid decodes n numbers of so many bits of Parquet's run-length and bit-packing hybrid.
// (Parquet format, Encodings, RLE.)
func hybrid(b []byte, width uint, n int) ([]int32, error) {
	if width > 32 {
		return nil, errValues
	}
	out := make([]int32, 0, n)
	for len(out) < n {
		head, used := binary.Uvarint(b)
		if used <= 0 {
			return nil, errValues
		}
		b = b[used:]
		count := head >> 1
		if head&1 == 0 { // a run
			size := int(width+7) / 8
			if count == 0 || len(b) < size {
				return nil, errValues
			}
			var v uint32
			for i := range size {
				v |= uint32(b[i]) << (8 * i)
			}
			b = b[size:]
			for range min(count, uint64(n-len(out))) {
				out = append(out, int32(v))
			}
			continue
		}
		if width == 0 {
			for range min(count, uint64(n-len(out))/8+1) * 8 {
				out = append(out, 0)
			}
			out = out[:min(len(out), n)]
			continue
		}
		r := bitReader{b: b}
		if count > uint64(len(b)) || count == 0 {
			return nil, errValues
		}
		for range min(int(count)*8, n-len(out)) {
			v, ok := r.take(width)
			if !ok {
				return nil, errValues
			}
			out = append(out, int32(v))
		}
		b = b[min(int(count)*int(width), len(b)):]
	}
	return out, nil
}

// bitReader takes numbers of so many bits, the lowest bits of a byte first.
type bitReader struct {
	b  []byte
	at int // bits
}

func (r *bitReader) take(width uint) (uint64, bool) {
	if r.at+int(width) > 8*len(r.b) {
		return 0, false
	}
	var v uint64
	for i := uint(0); i < width; {
		bit := uint(r.at & 7)
		n := min(8-bit, width-i)
		v |= uint64(r.b[r.at>>3]>>bit&byte(1<<n-1)) << i
		i, r.at = i+n, r.at+int(n)
	}
	return v, true
}

// deltas decodes numbers that are written as differences, at most n of them, and returns what stands behind them.
// (Parquet format, Encodings, DELTA_BINARY_PACKED.)
func deltas(b []byte, n int) (out []int64, rest []byte, err error) {
	var head [3]uint64
	for i := range head {
		v, used := binary.Uvarint(b)
		if used <= 0 {
			return nil, nil, errValues
		}
		head[i], b = v, b[used:]
	}
	block, minis, count := head[0], head[1], head[2]
	value, used := binary.Varint(b)
	if used <= 0 || count > uint64(n) || minis == 0 || block == 0 || block > 1<<20 || block%minis != 0 {
		return nil, nil, errValues
	}
	b = b[used:]
	if count > 0 {
		out = append(out, value)
	}
	for uint64(len(out)) < count {
		low, used := binary.Varint(b)
		if used <= 0 || uint64(len(b)-used) < minis {
			return nil, nil, errValues
		}
		widths := b[used : used+int(minis)]
		b = b[used+int(minis):]
		for _, width := range widths {
			if uint64(len(out)) == count {
				break
			}
			each := int(block / minis)
			size := (each*int(width) + 7) / 8
			if width > 64 || size > len(b) {
				return nil, nil, errValues
			}
			r := bitReader{b: b[:size]}
			for range min(each, int(count)-len(out)) {
				v, ok := r.take(uint(width))
				if !ok {
					return nil, nil, errValues
				}
				value += low + int64(v)
				out = append(out, value)
			}
			b = b[size:]
		}
	}
	return out, b, nil
}

// extent is where a value's bytes lie in a page; at is -1 where there is no value.
type extent struct{ at, size int32 }

// plainExtents are those of byte arrays that each have their length before them. base is where b lies in the page.
func plainExtents(b []byte, n, base int) ([]extent, error) {
	out := make([]extent, 0, n)
	at := 0
	for len(out) < n {
		if len(b)-at < 4 {
			return nil, errValues
		}
		size := binary.LittleEndian.Uint32(b[at:])
		at += 4
		if uint64(size) > uint64(len(b)-at) {
			return nil, errValues
		}
		out = append(out, extent{int32(base + at), int32(size)})
		at += int(size)
	}
	return out, nil
}

// deltaExtents are those of byte arrays that lie one behind the other after all their lengths.
func deltaExtents(b []byte, n, base int) ([]extent, error) {
	lengths, rest, err := deltas(b, n)
	if err != nil || len(lengths) < n {
		return nil, errValues
	}
	out := make([]extent, n)
	at := len(b) - len(rest)
	for i, size := range lengths[:n] {
		if size < 0 || size > int64(len(b)-at) {
			return nil, errValues
		}
		out[i] = extent{int32(base + at), int32(size)}
		at += int(size)
	}
	return out, nil
}

// prefixed decodes byte arrays that each begin with a part of the one before, at most limit bytes in all.
// (Parquet format, Encodings, DELTA_BYTE_ARRAY.)
func prefixed(b []byte, n, limit int) ([]string, error) {
	prefixes, b, err := deltas(b, n)
	if err != nil || len(prefixes) < n {
		return nil, errValues
	}
	suffixes, err := deltaExtents(b, n, 0)
	if err != nil {
		return nil, err
	}
	out := make([]string, n)
	last := ""
	for i, s := range suffixes {
		if prefixes[i] < 0 || prefixes[i] > int64(len(last)) {
			return nil, errValues
		}
		last = last[:prefixes[i]] + string(b[s.at:s.at+s.size])
		if limit -= len(last); limit < 0 {
			return nil, errValues
		}
		out[i] = last
	}
	return out, nil
}

// widthOf is how many bits numbers up to most need.
func widthOf(most int) uint { return uint(bits.Len(uint(most))) }
