package audio

import (
	"bytes"
	"fmt"
)

// magics are the first bytes of the formats that turn up under the name of sound;
// at is where they stand in the file.
var magics = []struct {
	at    int
	bytes string
	name  string
}{
	{0, "fLaC", "a FLAC file"},
	{0, "OggS", "an Ogg file (Vorbis, Opus or FLAC)"},
	{0, "ID3", "an MP3 file"},
	{0, "NIST_1A", "a NIST SPHERE file"},
	{8, "AIFF", "an AIFF file"},
	{8, "AIFC", "an AIFF-C file"},
	{8, "AVI ", "an AVI film"},
	{4, "ftyp", "an MP4 or M4A file"},
	{0, "caff", "a Core Audio file"},
	{0, ".snd", "an AU file"},
	{0, "\x1aE\xdf\xa3", "a WebM or Matroska file"},
	{0, "#!AMR", "an AMR file"},
	{0, "wvpk", "a WavPack file"},
	{0, "riff\x2e\x91\xcf\x11", "a Sony Wave64 file"},
	{0, "\x30\x26\xb2\x75", "a WMA or ASF file"},
	{0, "version https://git-lfs", "a Git LFS pointer, not the sound itself (run git lfs pull)"},
	{0, "<!DOCTYPE", "a web page"},
	{0, "<html", "a web page"},
	{0, "PK\x03\x04", "a ZIP archive"},
	{0, "\x1f\x8b", "a gzip archive"},
}

// notWAV says what a file is that doesn't start like a WAV file. head holds its
// first bytes.
func notWAV(path string, head []byte) error {
	for _, m := range magics {
		if len(head) >= m.at+len(m.bytes) && string(head[m.at:m.at+len(m.bytes)]) == m.bytes {
			return fmt.Errorf("%s: this is %s, and only WAV is read; convert it, for example with ffmpeg (%w)", path, m.name, ErrNotWAV)
		}
	}
	if len(head) >= 2 && head[0] == 0xff && head[1]&0xe0 == 0xe0 && head[1]&0x06 != 0 {
		return fmt.Errorf("%s: this is an MP3 file, and only WAV is read; convert it, for example with ffmpeg (%w)", path, ErrNotWAV)
	}
	if bytes.Count(head, []byte{0}) == len(head) {
		return fmt.Errorf("%s: the file starts with zeros where RIFF is expected; was it written completely? (%w)", path, ErrNotWAV)
	}
	if len(head) >= 12 && bytes.HasPrefix(head, []byte("RIFF")) {
		return fmt.Errorf("%s: a RIFF file of the kind %q where WAVE is expected (%w)", path, head[8:12], ErrNotWAV)
	}
	return fmt.Errorf("%s: the file starts with %.4q where RIFF is expected (%w)", path, head, ErrNotWAV)
}
