// Package watch shows runs over HTTP, in progress or finished: a page with curves, memory and the worst utterances of
// a validation, which can be heard, and figures for Prometheus.
//
// All of it comes from what a run writes for itself: metrics.jsonl and validations.jsonl, which are read from where the
// last reading ended ([tail]), and memory.json ([Step]). A run in progress adds what it holds now. So training does
// nothing for its page; it is read when somebody looks, once for all who look. What is kept of a history is bounded
// ([series]), and so is what a viewer can ask for.
//
// A viewer can only read: the page, figures, the texts of the worst utterances and, by their numbers in that list,
// their sound, which is decoded and encoded anew. No path is taken from a request.
package watch
