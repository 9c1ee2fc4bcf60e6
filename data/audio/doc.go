// Package audio reads WAV files as mono float32 samples and resamples them.
//
// [Probe] gives the true length from the header and the size of the file; [Reader]
// decodes a file or a part of it; [Resampler] changes the rate or the speed with a
// windowed sinc.
//
// # What is read
//
// RIFF, RIFX (big-endian) and RF64 files with integers of 1 to 64 bits, 32- or
// 64-bit floats, A-law or mu-law, plain or under the extensible tag, any number of
// channels (averaged), any rate from 1 kHz to 768 kHz. Integers become value/2^(bits-1)
// and so lie in [-1, 1); float peaks above 1 are kept. Other containers and codecs
// are errors that name the format.
//
// The size of the file decides how much there is, never the header: sizes that were
// not filled in (0 or 0xFFFFFFFF, from a stream or a crashed recorder) and sizes
// that promise more than is there are read to the end of the file with a warning,
// and memory is in proportion to the file.
//
// # Libraries
//
// github.com/go-audio/riff walks the chunks and reads the common fields of the
// format chunk; github.com/go-audio/wav decodes integers of 8 to 32 bits. The latter
// is given the samples alone, never a file's header: it knows no floats, no
// extensible tag, no RIFX and no RF64, believes the sizes in the header (also for its
// allocations) and counts the pad byte of an odd chunk as sound.
package audio
