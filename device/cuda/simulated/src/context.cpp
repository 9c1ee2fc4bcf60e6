// Contexts: each thread of the host has a stack of them, and the top one is current.
#include "sim.h"

namespace sim {

std::set<Context*> contexts;
static thread_local std::vector<Context*> stack;
Context* current_context() {
  // Another thread may have destroyed it.
  return stack.empty() || !contexts.count(stack.back()) ? nullptr : stack.back();
}

static CUresult open(Context** c, Card* card, bool primary) {
  if (settings.mode == "prohibited") return CUDA_ERROR_UNKNOWN;
  if (settings.mode == "exclusive" && settings.busy)
    return settings.driver < 11040 ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_DEVICE_UNAVAILABLE;
  if (card->memory - card->used() < settings.context) return CUDA_ERROR_OUT_OF_MEMORY;
  card->contexts += settings.context;
  *c = new Context{card, primary, 1, settings.context};
  (*c)->null_stream = std::make_shared<Stream>(Stream{*c, true});
  contexts.insert(*c);
  return CUDA_SUCCESS;
}

// close waits, gives back all that the context has, and ends it.
static CUresult close(Context* c) {
  CUresult r = c->sticky ? CUDA_SUCCESS : wait_for_all(c);
  forget_streams(c);
  free_all(c);
  c->card->contexts -= c->charge;
  contexts.erase(c);
  delete c;
  return r;
}

static Context* primary_of(CUdevice d) {
  for (Context* c : contexts)
    if (c->primary && c->card->index == d) return c;
  return nullptr;
}
static void make_current(Context* c) {
  if (!stack.empty()) stack.pop_back();
  if (c) stack.push_back(c);
}

}  // namespace sim

using namespace sim;

#define DEVICE(d)                                  \
  CALL;                                            \
  if (!started) return CUDA_ERROR_NOT_INITIALIZED; \
  if (d < 0 || d >= (int)visible.size()) return CUDA_ERROR_INVALID_DEVICE

API cuCtxCreate_v2(CUcontext* out, unsigned, CUdevice d) {
  DEVICE(d);
  Context* c;
  if (CUresult r = open(&c, visible[d], false)) return r;
  stack.push_back(c);
  return *out = (CUcontext)c, CUDA_SUCCESS;
}
API cuCtxDestroy_v2(CUcontext handle) {
  CALL;
  Context* c = (Context*)handle;
  if (!contexts.count(c) || c->primary) return CUDA_ERROR_INVALID_CONTEXT;
  if (!stack.empty() && stack.back() == c) stack.pop_back();
  return close(c);
}
API cuCtxSetCurrent(CUcontext handle) {
  CALL;
  if (handle && !contexts.count((Context*)handle)) return CUDA_ERROR_INVALID_CONTEXT;
  return make_current((Context*)handle), CUDA_SUCCESS;
}
API cuCtxGetCurrent(CUcontext* c) {
  CALL;
  return *c = (CUcontext)current_context(), CUDA_SUCCESS;
}
API cuCtxPushCurrent_v2(CUcontext handle) {
  CALL;
  if (!contexts.count((Context*)handle)) return CUDA_ERROR_INVALID_CONTEXT;
  return stack.push_back((Context*)handle), CUDA_SUCCESS;
}
API cuCtxPopCurrent_v2(CUcontext* c) {
  CALL;
  if (!current_context()) return CUDA_ERROR_INVALID_CONTEXT;
  if (c) *c = (CUcontext)stack.back();
  return stack.pop_back(), CUDA_SUCCESS;
}
API cuCtxGetDevice(CUdevice* d) {
  CALL;
  Context* c = current_context();
  if (!c) return CUDA_ERROR_INVALID_CONTEXT;
  return *d = c->card->index, CUDA_SUCCESS;
}
API cuCtxGetApiVersion(CUcontext, unsigned* v) {
  CALL;
  return *v = 3020, CUDA_SUCCESS;
}
API cuCtxSynchronize() {
  ENTER;
  if (CUresult r = refuse_capture(context)) return r;
  CUresult r = wait_for_all(context);
  check_canaries(context);
  return r ? r : context->sticky;
}

API cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice d) {
  DEVICE(d);
  Context* c = primary_of(d);
  if (c)
    c->references++;
  else if (CUresult r = open(&c, visible[d], true))
    return r;
  return *out = (CUcontext)c, CUDA_SUCCESS;
}
static CUresult release(CUdevice d) {
  Context* c = primary_of(d);
  if (!c) return CUDA_ERROR_INVALID_CONTEXT;
  return --c->references ? CUDA_SUCCESS : close(c);
}
API cuDevicePrimaryCtxRelease(CUdevice d) {
  DEVICE(d);
  return release(d);
}
API cuDevicePrimaryCtxRelease_v2(CUdevice d) {
  DEVICE(d);
  return release(d);
}
API cuDevicePrimaryCtxReset_v2(CUdevice d) {
  DEVICE(d);
  Context* c = primary_of(d);
  return c ? close(c) : CUDA_SUCCESS;
}
API cuDevicePrimaryCtxSetFlags_v2(CUdevice d, unsigned) {
  DEVICE(d);
  return CUDA_SUCCESS;
}
API cuDevicePrimaryCtxGetState(CUdevice d, unsigned* flags, int* active) {
  DEVICE(d);
  return *flags = 0, *active = primary_of(d) != nullptr, CUDA_SUCCESS;
}
