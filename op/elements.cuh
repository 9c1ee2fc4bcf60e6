// How kernels without dropout go element by element: a thread has 4 elements, the width of its block apart, so that
// several loads are on their way at once.
#pragma once
#include "card.cuh"

// of_four is the thread's element v, 0 to 3, of all elements.
static __device__ __forceinline__ int64_t of_four(int v) { return ((int64_t)blockIdx.x * 4 + v) * blockDim.x + threadIdx.x; }
