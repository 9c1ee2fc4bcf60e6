// Package recognize uses a trained model: it turns sound into text and scores that text.
//
// [Load] opens a model that was saved, which says of itself all that is needed to use it ([Description]). The [Model]
// transcribes files and scores manifests. A [Recognizer] needs no model file: it decodes and scores over any replica
// of a network, which is how training validates.
//
// Text is decoded greedily from the CTC head: the likeliest label of each frame, repeats merged, blanks dropped; the
// decoder, where there is one, only adds to the loss that is reported. What comes out for a file depends on the
// weights and the file alone, never on what else is recognized with it.
package recognize
