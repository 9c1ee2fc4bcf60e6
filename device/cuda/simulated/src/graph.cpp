// Graphs: captured tasks, queued again as often as they are launched.
#include "sim.h"

namespace sim {

static std::set<Graph*> graphs;
static std::set<Graph*> executables;
void keep_graph(Graph* g) { graphs.insert(g); }
size_t live_graphs() { return graphs.size() + executables.size(); }

static CUresult instantiate(CUgraphExec* out, CUgraph handle) {
  Graph* g = (Graph*)handle;
  if (!graphs.count(g)) return CUDA_ERROR_INVALID_VALUE;
  Graph* e = new Graph(*g);
  executables.insert(e);
  return *out = (CUgraphExec)e, CUDA_SUCCESS;
}

}  // namespace sim

using namespace sim;

API cuGraphInstantiate(CUgraphExec* out, CUgraph g, void*, char*, size_t) {
  ENTER;
  return instantiate(out, g);
}
API cuGraphInstantiate_v2(CUgraphExec* out, CUgraph g, void*, char*, size_t) {
  ENTER;
  return instantiate(out, g);
}
API cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph g, unsigned long long) {
  ENTER;
  return instantiate(out, g);
}
API cuGraphDestroy(CUgraph handle) {
  ENTER;
  if (!graphs.erase((Graph*)handle)) return CUDA_ERROR_INVALID_VALUE;
  return delete (Graph*)handle, CUDA_SUCCESS;
}
API cuGraphExecDestroy(CUgraphExec handle) {
  ENTER;
  if (!executables.erase((Graph*)handle)) return CUDA_ERROR_INVALID_VALUE;
  return delete (Graph*)handle, CUDA_SUCCESS;  // what is queued of it has copies of its tasks
}
API cuGraphGetNodes(CUgraph handle, void**, size_t* n) {
  ENTER;
  if (!graphs.count((Graph*)handle)) return CUDA_ERROR_INVALID_VALUE;
  return *n = ((Graph*)handle)->tasks.size(), CUDA_SUCCESS;
}
API cuGraphUpload(CUgraphExec handle, CUstream) {
  ENTER;
  return executables.count((Graph*)handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
API cuGraphLaunch(CUgraphExec handle, CUstream s) {
  ENTER;
  if (!executables.count((Graph*)handle)) return CUDA_ERROR_INVALID_VALUE;
  for (const Task& t : ((Graph*)handle)->tasks)
    if (CUresult r = submit(context, s, t)) return r;
  return CUDA_SUCCESS;
}
