package audio

import (
	"bytes"
	"encoding/binary"
	"io"
)

// skipTags is where the tags end that other programs put behind sound, or between two files that they joined: ID3v1
// and ID3v2, APE, Lyrics3 and MusicMatch's. It is at where no whole tag is.
func skipTags(src io.ReaderAt, at, size int64) int64 {
	for at < size {
		n := tagBytes(src, at, size)
		if n == 0 || n > size-at {
			break
		}
		at += n
	}
	return at
}

// tagBytes is how long the tag at byte at says it is, 0 if there is none.
func tagBytes(src io.ReaderAt, at, size int64) int64 {
	b := make([]byte, min(32, size-at))
	n, _ := src.ReadAt(b, at)
	b = b[:n]
	switch {
	case starts(b, "TAG+"): // before an ID3v1 tag
		return 227
	case starts(b, "TAG"):
		return 128
	case starts(b, "ID3"):
		return skipID3(b)
	case starts(b, "3DI"): // what is left of an ID3v2 tag at the end
		return 10
	case starts(b, "APETAGEX") && len(b) == 32:
		if binary.LittleEndian.Uint32(b[20:])&(1<<29) == 0 { // a footer alone
			return 32
		}
		return 32 + int64(binary.LittleEndian.Uint32(b[12:]))
	case starts(b, "LYRICSBEGIN"):
		return lyricsBytes(src, at, size)
	}
	return 0
}

// lyricsBytes is how long a Lyrics3 tag is, which ends with one of two words, 0 where neither comes soon.
func lyricsBytes(src io.ReaderAt, at, size int64) int64 {
	for most := int64(1 << 10); most <= 1<<18; most *= 4 {
		b := make([]byte, min(most, size-at))
		n, _ := src.ReadAt(b, at)
		for _, end := range []string{"LYRICS200", "LYRICSEND"} {
			if i := bytes.Index(b[:n], []byte(end)); i >= 0 {
				return int64(i + len(end))
			}
		}
	}
	return 0
}
