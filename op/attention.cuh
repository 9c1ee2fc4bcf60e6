// What the kernels of attention share: how its scratch memory is laid out, and the softmax of a row of scores.
//
// Packed arrays hold an operand of width d head by head, so that one strided product covers all heads of all
// utterances. The queries' go by tiles: [heads, batch, rows, dh] for each tile of rows in turn; the keys' are one tile.
#pragma once
#include "columns.cuh"
#include "lengths.cuh"
#include "warp.cuh"

// Panel is the share of a block in an array [batch, rows, d]: PANEL rows of one utterance, blockIdx.y, and the columns
// of columns.cuh. A thread has one column, and rows LANES apart; a panel lies in one tile, whose rows are a multiple of
// PANEL.
#define PANEL 64  // panelRows in attention_launch_cuda.go
struct Panel {
  int utterance, number;          // number is that of the panel's rows in the utterance
  int column, first, end;         // the thread's column and rows: first, first+LANES .. below end
  int64_t native, packed;         // where the first row's element is in [batch, rows, d], and packed
  int native_step, packed_step;   // from one row of the thread to the next

  __device__ __forceinline__ Panel(int batch, int rows, int d, int heads, int tile) {
    int across = (d + COLUMNS - 1) / COLUMNS, dh = d / heads;
    utterance = blockIdx.y;
    number = blockIdx.x / across;
    column = blockIdx.x % across * COLUMNS + block_column();
    first = number * PANEL + block_lane();
    end = column < d ? min(number * PANEL + PANEL, rows) : 0;
    int from = number * PANEL / tile * tile, here = min(tile, rows - from);
    native = ((int64_t)utterance * rows + first) * d + column;
    packed = (int64_t)from * batch * d + ((int64_t)(column / dh * batch + utterance) * here + first - from) * dh + column % dh;
    native_step = LANES * d;
    packed_step = LANES * dh;
  }
  __device__ __forceinline__ bool inside() const { return first < end; }
  __device__ __forceinline__ void next() {
    first += LANES;
    native += native_step;
    packed += packed_step;
  }
};

// unpack writes a packed array of float32 [heads, batch, rows, dh] by tiles as [batch, rows, d].
template <class T>
static __device__ __forceinline__ void unpack(const float* x, T* y, int batch, int rows, int d, int heads, int tile) {
  Panel at(batch, rows, d, heads, tile);
  for (; at.inside(); at.next()) store(&y[at.native], x[at.packed]);
}

// Parameters of the kernels that go row by row through the scores of a tile: rows queries from number from on, of all
// queries, and its keys (count) of all keys. A row of scores has row float32s of space, one of the relative term
// band_row.
#define ROW_PARAMETERS                                                                                                           \
  int batch, int heads, int rows, int from, int queries, int keys, int count, int row, int band_row,                             \
      const int32_t *query_lengths, int query_factor, int query_extra, const int32_t *key_lengths, int key_factor, int key_extra, \
      int causal, const int32_t *seeds, uint32_t site, uint32_t threshold, float scale
#define ROW_ARGUMENTS                                                                                                            \
  batch, heads, rows, from, queries, keys, count, row, band_row, query_lengths, query_factor, query_extra, key_lengths,          \
      key_factor, key_extra, causal, seeds, site, threshold, scale

// ScoreRow is a warp's row of scores: one query of one head. A lane has 8 keys in each run of 256, those whose dropout
// draws come from one call of the generator, and keeps what it makes of them in shared memory of its own, [8*runs][32].
// So sums over keys have an order in which a key's place depends on its number alone: no padding changes a result.
struct ScoreRow {
  bool inside;      // the tile has such a row
  int64_t score;    // where the row's scores begin, in elements
  int64_t band;     // and the relative term
  int shift;        // where in the relative term key 0 is
  int count, sees;  // keys of the tile; those that the query sees, 0 for a row past the length
  int lane, utterance;
  uint32_t draw_row;
  float* kept;
  const int32_t* seeds;
  uint32_t site, threshold;
  float scale;

  __device__ __forceinline__ ScoreRow(float* shared, ROW_PARAMETERS)
      : count(count), seeds(seeds), site(site), threshold(threshold), scale(scale) {
    int warp = threadIdx.x / 32, r = blockIdx.x * (blockDim.x / 32) + warp;
    lane = threadIdx.x % 32;
    kept = shared + warp * ((count + 255) / 256 * 256) + lane;
    inside = r < heads * batch * rows;
    if (!inside) return;
    int group = r / rows, i = r % rows, query = from + i;
    utterance = group % batch;
    draw_row = (uint32_t)(query * heads + group / batch);
    score = (int64_t)r * row;
    band = (int64_t)r * band_row;
    shift = rows - 1 - i;
    sees = query < own_rows(query_lengths[utterance], query_factor, query_extra, queries)
               ? min(own_rows(key_lengths[utterance], key_factor, key_extra, keys), count)
               : 0;
    if (causal) sees = min(sees, query + 1);
  }
  // key is the number of the lane's key v in a run.
  __device__ __forceinline__ int key(int run, int v) const { return run * 256 + lane / 16 * 128 + lane % 16 + 16 * v; }
  __device__ __forceinline__ float& keep(int run, int v) const { return kept[(run * 8 + v) * 32]; }
  // draw gets the random words of the lane's keys in a run; factor is what dropout multiplies the weight of key v by.
  __device__ __forceinline__ void draw(int run, uint32_t words[4]) const {
    if (seeds)
      philox((uint32_t)seeds[2 * utterance], (uint32_t)seeds[2 * utterance + 1], run * 32 + lane, draw_row, site, 0, words);
  }
  __device__ __forceinline__ float factor(const uint32_t words[4], int v) const {
    return seeds && (words[v / 2] >> (16 * (v % 2)) & 0xffffu) < threshold ? 0.f : scale;
  }
  // softmax keeps exp(score - largest) of the keys that the query sees, and returns what makes weights of them: 1 /
  // sum. Afterwards the scores may be overwritten by any lane. scores [row], relative [band_row] or null.
  __device__ __forceinline__ float softmax(const float* scores, const float* relative) const {
    float top = LOWEST, sum = 0.f;
    for (int run = 0; run * 256 < sees; run++)
      for (int v = 0; v < 8; v++) {
        int j = key(run, v);
        if (j >= sees) break;
        float x = scores[j];
        if (relative) x += relative[shift + j];
        keep(run, v) = x;
        top = fmaxf(top, x);
      }
    top = warp_max(top);
    for (int run = 0; run * 256 < sees; run++)
      for (int v = 0; v < 8 && key(run, v) < sees; v++) {
        float e = expf(keep(run, v) - top);
        keep(run, v) = e;
        sum += e;
      }
    sum = warp_sum(sum);
    __syncwarp();
    return 1.f / sum;
  }
};
