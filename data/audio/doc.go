// Package audio reads recordings as mono float32 samples and resamples them: WAV, FLAC, MP3, Ogg Vorbis and Ogg Opus.
//
// [Probe] gives the true length; [Reader] decodes a recording or a part of it; [Resampler] changes the rate or the
// speed with a windowed sinc. A recording is a [Source]: a file, or bytes in an archive. Its format goes by
// its content, never by its name. Others are errors that name the format and give the command that converts it.
//
// # What is read
//
// WAV: RIFF, RIFX (big-endian) and RF64 files with integers of 1 to 64 bits, 32- or
// 64-bit floats, A-law or mu-law, plain or under the extensible tag, any number of
// channels (averaged), any rate from 1 kHz to 768 kHz. Integers become value/2^(bits-1)
// and so lie in [-1, 1); float peaks above 1 are kept.
//
// FLAC: native files, 4 to 32 bits, 1 to 8 channels, value/2^(bits-1). The first and the last frame tell the length,
// whatever the header says; a part is found by halving the file. Every frame that is read is held to its checksum.
// Files that were joined are read one after the other, where rate and channels agree. To see that it is only one, a
// file is looked through if it has up to 1 MB, its header and its last frame disagree, or its frames lie unevenly.
//
// MP3: layer III of MPEG-1 and MPEG-2. Every frame header is looked at. Where a tag of LAME, or of ffmpeg, gives the
// encoder's delay, that and the decoder's 529 samples are cut off in front and the padding behind, as ffmpeg does;
// without such a tag nothing is cut off, as with ffmpeg. Of files that were joined all frames are read, over the ID3
// and other tags between them; only the first one's delay is cut off, and a further one's first frame, where it holds
// such a tag, is a frame of silence. MPEG-2.5 (8 to 12 kHz), layers I and II and free format are named.
//
// Ogg Vorbis, Ogg Opus: one stream a file; chains of several and several beside each other are named. Every page is
// looked at; the end is cut where the last page says, and of Opus the pre-skip and gain are applied. Opus comes at
// 48 kHz and in one or two channels.
//
// # Parts of long recordings
//
// What Probe finds of a compressed recording stays in its [Info]: of MP3 and Ogg a point every five seconds. With it
// [Reader.Read] decodes little more than the part. The samples are those of the whole, to the bit; of Opus, whose
// decoder never quite forgets, within 1/10,000 of the largest after 500 ms. An Info can be kept as bytes.
//
// # Damage
//
// The size of the file decides how much there is, never the header: sizes that were
// not filled in (0 or 0xFFFFFFFF, from a stream or a crashed recorder) and sizes
// that promise more than is there are read to the end of the file with a warning,
// and memory is in proportion to the file.
//
// A compressed file that is cut off gives what is there with a warning; one that is damaged in its middle is an error.
// MP3 has no checksums worth the name: there damage may be heard. What lies behind the sound and is no tag of another
// program's (ID3, APE, Lyrics3) is a warning that says how much it is.
//
// # Libraries
//
// github.com/go-audio/riff walks the chunks and reads the common fields of the
// format chunk; github.com/go-audio/wav decodes integers of 8 to 32 bits. The latter
// is given the samples alone, never a file's header: it knows no floats, no
// extensible tag, no RIFX and no RF64, believes the sizes in the header (also for its
// allocations) and counts the pad byte of an odd chunk as sound.
//
// The other decoders are given single frames and packets: what lies around them is read here, and what would keep a
// library busy for ever, or make it take memory that the file doesn't hold, is refused before. A panic in one is an
// error that names the file. github.com/mewkiz/flac writes to the log at two rates and has no 32 bits: it is shown
// another header. github.com/hajimehoshi/go-mp3 gives 16 bits, takes wrong bits where the first frames lack data, and
// loses bytes at 22.05 kHz: it is shown frames made anew. github.com/jfreymuth/vorbis misreads a floor without
// partitions: it is given one. github.com/pion/opus computes SILK in float32: of pure tones, which speech isn't, it can
// differ from libopus for a while.
package audio
