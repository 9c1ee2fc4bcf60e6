// Package data turns manifests into training examples: it reads lists of recordings and transcripts, checks them
// against the audio files, orders the utterances of an epoch, and prepares features ahead of the trainer.
//
// # Manifests
//
// [Load] reads these forms; a folder is recognized by what lies in it, a file by its extension and its start:
//
//   - JSON lines: one object a line with audio_filepath, text, and optionally id, duration, offset, speaker, or other
//     names for them (see keys.go), of which the first counts. Keys are matched exactly, others are ignored, and one
//     that stands twice is reported. With an offset key the line is a part of its file, from offset on and duration
//     long; without one it is the whole file and duration is only compared with the truth.
//   - tables with a header of the same names: .tsv, where quotes mean nothing, as Common Voice's, with audio beside the
//     table or in clips/; .csv, with commas or semicolons and RFC 4180 quotes; with bars, as Coqui's; SpeechBrain's,
//     with start and stop of parts in seconds or samples.
//   - LJSpeech's list without a header, and LibriSpeech's transcripts, one or all below a folder.
//   - a folder with metadata.jsonl or metadata.csv.
//   - a Kaldi folder: text, wav.scp, and segments and utt2spk where they exist, joined by utterance. A command in
//     wav.scp that only reads a file is that file; none is run.
//   - archives, and lists that name what lies in them: see package archive.
//
// With [Options.SoundOnly] texts are of no matter, and a folder without any of these is the list of the sound files in
// it and below, by their endings.
//
// [LoadAll] makes one Set of several, each with a weight. [Sentences] reads texts alone.
//
// Paths are relative to the manifest. Where no file of the literal name exists, backslashes are read as slashes, and
// a name in another Unicode form, or with another ending of sound, is taken and reported. UTF-8 with or without a
// byte-order mark and UTF-16 are read, with line ends of any system.
//
// Tars, Parquet files, Lhotse's cuts, and patterns or folders of them, are package archive's: what they hold comes as
// lines with an [audio.Source]. [Options.Index] keeps what was found out of them.
//
// The header of an audio file is the truth about its length. [Load] gives a [Set]; what it left out or doubts is in
// the Set's [Report], with its file, line and reason; nothing is dropped in silence, and sound and text are never cut
// to fit a limit. A part that ends behind its recording is left out as a whole. What only reading the sound can show
// is in the Set's News and Outcome.
//
// # Lengths
//
// Order, speeds and lengths of an epoch depend on the manifest, the options, the seed and the epoch alone:
// [Loader.Lengths] gives the number of feature frames and tokens of every row of every window before a file is read,
// and what is read is held to it. A row whose file can't be read stays in its window without features.
//
// # Identity
//
// An utterance's identity is its id key, or else its audio path as written (and the offset). It keys the random
// draws, so an id that stands twice is an error. A path that is listed again without an id is another utterance: its
// identity gets "#2", "#3" in the order of the lines. An identity of an earlier manifest gets the manifest's name
// before it. The second time of an utterance in an epoch has draws of its own.
package data
