// Package train is the training loop: windows of utterances, the optimizer and its schedule, evaluation,
// checkpoints and resume, and the use of a trained model.
//
// One update, top down: [Run] takes a window from the data loader; plan deals its utterances to the crew's
// workers as micro-batches; each worker fills the inputs of a program and runs it (forward and backward);
// the crew sums the gradients; AdamW applies them. Everything random is keyed by the seed, the update and the
// utterance, and every sum has a fixed order, so that a resumed run is the uninterrupted one, bit for bit.
package train
