// Package decode reads token sequences out of what the CTC head says of one utterance: pure computation on its
// log-probabilities, [T, V], which knows no model, no file and no other utterance.
//
// A [Decoder] gives the likeliest hypotheses: [Greedy] the best path's, [Beam] those of a prefix beam search, which
// language models ([Fusion], [Lexicon]) and [Hotwords] may take part in. An [Aligner] says in which frames the tokens
// of any hypothesis were said, or of a text that is given; [Vocabulary] makes words and characters with times of that,
// and [Confidence] says how sure of each the network was, which a [Calibration] turns into the share of them that is
// right.
//
// Decoders and aligners hold scratch that grows to the longest utterance and is used again: each worker has its own,
// and a frame allocates nothing.
//
// The terms: T frames of V tokens each; a path is one token for each frame, the blank among them; its labelling is what
// is left when repeats are merged and blanks dropped; a labelling's probability is the sum over its paths (Graves et
// al., "Connectionist temporal classification", ICML 2006). Logarithms are natural: log-probabilities, scores and
// bonuses are in nats.
package decode
