#include "attention.cuh"

// attention_pack packs operands for products, with 0 in the rows past a length: whatever is there can't spread.
// blockIdx.z says which: q+u (q itself, where u is null), k, v, dy, q+w. What has no place to go is left out.
// q, dy [batch, queries, d], k, v [batch, keys, d], u, w [d]; the results are packed.
template <class T>
static __device__ __forceinline__ void attention_pack(const T* q, const T* k, const T* v, const T* dy, const float* u, const float* w,
                                                      T* qu, T* pk, T* pv, T* pdy, T* qw, int batch, int queries, int keys, int d,
                                                      int heads, int tile, const int32_t* query_lengths, int query_factor,
                                                      int query_extra, const int32_t* key_lengths, int key_factor,
                                                      int key_extra) {
  const T* x = q;
  const float* bias = u;
  T* y = qu;
  bool of_keys = false;
  switch (blockIdx.z) {
    case 1: x = k, bias = nullptr, y = pk, of_keys = true; break;
    case 2: x = v, bias = nullptr, y = pv, of_keys = true; break;
    case 3: x = dy, bias = nullptr, y = pdy; break;
    case 4: bias = w, y = qw; break;
  }
  if (!y) return;
  int rows = of_keys ? keys : queries;
  Panel at(batch, rows, d, heads, of_keys ? keys : tile);
  if (!at.inside()) return;
  int own = of_keys ? own_rows(key_lengths[at.utterance], key_factor, key_extra, keys)
                    : own_rows(query_lengths[at.utterance], query_factor, query_extra, queries);
  float add = bias ? bias[at.column] : 0.f;
  for (; at.inside(); at.next()) store(&y[at.packed], at.first < own ? load(&x[at.native]) + add : 0.f);
}

// attention_softmax turns a tile's scores into weights after dropout, in the same memory: a row of weights begins where
// its scores did. What a query doesn't see has weight 0. score [heads, batch, rows, row], band [.., band_row] or null.
template <class T>
static __device__ __forceinline__ void attention_softmax(const float* score, const float* band, T* weight, ROW_PARAMETERS) {
  DYN_SHARED(float, shared);
  ScoreRow at(shared, ROW_ARGUMENTS);
  if (!at.inside) return;  // as a whole warp
  weight += at.score * (4 / (int)sizeof(T));
  float normal = at.softmax(score + at.score, band ? band + at.band : nullptr);
  for (int run = 0; run * 256 < count; run++) {
    uint32_t words[4];
    at.draw(run, words);
    for (int v = 0; v < 8; v++) {
      int j = at.key(run, v);
      if (j >= count) break;
      store(&weight[j], j < at.sees ? at.keep(run, v) * normal * at.factor(words, v) : 0.f);
    }
  }
}

#define KERNELS(suffix, T)                                                                                                       \
  extern "C" __global__ void attention_pack_##suffix(                                                                            \
      const T* q, const T* k, const T* v, const T* dy, const float* u, const float* w, T* qu, T* pk, T* pv, T* pdy, T* qw,       \
      int batch, int queries, int keys, int d, int heads, int tile, const int32_t* query_lengths, int query_factor,              \
      int query_extra, const int32_t* key_lengths, int key_factor, int key_extra) {                                              \
    attention_pack(q, k, v, dy, u, w, qu, pk, pv, pdy, qw, batch, queries, keys, d, heads, tile, query_lengths, query_factor,    \
                   query_extra, key_lengths, key_factor, key_extra);                                                             \
  }                                                                                                                              \
  extern "C" __global__ void attention_softmax_##suffix(const float* score, const float* band, T* weight, ROW_PARAMETERS) {      \
    attention_softmax(score, band, weight, ROW_ARGUMENTS);                                                                       \
  }                                                                                                                              \
  extern "C" __global__ void attention_unpack_##suffix(const float* x, T* y, int batch, int rows, int d, int heads, int tile) {  \
    unpack(x, y, batch, rows, d, heads, tile);                                                                                   \
  }
KERNELS(f32, float)
KERNELS(f16, f16)
