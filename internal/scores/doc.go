// Package scores looks at what a model has made of a set, utterance by utterance: which ones came out worst, and how
// the errors are spread.
package scores
