// One step of an exponential moving average: the op ema and the update of all weights share it.
#pragma once

static __device__ __forceinline__ float ema(float average, float x, float share) { return average + share * (x - average); }
