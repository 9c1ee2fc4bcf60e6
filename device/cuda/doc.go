// Package cuda is an NVIDIA card, by way of gorgonia.org/cu.
//
// What a card is to do is plain data, a list of [Launch]es, which any build can make and count. What opens a card and
// carries them out is there with the build tag gpu; without it [Open] says so. The driver and cuBLAS are opened at run
// time, so that one binary starts on any machine.
package cuda
