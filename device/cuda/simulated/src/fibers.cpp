// Threads of a block as fibers of one thread of the host: each runs until it waits at a barrier or for its warp, then hands
// over. A kernel without either costs no more than a loop, because one fiber runs thread after thread. Mistakes stop the
// kernel: the fiber that made one leaves for the scheduler, and none is ever gone on with.
#include <sys/mman.h>
#include <algorithm>
#include <cstring>
#include <numeric>
#include "traps.h"

// Saves the registers that a call preserves and goes on on another stack.
extern "C" void cusim_swap(void** save_sp, void* to_sp);
asm(R"(
.text
.globl cusim_swap
.hidden cusim_swap
.type cusim_swap,@function
cusim_swap:
  pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
  ret
.size cusim_swap,.-cusim_swap
)");

using namespace cusim;

namespace cusim {
Thread* current;
dim3 block_idx, block_dim, grid_dim;
char* dynamic_shared;
static Kernel* kernels;
void add(Kernel* k) { k->next = kernels, kernels = k; }
}  // namespace cusim

namespace sim {

Kernel* find_kernel(const char* name, bool checked) {
  for (Kernel* k = kernels; k; k = k->next)
    if (k->checked == checked && !strcmp(k->name, name)) return k;
  return nullptr;
}

enum State { FRESH, READY, AT_BARRIER, AT_EXCHANGE, DONE };
struct Fiber {
  char* low;  // of the stack
  void* sp;
};
struct SimThread : Thread {
  Fiber* fiber;
  State state;
  Exchange what;
  uint64_t value, result;
  unsigned mask, source;
};

static const size_t stack_bytes = 128 << 10;
static std::vector<SimThread> threads;  // of the running block
static std::vector<unsigned> order;     // in which fresh threads start
static std::vector<unsigned> arrived;   // per warp: the lanes that wait for others
static std::vector<std::unique_ptr<Fiber>> fibers;
static std::vector<Fiber*> idle;
static void* scheduler_sp;
static unsigned next_fresh, at_barrier, done;
static const Launch* running;
static std::vector<char> dynamic;

Fault fault;

static SimThread* self() { return (SimThread*)current; }
static bool runnable(const SimThread& t) { return t.state <= READY; }
char* dynamic_end() { return dynamic_shared + running->shared; }

std::string thread_name(unsigned linear) {
  const dim3& t = threads[linear].index;
  char s[60];
  snprintf(s, sizeof s, "thread (%u, %u, %u)", t.x, t.y, t.z);
  return s;
}

void leave() {
  void* nowhere;
  cusim_swap(&nowhere, scheduler_sp);
  __builtin_unreachable();
}
void stop_kernel(CUresult code, const std::string& why, void* pc) {
  fault.code = code;
  fault.why = why;
  fault.pc = pc;
  leave();
}

static void fiber_main() {
  for (;;) {
    Fiber* fiber = self()->fiber;
    running->kernel->call(running->params);
    self()->state = DONE;
    done++;
    while (next_fresh < threads.size() && threads[order[next_fresh]].state != FRESH) next_fresh++;
    if (next_fresh < threads.size()) {  // no need to leave this fiber for the next thread
      SimThread* t = &threads[order[next_fresh++]];
      t->fiber = fiber;
      t->state = READY;
      current = t;
      continue;
    }
    idle.push_back(fiber);
    cusim_swap(&fiber->sp, scheduler_sp);
  }
}

// rewind lets a fiber begin anew.
static void rewind(Fiber* f) {
  static unsigned color;  // stack tops at one offset in the page would fight for one cache set
  void** sp = (void**)(f->low + stack_bytes - (color++ % 61) * 448) - 2;
  *sp = (void*)fiber_main;  // where the first swap returns to
  f->sp = sp - 6;
  memset(f->sp, 0, 6 * sizeof(void*));
  idle.push_back(f);
}
static Fiber* free_fiber() {
  if (idle.empty()) {
    auto f = std::make_unique<Fiber>();
    f->low = (char*)mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mprotect(f->low, 4096, PROT_NONE);  // an overflow traps
    rewind(f.get());
    fibers.push_back(std::move(f));
  }
  Fiber* f = idle.back();
  idle.pop_back();
  return f;
}

static void enter(SimThread* t, void** save_sp) {
  if (t->state == FRESH) {
    t->fiber = free_fiber();
    t->state = READY;
  }
  current = t;
  cusim_swap(save_sp, t->fiber->sp);
}

// wait_here hands over to the next thread of the warp that can run, else to the scheduler.
static void wait_here(SimThread* t) {
  unsigned first = t->linear & ~31u, lanes = std::min<unsigned>(32, threads.size() - first);
  if (!settings.seed)
    for (unsigned n = 1, lane = t->linear - first; n < lanes; n++) {
      if (++lane == lanes) lane = 0;
      SimThread* next = &threads[first + lane];
      if (runnable(*next)) return enter(next, &t->fiber->sp);
    }
  cusim_swap(&t->fiber->sp, scheduler_sp);
}

// stuck says why no thread can go on.
static std::string stuck() {
  auto some = [](State s) {
    for (SimThread& t : threads)
      if (t.state == s) return thread_name(t.linear);
    return std::string();
  };
  std::string out = some(DONE), barrier = some(AT_BARRIER), warp = some(AT_EXCHANGE);
  std::string why = !barrier.empty() ? barrier + " waits in __syncthreads" : warp + " waits in __shfl_sync or __syncwarp for all lanes of its mask";
  if (!barrier.empty() && !warp.empty()) why += ", " + warp + " in __shfl_sync or __syncwarp";
  if (!out.empty()) why += ", and " + out + " has exited";
  return why + ": nobody can go on";
}

static void run_block() {
  next_fresh = at_barrier = done = 0;
  std::fill(arrived.begin(), arrived.end(), 0);
  for (SimThread& t : threads) t.state = FRESH;
  if (settings.seed) std::shuffle(order.begin(), order.end(), chance());
  while (done < threads.size() && !fault.code) {
    bool ran = false;
    for (unsigned i : order)
      if (runnable(threads[i])) {
        ran = true;
        enter(&threads[i], &scheduler_sp);
        if (fault.code) break;
      }
    if (!ran) {
      fault.code = CUDA_ERROR_LAUNCH_FAILED;
      fault.why = stuck();
    }
  }
}

// ---- what went wrong
bool own_memory(uintptr_t a) {
  uintptr_t low = (uintptr_t)self()->fiber->low;
  if (a - low < stack_bytes || in_library(a)) return true;
  return a - (uintptr_t)threads.data() < threads.size() * sizeof(SimThread);
}

static CUresult report() {
  char where[120];
  snprintf(where, sizeof where, "block (%u, %u, %u)%s%s", block_idx.x, block_idx.y, block_idx.z, fault.pc ? ", " : "",
           fault.pc ? thread_name(self()->linear).c_str() : "");
  if (fault.trap) {
    bool stack = false;
    for (auto& f : fibers) stack |= fault.address - (uintptr_t)f->low < 4096;
    fault.why = stack ? "local variables take too much of the stack" : (fault.write ? "writes " : "reads ") + place_of(fault.address);
  }
  found("kernel %s: %s: %s%s", running->kernel->name, where, fault.why.c_str(), source_line(fault.pc).c_str());
  idle.clear();
  for (auto& f : fibers) rewind(f.get());
  return fault.code;
}

CUresult run_kernel(const Launch& l) {
  catch_traps();
  running = &l;
  fault = {};
  grid_dim = l.grid;
  block_dim = l.block;
  size_t n = (size_t)l.block.x * l.block.y * l.block.z;
  threads.resize(n);
  for (unsigned i = 0; i < n; i++) {
    threads[i].linear = i;
    threads[i].index = {i % l.block.x, i / l.block.x % l.block.y, i / (l.block.x * l.block.y)};
  }
  arrived.resize((n + 31) / 32);
  order.resize(n);
  std::iota(order.begin(), order.end(), 0);
  dynamic.resize(l.shared + 64);
  dynamic_shared = (char*)(((uintptr_t)dynamic.data() + 63) & ~63ull);
  if (l.kernel->checked) races_launch(l.kernel, (unsigned)n);

  uint64_t blocks = (uint64_t)l.grid.x * l.grid.y * l.grid.z;
  std::vector<uint64_t> block_order;
  if (settings.seed) {
    block_order.resize(blocks);
    std::iota(block_order.begin(), block_order.end(), 0);
    std::shuffle(block_order.begin(), block_order.end(), chance());
  }
  for (uint64_t b = 0; b < blocks && !fault.code; b++) {
    uint64_t i = settings.seed ? block_order[b] : b;
    block_idx = {unsigned(i % l.grid.x), unsigned(i / l.grid.x % l.grid.y), unsigned(i / l.grid.x / l.grid.y)};
    memset(dynamic_shared, 0xff, l.shared);  // NaN in every type
    memset(l.kernel->shared_start, 0xff, l.kernel->shared_end - l.kernel->shared_start);
    if (l.kernel->checked) races_block();
    in_kernel = true;
    run_block();
    in_kernel = false;
  }
  return fault.code ? report() : CUDA_SUCCESS;
}

}  // namespace sim

