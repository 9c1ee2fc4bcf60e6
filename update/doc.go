// Package update makes one update of a network out of one window of utterances, over any replica.
//
// One window, top down: [Updater.Update] counts what can be used; [Runner.Run] deals the window's rows to the
// replica's workers as micro-batches, by what is known of them before any file is read, fills the inputs of each
// micro-batch and collects its losses; the replica sums the gradients; the gradient is clipped, divided by the loss
// scale and applied, or dropped where it is not finite. The package knows nothing of files, configuration or
// printing. Whoever only uses a model, to score or to transcribe, needs the Runner alone.
//
// [Updater.Shapes] lists beforehand the batch shapes that a stretch of windows will meet, and [Runner.Largest] finds
// the one of them that takes the most memory. [Network] makes a network of package model known to package engine; a
// [Variant] names one of its programs.
package update
