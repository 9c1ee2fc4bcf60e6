// Threads of a block as fibers: each runs until it waits at a barrier or a shuffle, then hands over.
// A kernel without either costs no more than a loop, because one fiber runs thread after thread.
#include "runtime.h"
#include <sys/mman.h>
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

// Saves the registers that a call preserves and continues on another stack.
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
)");

namespace cusim {

Thread* current;
dim3 block_idx, block_dim, grid_dim;
char* dynamic_shared;

static Kernel* kernels;
void add(Kernel* k) { k->next = kernels; kernels = k; }
Kernel* find(const char* name) {
  for (Kernel* k = kernels; k; k = k->next)
    if (!strcmp(k->name, name)) return k;
  return nullptr;
}

enum State { FRESH, READY, AT_BARRIER, AT_SHUFFLE, DONE };
struct Fiber { void* sp; };
struct SimThread : Thread {
  Fiber* fiber;
  State state;
  uint64_t value, result;  // of a shuffle
  unsigned mask, source;
};

static std::vector<SimThread> threads;  // of the running block
static std::vector<unsigned> arrived;   // per warp: the lanes that wait at a shuffle
static std::vector<Fiber*> idle;
static void* scheduler_sp;
static unsigned next_fresh, at_barrier, done;
static const char* fault;
static Kernel* kernel;
static void** kernel_params;

static SimThread* self() { return (SimThread*)current; }
static bool runnable(const SimThread& t) { return t.state <= READY; }

static void fiber_main() {
  for (;;) {
    Fiber* fiber = self()->fiber;
    kernel->call(kernel_params);
    self()->state = DONE;
    done++;
    while (next_fresh < threads.size() && threads[next_fresh].state != FRESH) next_fresh++;
    if (next_fresh < threads.size()) {  // no need to leave this fiber for the next thread
      SimThread* t = &threads[next_fresh++];
      t->fiber = fiber;
      t->state = READY;
      current = t;
      continue;
    }
    idle.push_back(fiber);
    cusim_swap(&fiber->sp, scheduler_sp);
  }
}

static Fiber* new_fiber() {
  const size_t stack = 64 << 10;
  if (!idle.empty()) {
    Fiber* f = idle.back();
    idle.pop_back();
    return f;
  }
  char* low = (char*)mmap(nullptr, stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(low, 4096, PROT_NONE);  // an overflow faults
  static unsigned color;          // stack tops at one offset in the page would fight for one cache set
  void** sp = (void**)(low + stack - (color++ % 61) * 448) - 2;
  *sp = (void*)fiber_main;         // where the first swap returns to
  Fiber* f = new Fiber{sp - 6};
  memset(f->sp, 0, 6 * sizeof(void*));
  return f;
}

static void enter(SimThread* t, void** save_sp) {
  if (t->state == FRESH) {
    t->fiber = new_fiber();
    t->state = READY;
  }
  current = t;
  cusim_swap(save_sp, t->fiber->sp);
}

// Hands over to the next runnable lane of the warp, else to the scheduler.
static void wait_here(SimThread* t) {
  unsigned first = t->linear & ~31u, end = std::min<unsigned>(first + 32, threads.size());
  for (unsigned n = 1; n < end - first; n++) {
    unsigned i = first + (t->linear - first + n) % (end - first);
    if (runnable(threads[i])) return enter(&threads[i], &t->fiber->sp);
  }
  cusim_swap(&t->fiber->sp, scheduler_sp);
}

void barrier() {
  SimThread* t = self();
  t->state = AT_BARRIER;
  if (++at_barrier < threads.size()) return wait_here(t);
  at_barrier = 0;
  for (SimThread& x : threads) x.state = READY;
}

uint64_t exchange(Exchange, uint64_t value, unsigned mask, unsigned source) {
  SimThread* t = self();
  unsigned warp = t->linear / 32, lanes = threads.size() - warp * 32;
  if (lanes < 32) mask &= (1u << lanes) - 1;
  t->value = value;
  t->mask = mask;
  t->source = source;
  arrived[warp] |= 1u << (t->linear & 31);
  if ((arrived[warp] & mask) != mask) {
    t->state = AT_SHUFFLE;
    wait_here(t);
    return t->result;
  }
  SimThread* lane = &threads[warp * 32];  // the last one to come exchanges for all
  for (unsigned m = mask; m; m &= m - 1) {
    SimThread& x = lane[__builtin_ctz(m)];
    if (x.mask != mask) fault = "__shfl_*_sync: the lanes name different masks";
    x.result = mask >> x.source & 1 ? lane[x.source].value : ~0ull;  // a lane that isn't there gives NaN
    x.state = READY;
  }
  arrived[warp] &= ~mask;
  return t->result;
}

static void run_block() {
  next_fresh = at_barrier = done = 0;
  std::fill(arrived.begin(), arrived.end(), 0);
  for (unsigned i = 0; i < threads.size(); i++) {
    threads[i].linear = i;
    threads[i].state = FRESH;
    threads[i].index = {i % block_dim.x, i / block_dim.x % block_dim.y, i / (block_dim.x * block_dim.y)};
  }
  while (done < threads.size() && !fault) {
    bool ran = false;
    for (SimThread& t : threads)
      if (runnable(t)) {
        ran = true;
        enter(&t, &scheduler_sp);
      }
    if (!ran)
      fault = at_barrier ? "__syncthreads: some threads of the block have exited or wait elsewhere"
                         : "__shfl_*_sync: a lane in the mask has exited or waits elsewhere";
  }
}

const char* launch(Kernel* k, dim3 grid, dim3 block, size_t dynamic_bytes, void** params, unsigned order_seed) {
  kernel = k;
  kernel_params = params;
  fault = nullptr;
  grid_dim = grid;
  block_dim = block;
  threads.resize(block.x * block.y * block.z);
  arrived.resize((threads.size() + 31) / 32);
  std::vector<char> dynamic(dynamic_bytes + 16);
  dynamic_shared = (char*)(((uintptr_t)dynamic.data() + 15) & ~15ull);

  std::vector<uint64_t> order((size_t)grid.x * grid.y * grid.z);
  std::iota(order.begin(), order.end(), 0);
  if (order_seed) std::shuffle(order.begin(), order.end(), std::mt19937(order_seed));
  for (uint64_t i : order) {
    block_idx = {unsigned(i % grid.x), unsigned(i / grid.x % grid.y), unsigned(i / grid.x / grid.y)};
    memset(dynamic_shared, 0xff, dynamic_bytes);  // NaN as float and as half
    if (k->shared_start) memset(k->shared_start, 0xff, k->shared_end - k->shared_start);
    run_block();
    if (fault) return fault;
  }
  return nullptr;
}

}  // namespace cusim
