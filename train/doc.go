// Package train is a run: its configuration, its loop, its milestones, and its ledger on disk.
//
// Top down: [Run] brings the parts together (setup.go) and goes through the windows that the data loader prepares
// (loop.go). Package update makes an update of each on a replica of the network; at milestones (milestones.go)
// package recognize scores the validation set with the same replica, and the ledger (ledger.go and its neighbors)
// saves, prunes, and at the end averages checkpoints. Everything random is keyed by the seed and what the draw is
// for, and every sum has a fixed order, so that a resumed run is the uninterrupted one, bit for bit, given the same
// kernels and number of workers.
package train
