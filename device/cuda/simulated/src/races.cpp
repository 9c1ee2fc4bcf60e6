// The check of each access of a kernel to shared memory and to the card's. The compiler calls the functions at the end
// (those of its thread sanitizer, with nothing else of it) before each access of a kernel that was built to be checked.
//
// A cell for every two bytes keeps the last write and the last two readers. Two accesses by different threads race if one
// is a write and nothing lies between: in one block a __syncthreads, or a __syncwarp of both; in two blocks of a launch
// nothing does. Time is counted in phases: a new one starts with each launch, each block and each barrier.
#include <sys/mman.h>
#include <algorithm>
#include <cstring>
#include "sim.h"

namespace sim {

struct Access {
  uint32_t phase;
  uint16_t thread, warp_phase;
};
struct Cell {
  Access write, read, before;  // before is the last reader other than read
  uint32_t first_read;         // of the launch: its phase
  uint16_t first_reader;       // and its thread
};
struct Shadow {
  Cell* cells;
  size_t bytes;
};
static const size_t grain = 2;

static uint32_t phase, launch_phase, block_phase;
static std::vector<uint16_t> warp_phases;
static std::vector<std::pair<uint32_t, dim3>> blocks;  // of the launch, by the phase in which each started
static Shadow dynamic_shadow, static_shadow;
static const cusim::Kernel* kernel;
static Allocation* last;
static char* dynamic_stop;

static void make(Shadow* s, size_t bytes) {
  if (s->cells && s->bytes >= bytes) return;
  if (s->cells) munmap(s->cells, (s->bytes + grain) / grain * sizeof(Cell));
  s->bytes = bytes;
  void* p = mmap(nullptr, (bytes + grain) / grain * sizeof(Cell), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    fprintf(stderr, "simulated card: no memory to check %zu bytes for races\n", bytes);
    abort();
  }
  s->cells = (Cell*)p;
}
void free_shadow(Allocation* a) {
  last = nullptr;
  if (!a->shadow) return;
  munmap(a->shadow->cells, (a->shadow->bytes + grain) / grain * sizeof(Cell));
  delete a->shadow;
  a->shadow = nullptr;
}

void races_launch(const cusim::Kernel* k, unsigned threads) {
  kernel = k;
  last = nullptr;
  launch_phase = ++phase;
  blocks.clear();
  warp_phases.assign((threads + 31) / 32, 0);
  dynamic_stop = dynamic_end();
  make(&dynamic_shadow, dynamic_stop - cusim::dynamic_shared);
  make(&static_shadow, k->shared_end - k->shared_start);
}
void races_block() {
  block_phase = ++phase;
  blocks.push_back({phase, cusim::block_idx});
}
void races_barrier() { ++phase; }
void races_warp(unsigned warp) { ++warp_phases[warp]; }

// ordered says that an access of this block comes before that of the current thread.
static inline bool ordered(const Access& a, unsigned thread) {
  if (a.phase != phase || a.thread == thread) return true;
  return a.thread / 32 == thread / 32 && a.warp_phase != warp_phases[thread / 32];
}

static std::string place(uintptr_t a) {
  if (a - (uintptr_t)cusim::dynamic_shared < (size_t)(dynamic_stop - cusim::dynamic_shared))
    return "byte " + std::to_string(a - (uintptr_t)cusim::dynamic_shared) + " of dynamic shared memory";
  if (a - (uintptr_t)kernel->shared_start < (size_t)(kernel->shared_end - kernel->shared_start))
    return "byte " + std::to_string(a - (uintptr_t)kernel->shared_start) + " of the shared memory that it declares";
  return place_of(a);
}
[[noreturn]] static void race(uintptr_t a, bool write, const Access& other, bool wrote, void* pc) {
  auto b = std::upper_bound(blocks.begin(), blocks.end(), other.phase, [](uint32_t p, auto& x) { return p < x.first; });
  dim3 block = std::prev(b)->second;
  char text[160];
  bool same = other.phase >= block_phase;
  snprintf(text, sizeof text, "%s of block (%u, %u, %u) %s%s", thread_name(other.thread).c_str(), block.x, block.y, block.z, wrote ? "wrote" : "read",
           same ? " since the last barrier" : " in the same launch");
  stop_kernel(CUDA_ERROR_LAUNCH_FAILED, std::string("race: ") + (write ? "writes " : "reads ") + place(a) + ", which " + text, pc);
}

static void visit(Cell& c, uintptr_t a, bool write, bool shared, void* pc) {
  unsigned thread = cusim::current->linear;
  if (c.write.phase >= launch_phase) {
    // Shared memory belongs to the block: what an earlier block wrote is not there.
    bool other_block = c.write.phase < block_phase;
    if (other_block ? !shared : !ordered(c.write, thread)) race(a, write, c.write, true, pc);
  }
  if (!write) {
    if (shared && c.write.phase < block_phase)
      stop_kernel(CUDA_ERROR_LAUNCH_FAILED, "reads " + place(a) + ", which no thread of the block has set", pc);
    if (c.first_read < launch_phase) c.first_read = phase, c.first_reader = (uint16_t)thread;
    if (c.read.thread != thread || c.read.phase < block_phase) c.before = c.read;
    c.read = {phase, (uint16_t)thread, warp_phases[thread / 32]};
    return;
  }
  for (const Access& r : {c.read, c.before})
    if (r.phase >= block_phase && !ordered(r, thread)) race(a, write, r, false, pc);
  if (!shared && c.first_read >= launch_phase && c.first_read < block_phase) race(a, write, {c.first_read, c.first_reader, 0}, false, pc);
  c.write = {phase, (uint16_t)thread, warp_phases[thread / 32]};
}

static void access(void* p, size_t n, size_t align, bool write, void* pc) {
  uintptr_t a = (uintptr_t)p;
  if (own_memory(a) && a - (uintptr_t)kernel->shared_start >= (size_t)(kernel->shared_end - kernel->shared_start)) return;
  Cell* cells;
  uintptr_t start, end;
  bool shared = true;
  if (a - (uintptr_t)cusim::dynamic_shared < (size_t)(dynamic_stop - cusim::dynamic_shared)) {
    cells = dynamic_shadow.cells, start = (uintptr_t)cusim::dynamic_shared, end = (uintptr_t)dynamic_stop;
  } else if (a - (uintptr_t)kernel->shared_start < (size_t)(kernel->shared_end - kernel->shared_start)) {
    cells = static_shadow.cells, start = (uintptr_t)kernel->shared_start, end = (uintptr_t)kernel->shared_end;
  } else {
    shared = false;
    if (!last || a - last->start >= last->size) last = allocation_at(a);
    if (!last) stop_kernel(CUDA_ERROR_ILLEGAL_ADDRESS, (write ? "writes " : "reads ") + place_of(a), pc);
    if (!last->shadow) make(last->shadow = new Shadow{}, last->size);
    cells = last->shadow->cells, start = last->start, end = start + last->size;
  }
  if (a + n > end) stop_kernel(CUDA_ERROR_ILLEGAL_ADDRESS, (write ? "writes " : "reads ") + place_of(end), pc);
  if (a % align) stop_kernel(CUDA_ERROR_MISALIGNED_ADDRESS, (write ? "writes " : "reads ") + place(a) + " with " + std::to_string(n) + " bytes: misaligned", pc);
  for (size_t i = (a - start) / grain; i <= (a + n - 1 - start) / grain; i++) visit(cells[i], start + i * grain, write, shared, pc);
}

}  // namespace sim

#define HOOK(name, bytes, write) \
  extern "C" void name(void* p) { sim::access(p, bytes, bytes, write, __builtin_return_address(0)); }
#define HOOKS(n)                                                                        \
  HOOK(__tsan_read##n, n, false) HOOK(__tsan_write##n, n, true)                         \
  HOOK(__tsan_unaligned_read##n, n, false) HOOK(__tsan_unaligned_write##n, n, true)
HOOKS(1) HOOKS(2) HOOKS(4) HOOKS(8) HOOKS(16)
extern "C" void __tsan_read_range(void* p, size_t n) { sim::access(p, n, 1, false, __builtin_return_address(0)); }
extern "C" void __tsan_write_range(void* p, size_t n) { sim::access(p, n, 1, true, __builtin_return_address(0)); }
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_init() {}
