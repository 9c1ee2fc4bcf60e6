#include "card.cuh"
#include "warp.cuh"

// total: loss = scale * the sum of weight_a*a + weight_b*b + weight_c*c, in float64. a, b, c [n], of which b and c may be
// null, scale [1], loss [1]. One warp.
extern "C" __global__ void total(const float* a, double weight_a, const float* b, double weight_b, const float* c, double weight_c,
                                 const float* scale, float* loss, int n) {
  double sum = 0;
  for (int i = threadIdx.x; i < n; i += 32)
    sum += weight_a * a[i] + (b ? weight_b * b[i] : 0.) + (c ? weight_c * c[i] : 0.);
  sum = warp_sum(sum);
  if (threadIdx.x == 0) *loss = (float)(sum * scale[0]);
}

// total_grad: dx = dloss * scale * weight for each loss. dloss, scale [1], dx [n].
extern "C" __global__ void total_grad(const float* dloss, const float* scale, float* dx, double weight, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dx[i] = (float)(weight * dloss[0] * scale[0]);
}
