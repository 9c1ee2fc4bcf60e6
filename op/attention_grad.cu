#include "attention.cuh"

// attention_softmax_grad turns a tile's scores, and the gradient of its weights after dropout, into the weights after
// dropout and the gradient of the scores. Each lies where a float32 array did that is read first: weight over score,
// dband, the scores' gradient by distance, over band, and dscore over dweight or, being half as wide as the scores,
// behind the weights of its row. Where a distance belongs to no key dband is 0. score, dweight [heads, batch, rows,
// row], band [.., band_row] or null.
template <class T>
static __device__ __forceinline__ void attention_softmax_grad(const float* score, const float* band, const float* dweight,
                                                              T* weight, T* dband, T* dscore, ROW_PARAMETERS) {
  DYN_SHARED(float, shared);
  ScoreRow at(shared, ROW_ARGUMENTS);
  if (!at.inside) return;  // as a whole warp
  const int wide = 4 / (int)sizeof(T);
  weight += at.score * wide;
  dscore += at.score * wide;
  dweight += at.score;
  float normal = at.softmax(score + at.score, band ? band + at.band : nullptr);
  float mean = 0.f;
  for (int run = 0; run * 256 < count; run++) {
    uint32_t words[4];
    at.draw(run, words);
    for (int v = 0; v < 8; v++) {
      int j = at.key(run, v);
      if (j >= count) break;
      float dropped = 0.f;
      if (j < at.sees) {
        float w = at.keep(run, v) * normal, factor = at.factor(words, v);
        dropped = w * factor;
        mean += dropped * dweight[j];
        at.keep(run, v) = factor == 0.f ? -w : w;  // the sign remembers what was dropped
      }
      store(&weight[j], dropped);
    }
  }
  mean = warp_sum(mean);
  if (band) dband += at.band * wide;
  for (int run = 0; run * 256 < count; run++)
    for (int v = 0; v < 8; v++) {
      int j = at.key(run, v);
      if (j >= count) break;
      float g = 0.f;
      if (j < at.sees) {
        float w = at.keep(run, v);
        g = w < 0.f ? w * mean : w * (dweight[j] * scale - mean);  // w < 0: weight -w, and dropout lets nothing back
      }
      store(&dscore[j], g);
      if (band) store(&dband[at.shift + j], g);
    }
  if (!band) return;
  for (int c = at.lane; c < rows - 1 + count; c += 32)
    if (c < at.shift || c >= at.shift + count) store(&dband[c], 0.f);
}

// attention_dq: dq = dqu + dqw, which are packed, and their sums over each panel's rows. dq [batch, queries, d],
// sums [batch, panels, 2, d].
template <class T>
static __device__ __forceinline__ void attention_dq(const float* dqu, const float* dqw, T* dq, float* sums, int batch,
                                                    int queries, int d, int heads, int tile) {
  Panel at(batch, queries, d, heads, tile);
  float of_u = 0.f, of_w = 0.f;
  for (; at.inside(); at.next()) {
    float a = dqu[at.packed], b = dqw[at.packed];
    store(&dq[at.native], a + b);
    of_u += a;
    of_w += b;
  }
  of_u = over_lanes(of_u);
  of_w = over_lanes(of_w);
  if (block_lane() != 0 || at.column >= d) return;
  sums += ((int64_t)at.utterance * ((queries + PANEL - 1) / PANEL) + at.number) * 2 * d + at.column;
  sums[0] = of_u;
  sums[d] = of_w;
}

#define KERNELS(suffix, T)                                                                                                       \
  extern "C" __global__ void attention_softmax_grad_##suffix(const float* score, const float* band, const float* dweight,        \
                                                             T* weight, T* dband, T* dscore, ROW_PARAMETERS) {                   \
    attention_softmax_grad(score, band, dweight, weight, dband, dscore, ROW_ARGUMENTS);                                          \
  }                                                                                                                              \
  extern "C" __global__ void attention_dq_##suffix(const float* dqu, const float* dqw, T* dq, float* sums, int batch,            \
                                                   int queries, int d, int heads, int tile) {                                    \
    attention_dq(dqu, dqw, dq, sums, batch, queries, d, heads, tile);                                                            \
  }
KERNELS(f32, float)
KERNELS(f16, f16)
