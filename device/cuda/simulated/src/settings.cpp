// Settings, counters of calls, faults made for tests, and the list of what was found. All of it can be reached by
// exported functions, so that one process can change it between two cards.
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include "sim.h"

namespace sim {

std::recursive_mutex mutex;
bool started;

static std::mt19937 generator;
std::mt19937& chance() { return generator; }

static bool parse_bytes(const char* s, size_t* n) {
  char* end;
  *n = strtoull(s, &end, 10);
  if (end == s) return false;
  switch (*end) {
    case 'G': *n <<= 10; [[fallthrough]];
    case 'M': *n <<= 10; [[fallthrough]];
    case 'K': *n <<= 10; end++;
  }
  return *end == 0;
}
static bool parse_flag(const char* s, bool* b) {
  *b = !strcmp(s, "1");
  return *b || !strcmp(s, "0");
}

// apply sets one setting, and says whether there is one of this name that takes the value.
static bool apply(Settings* s, const std::string& name, const char* value) {
  size_t n;
  if (name == "cards") return s->cards = value, true;
  if (name == "processes") return s->processes = value, true;
  if (name == "memory") return parse_bytes(value, &s->memory);
  if (name == "context") return parse_bytes(value, &s->context);
  if (name == "driver") return parse_bytes(value, &n) && (s->driver = (int)n, true);
  if (name == "mode") return s->mode = value, s->mode == "default" || s->mode == "exclusive" || s->mode == "prohibited";
  if (name == "busy") return parse_flag(value, &s->busy);
  if (name == "lazy") return parse_flag(value, &s->lazy);
  if (name == "guard") return parse_flag(value, &s->guard);
  if (name == "races") return parse_flag(value, &s->races);
  if (name == "capture") return parse_flag(value, &s->capture);
  if (name == "seed") {
    if (!parse_bytes(value, &n)) return false;
    s->seed = (unsigned)n;
    generator.seed(s->seed);
    return true;
  }
  return false;
}

// environment is the settings that the process began with: CUDASIM_LAZY=1.
static Settings environment() {
  Settings s;
  for (const char* name : {"cards", "processes", "memory", "context", "driver", "mode", "busy", "lazy", "guard", "races", "capture", "seed"}) {
    std::string variable = "CUDASIM_";
    for (const char* c = name; *c; c++) variable += (char)toupper(*c);
    const char* value = getenv(variable.c_str());
    if (value && !apply(&s, name, value)) {
      fprintf(stderr, "simulated card: %s=%s: no such value\n", variable.c_str(), value);
      abort();
    }
  }
  return s;
}

Settings settings = environment();

// ---- counters and faults

struct Fault {
  std::string call;  // "" for any
  long left;         // calls until it
  int code;
  bool sticky;
};
static std::map<std::string, long> counts;
static std::vector<Fault> faults;

CUresult called(const char* symbol) {
  std::string name = symbol;
  if (name.size() > 3 && name[name.size() - 3] == '_' && name[name.size() - 2] == 'v') name.resize(name.size() - 3);
  counts[name]++;
  counts[""]++;
  for (Fault& f : faults) {
    if (!f.call.empty() && f.call != name) continue;
    if (--f.left) continue;
    if (Context* c = f.sticky ? current_context() : nullptr) c->sticky = f.code;
    return f.code;
  }
  return CUDA_SUCCESS;
}

// ---- findings

static std::string findings;

void found(const char* format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  fprintf(stderr, "simulated card: %s\n", text);
  findings += text;
  findings += '\n';
}

}  // namespace sim

using namespace sim;
#define CONTROL extern "C" __attribute__((visibility("default")))
#define LOCK std::lock_guard<std::recursive_mutex> lock(sim::mutex)

// cudasim_set changes a setting: 0, or -1 with the reason among the findings. What a card is can change only while no
// context is open.
CONTROL int cudasim_set(const char* name, const char* value) {
  LOCK;
  Settings changed = settings;
  if (!apply(&changed, name, value)) return found("setting %s=%s: no such setting or value", name, value), -1;
  bool cards = changed.cards != settings.cards || changed.memory != settings.memory;
  if (cards && !contexts.empty()) return found("setting %s: a context is open", name), -1;
  std::swap(settings, changed);
  std::string why;
  if (!cards || find_cards(&why)) return 0;
  found("setting %s=%s: %s", name, value, why.c_str());
  settings = changed;
  return find_cards(&why), -1;
}

// cudasim_reset brings settings, counters, faults, findings and other processes' memory back to the start. It returns
// -1, and does nothing, while a context is open.
CONTROL int cudasim_reset() {
  LOCK;
  if (!contexts.empty()) return -1;
  settings = environment();
  generator.seed(settings.seed);
  counts.clear();
  faults.clear();
  findings.clear();
  std::string why;
  return find_cards(&why) ? 0 : -1;
}

// cudasim_fail lets the n-th call from now return a code; sticky ones stay for the context. call "" is any; n 0 forgets
// all faults.
CONTROL void cudasim_fail(const char* call, long n, int code, int sticky) {
  LOCK;
  if (n <= 0) return faults.clear();
  faults.push_back({call, n, code, sticky != 0});
}

// cudasim_take lets another process take bytes of a visible card, or give them back where negative: 0, or -1 where
// there aren't so many.
CONTROL int cudasim_take(int card, long long bytes) {
  LOCK;
  if (card < 0 || card >= (int)visible.size()) return -1;
  Card* c = visible[card];
  if (bytes < 0 ? c->taken < (size_t)-bytes : c->memory - c->used() < (size_t)bytes) return -1;
  c->taken += bytes;
  return 0;
}

// cudasim_count is how often a call was made, "" for all calls; or how many there are of what begins with "live ".
CONTROL long long cudasim_count(const char* name) {
  LOCK;
  std::string n = name;
  if (n == "live allocations") return live_allocations();
  if (n == "live bytes") return live_bytes();
  if (n == "live pinned") return live_pinned();
  if (n == "live streams") return live_streams();
  if (n == "live events") return live_events();
  if (n == "live graphs") return live_graphs();
  if (n == "live contexts") return contexts.size();
  auto c = counts.find(n);
  return c == counts.end() ? 0 : c->second;
}

// cudasim_findings copies what was found, one a line, and forgets it. It returns the length of all of it.
CONTROL size_t cudasim_findings(char* to, size_t size) {
  LOCK;
  size_t n = findings.size();
  if (size) snprintf(to, size, "%s", findings.c_str());
  if (size > n) findings.clear();
  return n;
}

// cudasim_processes copies the setting, and returns its length.
CONTROL size_t cudasim_processes(char* to, size_t size) {
  LOCK;
  if (size) snprintf(to, size, "%s", settings.processes.c_str());
  return settings.processes.size();
}

// cudasim_called counts a call of another library, and says what a made fault has it return.
CONTROL int cudasim_called(const char* name) {
  LOCK;
  return called(name);
}
