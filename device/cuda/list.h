// A bound list of launches, and graphs made of it.
#pragma once
#include <cuda.h>

#include "blas.h"

typedef enum { LAUNCH_KERNEL, LAUNCH_PRODUCT, LAUNCH_CLEAR } launch_kind;

// What is queued for one launch. It lies in C's memory, and so do the arguments.
typedef struct {
  launch_kind kind;
  union {
    struct {
      CUfunction function;
      unsigned grid[3], block, shared;
      void **arguments;  // where each argument lies
    } kernel;
    blas_product product;
    struct {
      CUdeviceptr address;
      size_t bytes;
    } clear;
  };
} launch;

static inline void set_kernel(launch *l, CUfunction f, unsigned x, unsigned y, unsigned z, unsigned block, unsigned shared,
                              void **arguments) {
  l->kind = LAUNCH_KERNEL;
  l->kernel.function = f;
  l->kernel.grid[0] = x;
  l->kernel.grid[1] = y;
  l->kernel.grid[2] = z;
  l->kernel.block = block;
  l->kernel.shared = shared;
  l->kernel.arguments = arguments;
}
static inline void set_product(launch *l, blas_product p) {
  l->kind = LAUNCH_PRODUCT;
  l->product = p;
}
static inline void set_clear(launch *l, CUdeviceptr address, size_t bytes) {
  l->kind = LAUNCH_CLEAR;
  l->clear.address = address;
  l->clear.bytes = bytes;
}

// list_run queues n launches, one by one. Where sync is set it waits for each. It returns 0, or what the driver or cuBLAS
// returned, and then at is the launch that failed, and waiting says that it is the wait behind it that did.
int list_run(const launch *l, int n, CUstream s, void *blas, int sync, int *at, int *waiting);

// list_capture makes a graph of n launches, without running any. On an error nothing is left of it.
CUresult list_capture(const launch *l, int n, CUstream s, void *blas, CUgraphExec *graph);
