#include "card.cuh"
#include "elements.cuh"

// accumulate: y = x, or y + x where add. x, y [n].
extern "C" __global__ void accumulate_f32(const float* x, float* y, int add, int64_t n) {
  for (int v = 0; v < 4; v++) {
    int64_t i = of_four(v);
    if (i >= n) break;
    y[i] = add ? y[i] + x[i] : x[i];
  }
}
