// Package update makes one update of a network out of one window of utterances, over any replica.
//
// One window, top down: [Updater.Update] counts what can be used; [Runner.Run] deals the window's rows to the replica's
// workers as micro-batches, by what is known of them before any file is read, fills the inputs of each micro-batch and
// collects its losses; the replica sums the gradients; the update is clipped, scaled and applied, or skipped where the
// gradient is not finite. The package knows nothing of files, configuration or printing. Whoever only uses a model, to
// score or to transcribe, needs the Runner alone.
//
// [Updater.Shapes] says beforehand which batch shapes a whole run will meet, and [Runner.Largest] what they take.
package update
