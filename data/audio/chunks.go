package audio

import (
	"encoding/binary"
	"fmt"
	"io"
)

// chunkAt reads the head of a chunk: its name and its size. It says whether it can be one: the name is printable, and
// the file has room for it.
func chunkAt(src io.ReaderAt, size, at int64, order binary.ByteOrder) (id string, n int64, ok bool) {
	var b [8]byte
	if got, _ := src.ReadAt(b[:], at); got < 8 {
		return "", 0, false
	}
	for _, c := range b[:4] {
		if c < ' ' || c > '~' {
			return "", 0, false
		}
	}
	id, n = string(b[:4]), int64(order.Uint32(b[4:]))
	return id, n, at+8+n+n%2 <= size+1
}

// onlyChunks says whether whole, plausible chunks fill the bytes from at to size, as
// they do after samples that are truly absent and can't in unmarked samples.
func onlyChunks(src io.ReaderAt, size, at int64, order binary.ByteOrder) bool {
	for range maxChunks {
		if size-at <= 1 { // the pad byte of the last chunk
			return true
		}
		_, n, ok := chunkAt(src, size, at, order)
		if !ok {
			return false
		}
		at += 8 + n + n%2
	}
	return false
}

// behind is where the chunk starts that follows one of n bytes whose content is at at. A chunk of an odd size ends with
// a pad byte, which some writers leave out: then the name of the next chunk stands in its place.
func (h *header) behind(src io.ReaderAt, size, at, n int64, id string, info *Info) int64 {
	end := at + n
	if n%2 == 0 {
		return end
	}
	_, _, padded := chunkAt(src, size, end+1, h.order())
	next, _, bare := chunkAt(src, size, end, h.order())
	if next == "data" || next == "fmt " || bare && !padded {
		info.warn("the chunk %q of %d bytes at byte %d has no pad byte behind it; read as it stands", id, n, at-8)
		return end
	}
	return end + 1
}

// more says what lies behind the samples from at on if it is sound, or may be: further samples, another file, or
// something that is no chunk and as long as 10 ms of sound. It is "" for chunks of other kinds.
func (h *header) more(src io.ReaderAt, size, at int64) string {
	for range maxChunks {
		id, n, ok := chunkAt(src, size, at, h.order())
		switch {
		case id == "RIFF" || id == "RIFX" || id == "RF64" || id == "BW64":
			return fmt.Sprintf("another file of %d bytes", size-at)
		case id == "data":
			return fmt.Sprintf("further samples, %d bytes with what follows them", size-at)
		case !ok && size-at >= int64(h.rate/100*h.block):
			return fmt.Sprintf("%d bytes that are no chunk, which would be %d samples", size-at, (size-at)/int64(h.block))
		case !ok:
			return ""
		}
		at += 8 + n + n%2
	}
	return ""
}
