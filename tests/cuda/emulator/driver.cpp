// libcuda for machines without a GPU: the calls of NVIDIA's driver that the CUDA device makes, with their errors.
//
// A device has one queue for all its streams, and a thread that takes work in its order. So a launch returns at once,
// and what does not wait for it sees that it is not done.
//
// After a fault every call on the context gives its error. Resetting the context does not help: it can be reset, but
// not be retained again in this process. So it is on an H200 with driver 580.159, where contexts made with cuCtxCreate
// fare no better, and a new process does.
//
// Environment variables, read when they matter, so that a test can change them:
//   QUADRILLE_EMULATOR_DEVICES    how many devices there are; 2
//   QUADRILLE_EMULATOR_MEMORY     bytes of each; 1 GiB
//   QUADRILLE_EMULATOR_BACKWARDS  1: threads and blocks take turns from last to first
//   QUADRILLE_EMULATOR_FAULT      kernel=status: its launches end with that error, as regions=719
//   QUADRILLE_EMULATOR_LINK       status: linking ends with that error
//   QUADRILLE_EMULATOR_SLOW       kernel=milliseconds: its launches take so much longer
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "machine.h"

#define API extern "C" __attribute__((visibility("default"))) int

namespace {

using emulator::MAGIC;
using emulator::u64;

enum {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  INVALID_PTX = 218,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  CONTEXT_IS_DESTROYED = 709,
  LAUNCH_FAILED = 719,
};

const std::map<int, std::pair<const char*, const char*>> ERRORS = {
    {SUCCESS, {"CUDA_SUCCESS", "no error"}},
    {INVALID_VALUE, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
    {OUT_OF_MEMORY, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
    {NOT_INITIALIZED, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
    {NO_DEVICE, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
    {INVALID_DEVICE, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
    {INVALID_IMAGE, {"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}},
    {INVALID_CONTEXT, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
    {INVALID_PTX, {"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}},
    {INVALID_HANDLE, {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
    {NOT_FOUND, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
    {NOT_READY, {"CUDA_ERROR_NOT_READY", "device not ready"}},
    {ILLEGAL_ADDRESS, {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
    {CONTEXT_IS_DESTROYED, {"CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"}},
    {710, {"CUDA_ERROR_ASSERT", "device-side assert triggered"}},
    {715, {"CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"}},
    {LAUNCH_FAILED, {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
};

constexpr unsigned MOST_SHARED = 227 << 10, USUAL_SHARED = 48 << 10, PROCESSORS = 4;
constexpr size_t PAGE = 4096;

struct Context;
struct Loaded;

struct Function {
  Loaded* module;
  const emulator::Kernel* kernel;
  unsigned shared = USUAL_SHARED;  // dynamic shared memory it may have
};

struct Loaded {
  Context* context;
  void* library;
  emulator::Module* module;
  unsigned staticShared;
  std::map<std::string, Function*> functions;
};

/** What is linked to a module. */
struct Link {
  std::vector<std::string> objects;
  std::string image;
  char* log;  // where the caller wants to read what went wrong
  size_t logBytes;
};

struct Stream {
  bool apart;    // from the default stream: CU_STREAM_NON_BLOCKING
  u64 last = 0;  // its latest work
};

struct Event {
  u64 recorded = 0;
  double milliseconds = 0;
};

/** A device and its primary context, the only one it has. */
struct Context {
  int device = 0;
  int retained = 0;
  bool active = false;
  u64 used = 0;
  std::set<Loaded*> modules;
  // the queue
  std::thread* worker = nullptr;
  std::deque<std::function<Outcome()>> queue;
  bool busy = false;
  u64 issued = 0, done = 0;
  u64 last = 0;  // of the work that the default stream waits for
  int error = SUCCESS;
};

struct Allocation {
  Context* context;
  size_t bytes;
  char* mapping;
  size_t mapped;
  bool onHost;
};

// Never destroyed: threads still run when a process ends.
struct World {
  std::mutex mutex;
  std::condition_variable changed;
  bool initialised = false;
  Context contexts[16];
  std::map<u64, Allocation> memory;
  std::set<void*> handles;  // of functions, modules, streams, events: those that are valid
  std::string lastFault;
};
World& world = *new World;
thread_local Context* current = nullptr;

using Lock = std::unique_lock<std::mutex>;

u64 setting(const char* name, u64 otherwise) {
  const char* text = getenv(name);
  return text && *text ? strtoull(text, nullptr, 10) : otherwise;
}
int deviceCount() { return (int)std::min<u64>(16, setting("QUADRILLE_EMULATOR_DEVICES", 2)); }
u64 memoryOfDevice() { return setting("QUADRILLE_EMULATOR_MEMORY", 1ull << 30); }

/** The number behind `kernel=` in a variable; 0 when it names another. */
int settingFor(const char* name, const std::string& kernel) {
  const std::string text = getenv(name) ?: "";
  return text.rfind(kernel + "=", 0) == 0 ? atoi(text.c_str() + kernel.size() + 1) : 0;
}

void work(Context* c) {
  prepareMachine();
  Lock lock(world.mutex);
  for (;;) {
    world.changed.wait(lock, [&] { return !c->queue.empty(); });
    auto next = std::move(c->queue.front());
    c->queue.pop_front();
    c->busy = true;
    lock.unlock();
    const Outcome outcome = next();
    lock.lock();
    c->busy = false;
    c->done++;
    if (outcome.status) {
      c->error = outcome.status;
      world.lastFault = outcome.why;
      c->queue.clear();
    }
    if (c->queue.empty()) c->done = c->issued;
    world.changed.notify_all();
  }
}

/** Queues work; gives its number. */
u64 enqueue(Context* c, Stream* stream, std::function<Outcome()> run) {
  if (!c->worker) c->worker = new std::thread(work, c);
  c->queue.push_back(std::move(run));
  c->issued++;
  if (stream) stream->last = c->issued;
  if (!stream || !stream->apart) c->last = c->issued;
  world.changed.notify_all();
  return c->issued;
}

void await(Lock& lock, Context* c, u64 number) {
  world.changed.wait(lock, [&] { return c->done >= number; });
}

/** What a call on the current context has to give back before it does anything. */
int standing() {
  if (!world.initialised) return NOT_INITIALIZED;
  if (!current) return INVALID_CONTEXT;
  if (!current->active) return CONTEXT_IS_DESTROYED;
  return current->error;
}
#define ENTER                  \
  Lock lock(world.mutex);      \
  if (const int status = standing()) return status

/** The allocation that holds a range, or null. */
Allocation* holding(u64 address, size_t bytes) {
  auto it = world.memory.upper_bound(address);
  if (it == world.memory.begin()) return nullptr;
  --it;
  const u64 begin = it->first, end = begin + it->second.bytes;
  return address >= begin && address <= end && bytes <= end - address ? &it->second : nullptr;
}
bool pinned(const void* p) {
  const Allocation* a = holding((u64)p, 1);
  return a && a->onHost;
}

/** Memory that ends where nothing is any more, filled with NaN. */
void* take(Context* c, size_t bytes, bool onHost) {
  const size_t own = (bytes + 15) / 16 * 16, mapped = (own + PAGE - 1) / PAGE * PAGE + PAGE;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  char* mapping = (char*)mmap(nullptr, mapped, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  mprotect(mapping + mapped - PAGE, PAGE, PROT_NONE);
  char* p = mapping + mapped - PAGE - own;
  memset(p, 0xff, std::min<size_t>(own, 16 << 20));
  world.memory[(u64)p] = {c, bytes, mapping, mapped, onHost};
  if (!onHost) c->used += bytes;
  return p;
}
void give(std::map<u64, Allocation>::iterator it) {
  const Allocation& a = it->second;
  if (!a.onHost) a.context->used -= a.bytes;
  munmap(a.mapping, a.mapped);
  world.memory.erase(it);
}

template <class T>
T* valid(u64 handle) {
  return world.handles.count((void*)handle) ? (T*)handle : nullptr;
}
template <class T>
u64 handleOf(T* object) {
  world.handles.insert(object);
  return (u64)object;
}

void unload(Loaded* m) {
  for (auto& [name, f] : m->functions) world.handles.erase(f);
  world.handles.erase(m);
  m->context->modules.erase(m);
  dlclose(m->library);
}

/** Ends a context with all that is in it. What runs is waited for. */
void destroy(Lock& lock, Context* c) {
  c->active = false;
  c->queue.clear();
  if (!c->busy) c->done = c->issued;
  await(lock, c, c->issued);
  while (!c->modules.empty()) unload(*c->modules.begin());
  for (auto it = world.memory.begin(); it != world.memory.end();) {
    auto next = std::next(it);
    if (it->second.context == c) give(it);
    it = next;
  }
}

Context* contextOf(int device) {
  return world.initialised && device >= 0 && device < deviceCount() ? &world.contexts[device] : nullptr;
}

}  // namespace

// Devices and contexts

API cuInit(unsigned flags) {
  Lock lock(world.mutex);
  if (flags) return INVALID_VALUE;
  if (deviceCount() == 0) return NO_DEVICE;
  for (int i = 0; i < 16; i++) world.contexts[i].device = i;
  world.initialised = true;
  return SUCCESS;
}

API cuDriverGetVersion(int* version) {
  *version = 13000;
  return SUCCESS;
}

API cuDeviceGetCount(int* count) {
  if (!world.initialised) return NOT_INITIALIZED;
  *count = deviceCount();
  return SUCCESS;
}

API cuDeviceGet(int* device, int ordinal) {
  if (!world.initialised) return NOT_INITIALIZED;
  if (ordinal < 0 || ordinal >= deviceCount()) return INVALID_DEVICE;
  *device = ordinal;
  return SUCCESS;
}

API cuDeviceGetName(char* name, int length, int device) {
  if (!contextOf(device)) return INVALID_DEVICE;
  snprintf(name, length, "Emulated GPU %d", device);
  return SUCCESS;
}

API cuDeviceTotalMem_v2(u64* bytes, int device) {
  if (!contextOf(device)) return INVALID_DEVICE;
  *bytes = memoryOfDevice();
  return SUCCESS;
}

API cuDeviceGetAttribute(int* value, int attribute, int device) {
  if (!contextOf(device)) return INVALID_DEVICE;
  static const std::map<int, int> known = {
      {1, 1024},          // threads of a block
      {2, 1024},          // block, along x, y, z
      {3, 1024},
      {4, 64},
      {5, 2147483647},    // grid, along x, y, z
      {6, 65535},
      {7, 65535},
      {8, USUAL_SHARED},  // shared memory of a block
      {10, 32},           // threads of a warp
      {12, 65536},        // registers of a block
      {13, 1000000},      // kHz
      {16, PROCESSORS},
      {19, 1},            // maps host memory
      {31, 1},            // concurrent kernels
      {39, 2048},         // threads of a multiprocessor
      {41, 1},            // unified addresses
      {75, 9},
      {76, 0},
      {81, 228 << 10},    // shared memory of a multiprocessor
      {82, 65536},        // registers of a multiprocessor
      {97, MOST_SHARED},
      {106, 32},          // blocks of a multiprocessor
      {111, 1024},        // shared memory of a block that the driver keeps
  };
  const auto it = known.find(attribute);
  if (it == known.end()) return INVALID_VALUE;
  *value = it->second;
  return SUCCESS;
}

API cuDevicePrimaryCtxRetain(u64* context, int device) {
  Lock lock(world.mutex);
  Context* c = contextOf(device);
  if (!c) return INVALID_DEVICE;
  if (c->error) return c->error;
  c->retained++;
  c->active = true;
  *context = (u64)c;
  return SUCCESS;
}

API cuDevicePrimaryCtxRelease_v2(int device) {
  Lock lock(world.mutex);
  Context* c = contextOf(device);
  if (!c) return INVALID_DEVICE;
  if (c->retained == 0) return INVALID_CONTEXT;
  if (--c->retained == 0) destroy(lock, c);
  return SUCCESS;
}

API cuDevicePrimaryCtxReset_v2(int device) {
  Lock lock(world.mutex);
  Context* c = contextOf(device);
  if (!c) return INVALID_DEVICE;
  destroy(lock, c);
  return SUCCESS;
}

API cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  Lock lock(world.mutex);
  Context* c = contextOf(device);
  if (!c) return INVALID_DEVICE;
  *flags = 0;
  *active = c->active;
  return SUCCESS;
}

API cuCtxSetCurrent(u64 context) {
  if (!world.initialised) return NOT_INITIALIZED;
  for (Context& c : world.contexts)
    if ((u64)&c == context) {
      current = &c;
      return SUCCESS;
    }
  if (context) return INVALID_CONTEXT;
  current = nullptr;
  return SUCCESS;
}

API cuCtxGetCurrent(u64* context) {
  if (!world.initialised) return NOT_INITIALIZED;
  *context = (u64)current;
  return SUCCESS;
}

API cuCtxSynchronize() {
  ENTER;
  await(lock, current, current->issued);
  return standing();
}

// Modules

API cuModuleLoadData(u64* module, const void* image) {
  ENTER;
  await(lock, current, current->issued);  // as measured
  if (!image || memcmp(image, MAGIC, sizeof MAGIC) != 0) return INVALID_IMAGE;
  u64 length;
  memcpy(&length, (const char*)image + sizeof MAGIC, 8);
  // a file of its own: a library that is loaded twice is there once
  char path[] = "/tmp/quadrille-emulated-XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) return OUT_OF_MEMORY;
  const bool whole = write(file, (const char*)image + sizeof MAGIC + 8, length) == (ssize_t)length;
  close(file);
  void* library = whole ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library) world.lastFault = whole ? dlerror() : "could not write the module";
  unlink(path);
  if (!library) return INVALID_IMAGE;
  auto* own = (emulator::Module*)dlsym(library, "emulatorModule");
  const unsigned staticShared = own->sharedBegin ? own->sharedEnd - own->sharedBegin : 0;
  auto* loaded = new Loaded{current, library, own, staticShared, {}};
  for (const emulator::Kernel* k = own->kernels; k->name; k++) loaded->functions[k->name] = new Function{loaded, k};
  current->modules.insert(loaded);
  *module = handleOf(loaded);
  return SUCCESS;
}

API cuLinkCreate_v2(unsigned count, const int* options, void** values, u64* link) {
  ENTER;
  auto* own = new Link{{}, "", nullptr, 0};
  for (unsigned i = 0; i < count; i++) {
    if (options[i] == 5) own->log = (char*)values[i];
    if (options[i] == 6) own->logBytes = (size_t)values[i];
  }
  *link = handleOf(own);
  return SUCCESS;
}

API cuLinkAddData_v2(u64 link, int type, const void* data, size_t bytes, const char*, unsigned, const void*, const void*) {
  ENTER;
  Link* l = valid<Link>(link);
  if (!l) return INVALID_HANDLE;
  const size_t head = sizeof emulator::PART_MAGIC + 8;
  if (type != 0 || bytes < head || memcmp(data, emulator::PART_MAGIC, sizeof emulator::PART_MAGIC) != 0)
    return INVALID_IMAGE;
  l->objects.emplace_back((const char*)data + head, bytes - head);
  return SUCCESS;
}

API cuLinkComplete(u64 link, const void** image, size_t* bytes) {
  ENTER;
  Link* l = valid<Link>(link);
  if (!l) return INVALID_HANDLE;
  if (const int status = (int)setting("QUADRILLE_EMULATOR_LINK", 0)) {
    if (l->log) snprintf(l->log, l->logBytes, "asked for");
    return status;
  }
  char folder[] = "/tmp/quadrille-link-XXXXXX";
  if (!mkdtemp(folder)) return OUT_OF_MEMORY;
  const std::string out = std::string(folder) + "/linked.so";
  std::vector<std::string> files;
  for (const std::string& object : l->objects) {
    files.push_back(std::string(folder) + "/" + std::to_string(files.size()) + ".o");
    std::ofstream(files.back(), std::ios::binary) << object;
  }
  std::string command = "g++ -shared -Wl,-Bsymbolic -Wl,-z,defs -o " + out, log;
  for (const std::string& file : files) command += " " + file;
  FILE* run = popen((command + " 2>&1").c_str(), "r");
  char part[4096];
  for (size_t n; run && (n = fread(part, 1, sizeof part, run)) > 0;) log.append(part, n);
  const bool linked = run && pclose(run) == 0;
  if (linked) {
    std::stringstream library;
    library << std::ifstream(out, std::ios::binary).rdbuf();
    const u64 length = library.str().size();
    l->image = std::string(MAGIC, sizeof MAGIC) + std::string((const char*)&length, 8) + library.str();
  } else if (l->log)
    snprintf(l->log, l->logBytes, "%s", log.c_str());
  for (const std::string& file : files) unlink(file.c_str());
  unlink(out.c_str());
  rmdir(folder);
  *image = l->image.data();
  *bytes = l->image.size();
  return linked ? SUCCESS : INVALID_PTX;
}

API cuLinkDestroy(u64 link) {
  ENTER;
  Link* l = valid<Link>(link);
  if (!l) return INVALID_HANDLE;
  world.handles.erase(l);
  delete l;
  return SUCCESS;
}

API cuModuleUnload(u64 module) {
  ENTER;
  Loaded* m = valid<Loaded>(module);
  if (!m) return INVALID_HANDLE;
  await(lock, m->context, m->context->issued);
  unload(m);
  return SUCCESS;
}

API cuModuleGetFunction(u64* function, u64 module, const char* name) {
  ENTER;
  Loaded* m = valid<Loaded>(module);
  if (!m) return INVALID_HANDLE;
  const auto it = m->functions.find(name);
  if (it == m->functions.end()) return NOT_FOUND;
  *function = handleOf(it->second);
  return SUCCESS;
}

API cuFuncGetAttribute(int* value, int attribute, u64 function) {
  ENTER;
  Function* f = valid<Function>(function);
  if (!f) return INVALID_HANDLE;
  if (attribute != 0) return INVALID_VALUE;
  *value = f->kernel->threads ? f->kernel->threads : 1024;
  return SUCCESS;
}

API cuFuncSetAttribute(u64 function, int attribute, int value) {
  ENTER;
  Function* f = valid<Function>(function);
  if (!f) return INVALID_HANDLE;
  if (attribute != 8) return SUCCESS;
  if (value < 0 || value + f->module->staticShared > MOST_SHARED) return INVALID_VALUE;
  f->shared = value;
  return SUCCESS;
}

API cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, u64 function, int threads, size_t shared) {
  ENTER;
  Function* f = valid<Function>(function);
  if (!f) return INVALID_HANDLE;
  if (threads <= 0) return INVALID_VALUE;
  const size_t each = shared + f->module->staticShared + 1024;
  const int most = f->kernel->threads ? f->kernel->threads : 1024;
  const bool fits = threads <= most && shared <= f->shared;
  *blocks = fits ? std::min<size_t>({(size_t)2048 / threads, (228u << 10) / each, 32}) : 0;
  return SUCCESS;
}

API cuLaunchKernel(u64 function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, u64 stream, void** params, void**) {
  ENTER;
  Function* f = valid<Function>(function);
  Stream* s = valid<Stream>(stream);
  if (!f || (stream && !s)) return INVALID_HANDLE;
  if (f->module->context != current) return INVALID_CONTEXT;
  const Size grid{gx, gy, gz}, block{bx, by, bz};
  const unsigned most = f->kernel->threads ? f->kernel->threads : 1024;
  if (grid.count() == 0 || gx > 2147483647 || gy > 65535 || gz > 65535) return INVALID_VALUE;
  if (block.count() == 0 || block.count() > most || bx > 1024 || by > 1024 || bz > 64) return INVALID_VALUE;
  if (shared > f->shared || shared + f->module->staticShared > MOST_SHARED) return INVALID_VALUE;
  // params are the caller's again as soon as this returns
  std::vector<std::vector<char>> copies;
  for (const unsigned* size = f->kernel->sizes; *size; size++, params++)
    copies.emplace_back((char*)*params, (char*)*params + *size);
  const int fault = settingFor("QUADRILLE_EMULATOR_FAULT", f->kernel->name);
  const int slow = settingFor("QUADRILLE_EMULATOR_SLOW", f->kernel->name);
  const bool backwards = setting("QUADRILLE_EMULATOR_BACKWARDS", 0);
  enqueue(current, s, [=]() mutable -> Outcome {
    if (slow) usleep(1000 * slow);
    if (fault) return {fault, std::string("asked for (") + f->kernel->name + ")"};
    std::vector<void*> pointers;
    for (auto& c : copies) pointers.push_back(c.data());
    return runKernel(*f->module->module, *f->kernel, grid, block, shared, pointers.data(), backwards);
  });
  return SUCCESS;
}

// Memory

API cuMemGetInfo_v2(u64* free, u64* total) {
  ENTER;
  *total = memoryOfDevice();
  *free = *total > current->used ? *total - current->used : 0;
  return SUCCESS;
}

API cuMemAlloc_v2(u64* address, size_t bytes) {
  ENTER;
  if (bytes == 0) return INVALID_VALUE;
  const u64 total = memoryOfDevice();
  if (bytes > total || current->used > total - bytes) return OUT_OF_MEMORY;
  *address = (u64)take(current, bytes, false);
  return *address ? SUCCESS : OUT_OF_MEMORY;
}

API cuMemFree_v2(u64 address) {
  ENTER;
  if (!address) return SUCCESS;
  const auto it = world.memory.find(address);
  if (it == world.memory.end() || it->second.onHost) return INVALID_VALUE;
  Context* c = it->second.context;
  await(lock, c, c->issued);
  give(world.memory.find(address));
  return standing();
}

API cuMemHostAlloc(void** p, size_t bytes, unsigned) {
  ENTER;
  if (bytes == 0) return INVALID_VALUE;
  *p = take(current, bytes, true);
  return *p ? SUCCESS : OUT_OF_MEMORY;
}

API cuMemHostGetDevicePointer_v2(u64* address, void* p, unsigned flags) {
  ENTER;
  if (flags || !pinned(p)) return INVALID_VALUE;
  *address = (u64)p;
  return SUCCESS;
}
API cuMemHostGetDevicePointer(u64* address, void* p, unsigned flags) {
  return cuMemHostGetDevicePointer_v2(address, p, flags);
}

API cuMemFreeHost(void* p) {
  ENTER;
  const auto it = world.memory.find((u64)p);
  if (it == world.memory.end() || !it->second.onHost) return INVALID_VALUE;
  Context* c = it->second.context;
  await(lock, c, c->issued);
  give(world.memory.find((u64)p));
  return standing();
}

namespace {

enum Direction { toDevice, toHost, withinDevice };

/**
 * A copy in its turn. `wait`: the call returns when it is done. Copies between the device and host memory that is not
 * pinned always wait: NVIDIA's driver stages them.
 */
int copy(void* to, const void* from, size_t bytes, Direction direction, u64 stream, bool wait) {
  ENTER;
  Stream* s = valid<Stream>(stream);
  if (stream && !s) return INVALID_HANDLE;
  if (bytes == 0) return SUCCESS;
  if (direction != toDevice && !holding((u64)from, bytes)) return INVALID_VALUE;
  if (direction != toHost && !holding((u64)to, bytes)) return INVALID_VALUE;
  const void* host = direction == toDevice ? from : to;
  if (direction != withinDevice && !pinned(host)) wait = true;
  const u64 number = enqueue(current, s, [=]() -> Outcome {
    memmove(to, from, bytes);
    return {0, ""};
  });
  if (!wait) return SUCCESS;
  await(lock, current, number);
  return standing();
}

int fill(u64 address, unsigned char value, size_t bytes, u64 stream) {
  ENTER;
  Stream* s = valid<Stream>(stream);
  if (stream && !s) return INVALID_HANDLE;
  if (bytes == 0) return SUCCESS;
  if (!holding(address, bytes)) return INVALID_VALUE;
  enqueue(current, s, [=]() -> Outcome {
    memset((void*)address, value, bytes);
    return {0, ""};
  });
  return SUCCESS;
}

}  // namespace

API cuMemcpyHtoD_v2(u64 to, const void* from, size_t n) { return copy((void*)to, from, n, toDevice, 0, true); }
API cuMemcpyDtoH_v2(void* to, u64 from, size_t n) { return copy(to, (void*)from, n, toHost, 0, true); }
API cuMemcpyDtoD_v2(u64 to, u64 from, size_t n) { return copy((void*)to, (void*)from, n, withinDevice, 0, false); }
API cuMemcpyHtoDAsync_v2(u64 to, const void* from, size_t n, u64 stream) {
  return copy((void*)to, from, n, toDevice, stream, false);
}
API cuMemcpyDtoHAsync_v2(void* to, u64 from, size_t n, u64 stream) {
  return copy(to, (void*)from, n, toHost, stream, false);
}
API cuMemcpyDtoDAsync_v2(u64 to, u64 from, size_t n, u64 stream) {
  return copy((void*)to, (void*)from, n, withinDevice, stream, false);
}
API cuMemsetD8_v2(u64 address, unsigned char value, size_t n) { return fill(address, value, n, 0); }
API cuMemsetD8Async(u64 address, unsigned char value, size_t n, u64 stream) {
  return fill(address, value, n, stream);
}

// Streams and events

API cuStreamCreate(u64* stream, unsigned flags) {
  ENTER;
  *stream = handleOf(new Stream{(flags & 1) != 0});
  return SUCCESS;
}

API cuStreamDestroy_v2(u64 stream) {
  ENTER;
  return world.handles.erase((void*)stream) ? SUCCESS : INVALID_HANDLE;
}

API cuStreamQuery(u64 stream) {
  ENTER;
  Stream* s = valid<Stream>(stream);
  if (stream && !s) return INVALID_HANDLE;
  return current->done >= (s ? s->last : current->last) ? SUCCESS : NOT_READY;
}

API cuStreamSynchronize(u64 stream) {
  ENTER;
  Stream* s = valid<Stream>(stream);
  if (stream && !s) return INVALID_HANDLE;
  await(lock, current, s ? s->last : current->last);
  return standing();
}

/** Streams take turns anyway. */
API cuStreamWaitEvent(u64, u64 event, unsigned) {
  ENTER;
  return valid<Event>(event) ? SUCCESS : INVALID_HANDLE;
}

API cuEventCreate(u64* event, unsigned) {
  ENTER;
  *event = handleOf(new Event);
  return SUCCESS;
}

API cuEventDestroy_v2(u64 event) {
  ENTER;
  return world.handles.erase((void*)event) ? SUCCESS : INVALID_HANDLE;
}

API cuEventRecord(u64 event, u64 stream) {
  ENTER;
  Event* e = valid<Event>(event);
  Stream* s = valid<Stream>(stream);
  if (!e || (stream && !s)) return INVALID_HANDLE;
  e->recorded = enqueue(current, s, [=]() -> Outcome {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    e->milliseconds = 1e3 * t.tv_sec + 1e-6 * t.tv_nsec;
    return {0, ""};
  });
  return SUCCESS;
}

API cuEventQuery(u64 event) {
  ENTER;
  Event* e = valid<Event>(event);
  if (!e) return INVALID_HANDLE;
  return current->done >= e->recorded ? SUCCESS : NOT_READY;
}

API cuEventSynchronize(u64 event) {
  ENTER;
  Event* e = valid<Event>(event);
  if (!e) return INVALID_HANDLE;
  await(lock, current, e->recorded);
  return standing();
}

API cuEventElapsedTime(float* milliseconds, u64 from, u64 to) {
  ENTER;
  Event *a = valid<Event>(from), *b = valid<Event>(to);
  if (!a || !b || !a->recorded || !b->recorded) return INVALID_HANDLE;
  if (current->done < b->recorded || current->done < a->recorded) return NOT_READY;
  *milliseconds = b->milliseconds - a->milliseconds;
  return SUCCESS;
}

// Errors

API cuGetErrorName(int error, const char** name) {
  const auto it = ERRORS.find(error);
  *name = it == ERRORS.end() ? nullptr : it->second.first;
  return *name ? SUCCESS : INVALID_VALUE;
}

/** As NVIDIA's, and for faults what the emulator knows of them. */
API cuGetErrorString(int error, const char** text) {
  static std::string last;
  const auto it = ERRORS.find(error);
  *text = it == ERRORS.end() ? nullptr : it->second.second;
  if (*text && (error >= ILLEGAL_ADDRESS || error == INVALID_IMAGE) && !world.lastFault.empty()) {
    last = std::string(*text) + "; emulator: " + world.lastFault;
    *text = last.c_str();
  }
  return *text ? SUCCESS : INVALID_VALUE;
}
