#include "columns.cuh"

// add_partials: y[i*rows_apart + j*columns_apart] = the sum of partials [batch, chunks, rows, columns] over batch and
// chunks; add 1 adds it to y. A lane has every 8th chunk of all utterances: zeros of an absent utterance or of padding
// change no bit, as the lane of a chunk depends on its place in its utterance alone.
extern "C" __global__ void add_partials(const float* partials, float* y, int batch, int chunks, int rows, int columns, int rows_apart,
                                        int columns_apart, int add) {
  int64_t size = (int64_t)rows * columns, at = (int64_t)blockIdx.x * COLUMNS + block_column();
  float sum = 0.f;
  if (at < size)
    for (int chunk = block_lane(); chunk < chunks; chunk += LANES)
      for (int b = 0; b < batch; b++) sum += partials[((int64_t)b * chunks + chunk) * size + at];
  sum = over_lanes(sum);
  if (block_lane() != 0 || at >= size) return;
  float* to = &y[at / columns * rows_apart + at % columns * columns_apart];
  *to = add ? *to + sum : sum;
}
