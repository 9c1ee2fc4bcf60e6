#include "card.cuh"
#include "elements.cuh"

// sum: y = a + b. a, b, y [n].
template <class X, class Y>
static __device__ __forceinline__ void sum(const X* a, const X* b, Y* y, int64_t n) {
  for (int v = 0; v < 4; v++) {
    int64_t i = of_four(v);
    if (i >= n) break;
    store(&y[i], load(&a[i]) + load(&b[i]));
  }
}

extern "C" __global__ void sum_f32(const float* a, const float* b, float* y, int64_t n) { sum(a, b, y, n); }
extern "C" __global__ void sum_f16(const f16* a, const f16* b, f16* y, int64_t n) { sum(a, b, y, n); }
extern "C" __global__ void sum_f16_f32(const f16* a, const f16* b, float* y, int64_t n) { sum(a, b, y, n); }
