// Package feature turns sound into what the network hears: log-mel features [T, bins],
// normalized and, for training, augmented.
//
// An [Extractor] does it all, in this order, in memory that it reuses:
//
//  1. resampling to the sample rate, times the speed that augmentation chose;
//  2. what else augmentation does to the sound (package perturb): pitch, a room, noise, a narrow
//     channel, a gain, in this order;
//  3. Kaldi's filter bank: windows of 25 ms every 10 ms (snip_edges=false: the frame
//     count is that of internal/frames, and edges are reflected), DC removed,
//     pre-emphasis 0.97, povey window, no dither, power spectrum, mel triangles,
//     natural logarithm floored at 2^-23, of samples times a scale, by default that of the 16-bit range. With vocal
//     tract length perturbation frequencies are warped on their way into the mel triangles;
//  4. normalization per utterance, or with statistics of the training set;
//  5. SpecAugment.
//
// A frame never depends on anything but its own utterance: features are computed
// before padding exists, and all random choices are functions of a key.
package feature
