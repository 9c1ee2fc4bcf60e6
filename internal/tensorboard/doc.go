// Package tensorboard writes and reads event files, which TensorBoard shows: curves, texts, histograms and images by
// the number of a step.
//
// A file is a list of records (TensorFlow's TFRecord): the length of the data as 8 bytes and a checksum of it as 4, the
// data, and a checksum of the data, all little-endian. A checksum is CRC-32C, rotated by 15 bits to the right, plus
// 0xa282ead8, so that the checksum of data that holds checksums is no special one. The data is a protocol buffer, an
// Event (tensorflow/core/util/event.proto and framework/summary.proto). The first has the version of the format, and
// here also whose file it is.
//
// A folder is one run, whose files TensorBoard reads in the order of their names. Each session of a run writes a file
// of its own, so that what a killed one has torn off stays at an end of a file, where readers expect it.
package tensorboard
