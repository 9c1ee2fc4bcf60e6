#include "card.cuh"
#include "elements.cuh"

// half_store: y = x, rounded to the nearest float16, ties to even. x, y [n].
extern "C" __global__ void half_store(const float* x, f16* y, int64_t n) {
  for (int v = 0; v < 4; v++) {
    int64_t i = of_four(v);
    if (i >= n) break;
    y[i] = to_f16(x[i]);
  }
}

// half_load: the way back, which is exact. x, y [n].
extern "C" __global__ void half_load(const f16* x, float* y, int64_t n) {
  for (int v = 0; v < 4; v++) {
    int64_t i = of_four(v);
    if (i >= n) break;
    y[i] = to_float(x[i]);
  }
}
