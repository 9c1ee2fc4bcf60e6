// Package scores looks at what a model has made of a set, utterance by utterance: which ones came out worst, how the
// errors are spread, what was put in place of what, how sure the error rates are, and whether another model is better.
package scores
