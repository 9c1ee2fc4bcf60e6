// Package ngram is n-gram language models: how likely a word is behind the words before it. It estimates them from
// texts, reads and writes them as ARPA files, and scores with them. A word is what texts are cut into, by a [Unit]: a
// word between spaces, or a character.
//
// # Scores
//
// A [Model] keeps n-grams of up to N words, each with the log10 probability of its last word behind the others, its
// history, and a back-off weight. Where an n-gram h w is not there, log p(w|h) is the back-off weight of h (0 where h
// isn't there) and log p(w|h') with the first word of h left out (Katz 1987, equation 12). A sentence stands between
// <s> and </s>; a word outside the vocabulary is <unk>.
//
// A [State] is the longest end of what was said that can make a difference to what follows: two hypotheses whose states
// are equal have the same future. It is one number, so a decoder can keep it in each hypothesis, compare it, and use it
// as a key. [Model.Score] allocates nothing, and a model may be used by any number of goroutines.
//
// # In memory
//
// N-grams are a tree: the root, below it every word, below a node the words that follow it. Nodes are numbered level by
// level, the children of each one behind the other and sorted by word, so a child is found by binary search. Each node
// has a link to the longest proper end of its n-gram that is there and that either has a child or a weight, as in the
// automaton of Aho and Corasick (1975): backing off follows links, and misses nothing. An n-gram takes 20 bytes (word,
// probability, weight, first child, link), one of the highest order 12 (word, probability, link), a word of the
// vocabulary its letters and 12 to 20 bytes.
//
// # Estimation
//
// [Counter] estimates by interpolated modified Kneser-Ney smoothing (Chen and Goodman 1999, "An empirical study of
// smoothing techniques for language modeling", section 3), with the choices of kenlm's lmplz (Heafield et al. 2013):
// see [Counter.Estimate]. It keeps the texts as numbers, 4 bytes a word, and sorts their positions by the N words from
// there on. N-grams that are equal are neighbors then, and the tree of counts comes out of one pass. No more than 12
// bytes a word and about 60 an n-gram are needed, and these are known before they are taken.
package ngram
