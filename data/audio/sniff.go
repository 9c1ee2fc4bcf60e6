package audio

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
)

// magics are the first bytes of the formats that turn up under the name of sound and are not read;
// at is where they stand in the file. ffmpeg says whether it converts them.
var magics = []struct {
	at     int
	bytes  string
	name   string
	ffmpeg bool
}{
	{0, "NIST_1A", "a NIST SPHERE file", true},
	{8, "AIFF", "an AIFF file", true},
	{8, "AIFC", "an AIFF-C file", true},
	{8, "AVI ", "an AVI film", true},
	{4, "ftypqt", "a QuickTime film", true},
	{4, "ftyp3g", "a 3GP file", true},
	{4, "ftyp", "an MP4 or M4A file (AAC)", true},
	{4, "moov", "a QuickTime film", true},
	{0, "caff", "a Core Audio file", true},
	{0, ".snd", "an AU file", true},
	{0, "\x1aE\xdf\xa3", "a WebM or Matroska file", true},
	{0, "#!AMR", "an AMR file", true},
	{0, "wvpk", "a WavPack file", true},
	{0, "MAC ", "a Monkey's Audio file", true},
	{0, "TTA1", "a True Audio file", true},
	{0, "ADIF", "an AAC file", true},
	{0, "FORM", "an IFF file", true},
	{0, "Creative Voice File", "a Creative Voice file", true},
	{0, "#!SILK_V3", "a SILK file", true},
	{0, "FLV", "a Flash film", true},
	{0, "riff\x2e\x91\xcf\x11", "a Sony Wave64 file", true},
	{0, "\x30\x26\xb2\x75", "a WMA or ASF file", true},
	{0, "version https://git-lfs", "a Git LFS pointer, not the sound itself (run git lfs pull)", false},
	{0, "<!DOCTYPE", "a web page", false},
	{0, "<html", "a web page", false},
	{0, "PK\x03\x04", "a ZIP archive", false},
	{0, "\x1f\x8b", "a gzip archive", false},
}

// readFormats is what messages say is read.
const readFormats = "WAV, FLAC, MP3, Ogg Vorbis and Ogg Opus are read"

// notRead says what a file is that starts like none that is read. head holds its first bytes.
func notRead(path string, head []byte) error {
	for _, m := range magics {
		if len(head) >= m.at+len(m.bytes) && string(head[m.at:m.at+len(m.bytes)]) == m.bytes {
			if m.ffmpeg {
				return fmt.Errorf("%s: this is %s, and %s; %s (%w)", path, m.name, readFormats, toConvert(path), ErrFormat)
			}
			return fmt.Errorf("%s: this is %s, and %s (%w)", path, m.name, readFormats, ErrFormat)
		}
	}
	if isADTS(head) {
		return fmt.Errorf("%s: this is an AAC file, and %s; %s (%w)", path, readFormats, toConvert(path), ErrFormat)
	}
	if bytes.Count(head, []byte{0}) == len(head) {
		return fmt.Errorf("%s: the file starts with zeros where a sound file has its header; was it written completely? (%w)", path, ErrFormat)
	}
	if len(head) >= 12 && bytes.HasPrefix(head, []byte("RIFF")) {
		return fmt.Errorf("%s: a RIFF file of the kind %q where WAVE is expected (%w)", path, head[8:12], ErrFormat)
	}
	return fmt.Errorf("%s: the file starts with %.4q, which is no format that is known; %s (%w)", path, head, readFormats, ErrFormat)
}

// toConvert is what to do about a file that isn't read, with the command that does it.
func toConvert(path string) string {
	to := strings.TrimSuffix(path, filepath.Ext(path)) + ".flac"
	if to == path {
		to = strings.TrimSuffix(to, ".flac") + "-converted.flac"
	}
	return fmt.Sprintf("convert it: ffmpeg -i %s -ac 1 -c:a flac %s", quoted(path), quoted(to))
}

// quoted is a word as a shell reads it.
func quoted(s string) string {
	for _, c := range s {
		if c > 127 || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.ContainsRune("/._-+:=@%,", c) {
			continue
		}
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// isADTS says whether head starts with a frame of AAC in an ADTS stream (ISO/IEC 13818-7): the sync word with layer 0,
// and a second one where the first frame ends.
func isADTS(head []byte) bool {
	if len(head) < 7 || head[0] != 0xff || head[1]&0xf6 != 0xf0 {
		return false
	}
	size := int(head[3]&3)<<11 | int(head[4])<<3 | int(head[5])>>5
	return size >= 7 && (size+2 > len(head) || head[size] == 0xff && head[size+1]&0xf6 == 0xf0)
}

// skipID3 is how many bytes an ID3v2 tag takes at the start of a file (section 3.1 of ID3v2.4.0), 0 without one.
func skipID3(head []byte) int64 {
	if len(head) < 10 || string(head[:3]) != "ID3" || (head[6]|head[7]|head[8]|head[9])&0x80 != 0 {
		return 0
	}
	n := int64(head[6])<<21 | int64(head[7])<<14 | int64(head[8])<<7 | int64(head[9])
	if head[5]&0x10 != 0 {
		n += 10 // a footer
	}
	return n + 10
}
