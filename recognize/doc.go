// Package recognize uses a trained model: it turns sound into text and scores that text.
//
// [Load] opens a model that was saved, which says of itself all that is needed to use it ([Description]). The [Model]
// transcribes files and scores manifests. A [Recognizer] needs no model file: it decodes and scores over any replica
// of a network, which is how training validates.
//
// [Decoding] says how texts are found: greedily from the CTC head, the likeliest label of each frame, repeats merged,
// blanks dropped; by a prefix beam search, with a language model and hotwords; or with the network's own decoder. In
// training it is greedily. What comes out for a file depends on the weights, the decoding and the file alone, never on
// what else is recognized with it. Package decode has the searches, package transcript the forms in which texts with
// times are written.
package recognize
