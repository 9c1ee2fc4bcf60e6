// Lengths as lengths.go computes them.
#pragma once
#include "card.cuh"

// own_frames is the number of frames of an utterance that are its own: length is in feature frames, the tensor at hand is
// subsampled by factor and has t frames. An absent row has none.
static __device__ __forceinline__ int own_frames(int length, int factor, int t) {
  for (; factor > 1; factor /= 2) length = (length + 1) / 2;
  return length < 0 ? 0 : length < t ? length : t;
}

// own_rows is the number of true rows of an utterance, with extra ones more; an absent row (length -1) has none.
static __device__ __forceinline__ int own_rows(int length, int factor, int extra, int n) {
  if (length < 0) return 0;
  int rows = own_frames(length, factor, n) + extra;
  return rows < n ? rows : n;
}