// ---- what threads wait for

using namespace sim;

void cusim::barrier() {
  SimThread* t = self();
  t->state = AT_BARRIER;
  if (++at_barrier < threads.size()) return wait_here(t);
  at_barrier = 0;
  for (SimThread& x : threads) x.state = READY;
  if (running->kernel->checked) races_barrier();
}

uint64_t cusim::exchange(Exchange what, uint64_t value, unsigned mask, unsigned source) {
  SimThread* t = self();
  unsigned warp = t->linear / 32, lane = t->linear & 31, lanes = threads.size() - warp * 32;
  if (lanes < 32) mask &= (1u << lanes) - 1;
  if (!(mask >> lane & 1))
    stop_kernel(CUDA_ERROR_LAUNCH_FAILED, "is not in the mask that it names in __shfl_sync or __syncwarp", __builtin_return_address(0));
  t->what = what;
  t->value = value;
  t->mask = mask;
  t->source = source;
  arrived[warp] |= 1u << lane;
  if ((arrived[warp] & mask) != mask) {
    t->state = AT_EXCHANGE;
    wait_here(t);
    return t->result;
  }
  SimThread* first = &threads[warp * 32];  // the last one to come exchanges for all
  unsigned ballot = 0;
  for (unsigned m = mask; m; m &= m - 1) {
    SimThread& x = first[__builtin_ctz(m)];
    if (x.mask != mask || x.what != what)
      stop_kernel(CUDA_ERROR_LAUNCH_FAILED, thread_name(x.linear) + (x.mask != mask ? " names another mask in __shfl_sync or __syncwarp"
                                                                            : " waits in another of __shfl_sync, __syncwarp, __ballot_sync"),
                  __builtin_return_address(0));
    ballot |= (unsigned)(x.value & 1) << (x.linear & 31);
  }
  for (unsigned m = mask; m; m &= m - 1) {
    SimThread& x = first[__builtin_ctz(m)];
    if (what == SHUFFLE) x.result = mask >> x.source & 1 ? first[x.source].value : ~0ull;  // a lane that isn't there gives NaN
    if (what == BALLOT) x.result = ballot;
    x.state = READY;
  }
  arrived[warp] &= ~mask;
  if (what == SYNCWARP && running->kernel->checked) races_warp(warp);
  return t->result;
}
