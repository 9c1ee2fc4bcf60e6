// What the parts of the simulated driver share. One mutex guards all of it: a call holds it to its end.
#pragma once
#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>
#include "abi.h"
#include "cudasim.h"

namespace sim {

extern std::recursive_mutex mutex;

// ---- settings.cpp

struct Settings {
  std::string cards = "t4";  // names of cards.cpp, by commas
  size_t memory = 0;         // bytes of each card; 0: what the real one has
  size_t context = 0;        // bytes that a context takes
  int driver = 12040;        // the newest CUDA that the driver knows
  std::string processes;     // on the cards, as NVML tells them: nvml.cpp
  std::string mode = "default";  // compute mode: default, exclusive, prohibited
  bool busy = false;         // another process has a context on each card
  bool lazy = false;         // queued work runs only when something waits for it
  bool guard = false;        // pages around allocations, and freed memory, can't be touched
  bool races = false;        // kernels run in the build that checks each access
  bool capture = true;       // streams can be captured
  unsigned seed = 0;         // 0: blocks, threads and streams in order; else in a random one
};
extern Settings settings;
extern bool started;
std::mt19937& chance();  // seeded by the setting

// called counts a call by name, and says what a fault made by cudasim_fail has it return.
CUresult called(const char* name);
// found records a mistake of the program: printed, and kept for cudasim_findings.
void found(const char* format, ...) __attribute__((format(printf, 1, 2)));

// ---- cards.cpp

struct Spec {
  const char *key, *name;
  int major, minor, processors, clock_khz, memory_khz, bus_bits, l2;
  size_t memory;
};
struct Card {
  const Spec* spec;
  int number;      // in the machine
  int index;       // among the visible ones, -1 for none
  size_t memory;
  size_t large = 0, small = 0;  // bytes of allocations, by their size
  size_t contexts = 0;          // bytes that contexts take
  size_t taken = 0;             // bytes that another process has
  size_t used() const;
};
extern std::vector<Card*> visible;
bool find_cards(std::string* why);  // makes the cards that the settings say

// ---- context.cpp

struct Stream;
struct Context {
  Card* card;
  bool primary;
  int references;
  size_t charge;  // bytes that it takes of the card
  CUresult sticky = CUDA_SUCCESS;  // a fault of a kernel: every later call returns it
  std::shared_ptr<Stream> null_stream;
};
extern std::set<Context*> contexts;
Context* current_context();

// CALL begins a call: it locks, counts, and returns what a made fault says. ENTER also wants a context that works.
#define CALL                                           \
  std::lock_guard<std::recursive_mutex> lock(sim::mutex); \
  if (CUresult made = sim::called(__func__)) return made
#define ENTER                                                   \
  CALL;                                                         \
  if (!sim::started) return CUDA_ERROR_NOT_INITIALIZED;         \
  sim::Context* context = sim::current_context();               \
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;              \
  if (context->sticky) return context->sticky

// ---- stream.cpp

struct Graph;
struct Dependency {
  std::shared_ptr<Stream> stream;
  uint64_t count;  // tasks of the stream that must be done
};
struct Task {
  std::function<CUresult()> run;
  std::vector<Dependency> after;
};
struct Stream {
  Context* context;
  bool blocking;  // waits for the null stream, and it for this one
  uint64_t id = 0;  // in the order of creation
  std::deque<Task> queue;
  uint64_t submitted = 0, done = 0;
  Graph* capture = nullptr;
  bool unjoined = false;  // in a capture: has work that its origin has not waited for
};
std::shared_ptr<Stream> stream_of(Context*, CUstream);  // null: no such stream
CUresult submit(Context*, CUstream, Task);
CUresult wait_for(Stream*, uint64_t count);
CUresult wait_for_all(Context*);
void forget_streams(Context*);
size_t live_streams();
size_t live_events();
CUresult refuse_capture(Context*);  // the error of a call that no capture allows, if one is under way

// ---- graph.cpp

struct Graph {
  std::vector<Task> tasks;
  Stream* origin = nullptr;
  bool invalid = false;
};
void keep_graph(Graph*);  // gives it a handle
size_t live_graphs();

// ---- memory.cpp

struct Shadow;
struct Allocation {
  Context* context;
  CUdeviceptr start;
  size_t size;
  uint64_t number;  // of the allocation, counted from 1
  char* body;       // the pages between the fences
  size_t body_size;
  Shadow* shadow = nullptr;
};
Allocation* allocation_at(CUdeviceptr);                          // that holds the address, or null
bool on_device(Context*, CUdeviceptr, size_t bytes);
bool is_pinned(const void*, size_t bytes);
std::string place_of(CUdeviceptr);                               // an address in words
void check_canaries(Context*);
void free_all(Context*);
size_t live_allocations();
size_t live_bytes();
size_t live_pinned();

// ---- fibers.cpp, traps.cpp and races.cpp

struct Launch {
  const cusim::Kernel* kernel;
  dim3 grid, block;
  size_t shared;  // bytes, dynamic
  void** params;
};
CUresult run_kernel(const Launch&);  // mistakes are found()
cusim::Kernel* find_kernel(const char* name, bool checked);
// stop_kernel ends the running kernel from inside it, with what it did wrong and where in the code.
[[noreturn]] void stop_kernel(CUresult, const std::string& why, void* pc);
std::string thread_name(unsigned linear);       // "thread (3, 0, 0)" of the running block
bool own_memory(uintptr_t address);             // of the fibers and of the library
char* dynamic_end();                            // of the dynamic shared memory, which starts at cusim::dynamic_shared
void races_launch(const cusim::Kernel*, unsigned threads);
void races_block();
void races_barrier();
void races_warp(unsigned warp);
void free_shadow(Allocation*);
}  // namespace sim
