//go:build gpu

#include "list.h"

static int run_one(const launch *l, CUstream s, void *blas) {
  switch (l->kind) {
    case LAUNCH_KERNEL:
      return cuLaunchKernel(l->kernel.function, l->kernel.grid[0], l->kernel.grid[1], l->kernel.grid[2], l->kernel.block, 1, 1,
                            l->kernel.shared, s, l->kernel.arguments, NULL);
    case LAUNCH_PRODUCT:
      return blas_run(blas, &l->product);
    default:
      return cuMemsetD8Async(l->clear.address, 0, l->clear.bytes, s);
  }
}

int list_run(const launch *l, int n, CUstream s, void *blas, int sync, int *at, int *waiting) {
  for (int i = 0; i < n; i++) {
    *at = i;
    *waiting = 0;
    int result = run_one(&l[i], s, blas);
    if (!result && sync) {
      *waiting = 1;
      result = cuStreamSynchronize(s);
    }
    if (result) return result;
  }
  return 0;
}

CUresult list_capture(const launch *l, int n, CUstream s, void *blas, CUgraphExec *exec) {
  // Relaxed: cuBLAS may load code while its calls are captured.
  CUresult result = cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED);
  if (result) return result;
  int at, waiting, failed = list_run(l, n, s, blas, 0, &at, &waiting);
  CUgraph graph = NULL;
  result = cuStreamEndCapture(s, &graph);  // also after a failure: the stream must leave the capture
  if (!result && failed) result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!result) result = cuGraphInstantiateWithFlags(exec, graph, 0);
  if (graph) cuGraphDestroy(graph);
  return result;
}
