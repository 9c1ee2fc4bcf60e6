// Package archive finds sound and its transcripts where many recordings lie in one file: tars in the form of
// WebDataset or beside a NeMo manifest, Lhotse's cuts and Shar folders, Parquet as Hugging Face's datasets has it.
//
// An archive is gone through once, from its start to its end. What is kept of it is where each recording lies, so that
// any of them is read later without those before it: a range of the file's bytes where they lie there as they are, or
// the smallest part of a compressed page that can be decompressed alone. An [Index] keeps that between runs.
//
// What a header claims is held against the size of the file before memory is taken for it. What is damaged is an error
// or a note, never a panic.
package archive
