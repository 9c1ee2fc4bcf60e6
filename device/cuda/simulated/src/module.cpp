// Modules and launches. PTX isn't run: it is read for what it says of each kernel, and that is held against the kernel
// compiled by g++ and against the card. So PTX that is older than its source is refused.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include "sim.h"

namespace sim {

struct Function {
  std::string name;
  cusim::Kernel *plain, *checked;
  unsigned most_threads;  // .maxntid, else 1024
  size_t shared;          // bytes that the kernel declares
};
struct Module {
  Context* context;
  std::map<std::string, Function> functions;
};
static std::set<Module*> modules;

static const size_t most_shared = 48 << 10, most_parameters = 4096;  // bytes

// without_comments is PTX without its comments.
static std::string without_comments(const char* ptx) {
  std::string s;
  for (const char* p = ptx; *p;) {
    if (p[0] == '/' && p[1] == '/') {
      p += strcspn(p, "\n");
    } else if (p[0] == '/' && p[1] == '*') {
      const char* end = strstr(p, "*/");
      p = end ? end + 2 : p + strlen(p);
    } else {
      s += *p++;
    }
  }
  return s;
}

// type_bytes is the size of a PTX type: ".b8", ".f32". It moves p behind it.
static size_t type_bytes(const char*& p) {
  while (*p == ' ') p++;
  if (*p != '.') return 0;
  return strtoul(p + 2, (char**)&p, 10) / 8;
}

struct Variable { std::string name; size_t bytes; };

// shared_variables are those that a text declares itself: ".shared .align 4 .b8 name[128];". Those that are .extern are
// dynamic memory.
static std::vector<Variable> shared_variables(const std::string& text) {
  std::vector<Variable> list;
  for (size_t at = 0; (at = text.find(".shared ", at)) != std::string::npos;) {
    size_t line = text.find_last_of(";{}\n", at) + 1;
    const char* p = text.c_str() + at + strlen(".shared ");
    at++;
    if (text.substr(line, at - line).find(".extern") != std::string::npos) continue;
    size_t align = 1;
    if (!strncmp(p, ".align ", 7)) align = strtoul(p + 7, (char**)&p, 10);
    size_t bytes = type_bytes(p);
    while (*p == ' ') p++;
    const char* end = p + strcspn(p, "[;");
    Variable v{std::string(p, end), std::max(bytes, (size_t)1)};
    while (*end == '[') v.bytes *= strtoul(end + 1, (char**)&end, 10), end++;
    v.bytes = (v.bytes + align - 1) / align * align;
    list.push_back(v);
  }
  return list;
}

// parameters says what disagrees between the parameters that PTX declares and those of the kernel, "" for nothing.
static std::string parameters(const std::string& declared, const cusim::Kernel* k) {
  int n = 0;
  size_t total = 0;
  char text[200];
  for (size_t at = 0; (at = declared.find(".param ", at)) != std::string::npos; n++) {
    const char* p = declared.c_str() + at + strlen(".param ");
    at++;
    if (!strncmp(p, ".align ", 7)) strtoul(p + 7, (char**)&p, 10);
    size_t bytes = type_bytes(p);
    p += strcspn(p, "[,)\n");
    if (*p == '[') bytes *= strtoul(p + 1, nullptr, 10);
    total += bytes;
    if (n < k->params && bytes != k->sizes[n]) {
      snprintf(text, sizeof text, "parameter %d has %zu bytes in the PTX and %d in the source", n, bytes, k->sizes[n]);
      return text;
    }
  }
  if (n != k->params) {
    snprintf(text, sizeof text, "%d parameters in the PTX, %d in the source", n, k->params);
    return text;
  }
  if (total > most_parameters) {
    snprintf(text, sizeof text, "%zu bytes of parameters, a launch takes %zu", total, most_parameters);
    return text;
  }
  return "";
}

static CUresult load(Context* c, CUmodule* out, const char* image) {
  std::string ptx = without_comments(image);
  size_t version = ptx.find(".version "), target = ptx.find(".target sm_");
  if (version == std::string::npos || target == std::string::npos) return found("a module that is no PTX"), CUDA_ERROR_INVALID_IMAGE;
  // PTX 7.8 came with CUDA 11.8, 8.0 with 12.0: minor versions go together within a major one.
  int major = 0, minor = 0, sm = atoi(ptx.c_str() + target + strlen(".target sm_"));
  sscanf(ptx.c_str() + version, ".version %d.%d", &major, &minor);
  int needs = major >= 8 ? 12000 + (major - 8) * 1000 + minor * 10 : 11000 + minor * 10;
  if (needs > settings.driver) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  if (sm > c->card->spec->major * 10 + c->card->spec->minor) return CUDA_ERROR_NO_BINARY_FOR_GPU;

  auto module = std::make_unique<Module>();
  module->context = c;
  std::string outside;  // of kernels: variables of the module
  std::map<std::string, std::string> bodies;
  for (size_t from = 0;;) {
    size_t at = ptx.find(".entry ", from);
    outside += ptx.substr(from, at - from);
    if (at == std::string::npos) break;
    at += strlen(".entry ");
    size_t open = ptx.find('{', at), end = open;
    for (int depth = 0; end < ptx.size(); end++) {
      depth += ptx[end] == '{' ? 1 : ptx[end] == '}' ? -1 : 0;
      if (!depth) break;
    }
    if (open == std::string::npos || end >= ptx.size()) return found("a module of PTX that ends inside a kernel"), CUDA_ERROR_INVALID_PTX;
    std::string head = ptx.substr(at, open - at), name = head.substr(0, head.find_first_of(" (\n\t"));
    Function f{name, find_kernel(name.c_str(), false), find_kernel(name.c_str(), true), 1024, 0};
    std::string why = f.plain && f.checked ? parameters(head, f.plain) : "no kernel of this name was built from a .cu file";
    if (!why.empty()) return found("PTX of kernel %s: %s: is the PTX older than its source?", name.c_str(), why.c_str()), CUDA_ERROR_INVALID_PTX;
    if (size_t m = head.find(".maxntid "); m != std::string::npos) {
      f.most_threads = 1;
      const char* p = head.c_str() + m + strlen(".maxntid");
      do f.most_threads *= strtoul(p + 1, (char**)&p, 10); while (*p == ',');
    }
    bodies[name] = ptx.substr(open, end - open);
    module->functions[name] = f;
    from = end + 1;
  }
  std::vector<Variable> common = shared_variables(outside);
  for (auto& [name, f] : module->functions) {
    for (const Variable& v : shared_variables(bodies[name])) f.shared += v.bytes;
    for (const Variable& v : common)
      if (bodies[name].find(v.name) != std::string::npos) f.shared += v.bytes;
    if (f.shared > most_shared) {
      found("PTX of kernel %s: %zu bytes of shared memory, a block has %zu", name.c_str(), f.shared, most_shared);
      return CUDA_ERROR_INVALID_PTX;
    }
  }
  modules.insert(module.get());
  return *out = (CUmodule)module.release(), CUDA_SUCCESS;
}

static const Function* function_of(Context* c, CUfunction f) {
  for (Module* m : modules)
    if (m->context == c)
      for (auto& x : m->functions)
        if (&x.second == (Function*)f) return &x.second;
  return nullptr;
}

static CUresult queue_launch(Context* c, const Function& f, dim3 grid, dim3 block, size_t shared, CUstream s, void** params) {
  size_t threads = (size_t)block.x * block.y * block.z;
  bool in_grid = grid.x && grid.y && grid.z && grid.x <= 2147483647u && grid.y <= 65535 && grid.z <= 65535;
  bool in_block = threads && threads <= 1024 && block.x <= 1024 && block.y <= 1024 && block.z <= 64;
  if (!in_grid || !in_block) {
    found("launch of %s: a grid of %u x %u x %u blocks of %u x %u x %u threads, which no card takes", f.name.c_str(), grid.x, grid.y, grid.z,
          block.x, block.y, block.z);
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (shared + f.shared > most_shared) {
    found("launch of %s: %zu bytes of dynamic shared memory and %zu that it declares: a block has %zu", f.name.c_str(), shared, f.shared, most_shared);
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (threads > f.most_threads) {
    found("launch of %s: %zu threads a block, its .maxntid is %u", f.name.c_str(), threads, f.most_threads);
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  }
  cusim::Kernel* k = settings.races ? f.checked : f.plain;
  std::vector<uint64_t> cells(2 * k->params);  // arguments are taken now, not when the kernel runs
  for (int i = 0; i < k->params; i++) memcpy(&cells[2 * i], params[i], k->sizes[i]);
  return submit(c, s, {[=] {
                   std::vector<uint64_t> own = cells;  // a kernel may change its parameters, and a graph runs it again
                   std::vector<void*> p;
                   for (int i = 0; i < k->params; i++) p.push_back(&own[2 * i]);
                   return run_kernel({k, grid, block, shared, p.data()});
                 }, {}});
}

}  // namespace sim

using namespace sim;

API cuModuleLoadData(CUmodule* m, const void* image) {
  ENTER;
  return load(context, m, (const char*)image);
}
API cuModuleLoadDataEx(CUmodule* m, const void* image, unsigned, void*, void**) {
  ENTER;
  return load(context, m, (const char*)image);
}
API cuModuleUnload(CUmodule handle) {
  ENTER;
  if (!modules.erase((Module*)handle)) return CUDA_ERROR_INVALID_HANDLE;
  return delete (Module*)handle, CUDA_SUCCESS;
}
API cuModuleGetFunction(CUfunction* out, CUmodule handle, const char* name) {
  ENTER;
  if (!modules.count((Module*)handle)) return CUDA_ERROR_INVALID_HANDLE;
  auto& functions = ((Module*)handle)->functions;
  auto f = functions.find(name);
  if (f == functions.end()) return CUDA_ERROR_NOT_FOUND;
  return *out = (CUfunction)&f->second, CUDA_SUCCESS;
}
API cuFuncGetAttribute(int* v, int attribute, CUfunction handle) {
  ENTER;
  const Function* f = function_of(context, handle);
  if (!f) return CUDA_ERROR_INVALID_HANDLE;
  switch (attribute) {
    case 0: return *v = (int)f->most_threads, CUDA_SUCCESS;
    case 1: return *v = (int)f->shared, CUDA_SUCCESS;
    default: return CUDA_ERROR_NOT_SUPPORTED;  // registers and local memory are the real compiler's
  }
}
API cuLaunchKernel(CUfunction handle, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream s,
                   void** params, void** extra) {
  ENTER;
  const Function* f = function_of(context, handle);
  if (!f) return CUDA_ERROR_INVALID_HANDLE;
  if (extra || (!params && f->plain->params)) return CUDA_ERROR_INVALID_VALUE;
  return queue_launch(context, *f, {gx, gy, gz}, {bx, by, bz}, shared, s, params);
}
