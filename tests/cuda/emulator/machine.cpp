// Threads of a block as fibers on one thread of the host. A fiber runs until it has to wait for others; then the next
// one runs. Made with ucontext, switched with setjmp, which asks nothing of the kernel.
//
// A fault on the way (an address that is not there, a division by 0) comes as a signal and ends the launch.
#include "machine.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

using emulator::Kernel;
using emulator::Module;
using emulator::u64;

namespace {

constexpr size_t STACK = 256 << 10;  // a GPU's local memory; touched pages only cost anything
constexpr size_t PAGE = 4096;
constexpr unsigned MAX_SHARED = 227 << 10;

enum class Wait { nothing, block, shuffle, vote, ended };

struct Thread {
  jmp_buf at;
  ucontext_t start;
  char* stack = nullptr;
  bool begun = false;
  Wait wait = Wait::ended;
  unsigned mask = 0, lane = 0;  // of a warp operation: who takes part, whom it asks
  u64 value = 0, result = 0;
};

struct Machine {
  std::vector<Thread> threads{1024};
  char* shared = nullptr;  // where dynamic shared memory ends
  jmp_buf scheduler;
  sigjmp_buf faulted;
  Outcome outcome{0, ""};
  // the block that runs
  const Module* module = nullptr;
  const Kernel* kernel = nullptr;
  void** params = nullptr;
  unsigned size = 0, live = 0, arrived = 0, sum = 0, current = 0;

  void begin(Thread& t);
  void resume(unsigned index);
  void suspend();
  void end();
  bool releaseBlock();
  bool releaseWarp(unsigned warp, unsigned mask, Wait kind);
  void runBlock(bool backwards);
  u64 warpOperation(Wait kind, unsigned mask, u64 value, unsigned lane);
  [[noreturn]] void fault(int status, const std::string& why);
  std::string place(unsigned thread) const;
};

thread_local Machine* own = nullptr;

void fiber() {
  for (;;) {
    own->kernel->call(own->params);
    own->end();
  }
}

void Machine::begin(Thread& t) {
  if (!t.stack) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    t.stack = (char*)mmap(nullptr, STACK, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (t.stack == MAP_FAILED) fault(2, "no memory for the stacks of threads");
    mprotect(t.stack, PAGE, PROT_NONE);
  }
  t.begun = true;
  getcontext(&t.start);
  t.start.uc_stack.ss_sp = t.stack;
  t.start.uc_stack.ss_size = STACK;
  t.start.uc_link = nullptr;
  makecontext(&t.start, fiber, 0);
  setcontext(&t.start);
}

__attribute__((noinline)) void Machine::resume(unsigned index) {
  current = index;
  const unsigned *n = module->blockDim, x = index % n[0], rest = index / n[0];
  module->threadIdx[0] = x;
  module->threadIdx[1] = rest % n[1];
  module->threadIdx[2] = rest / n[1];
  if (_setjmp(scheduler)) return;
  if (threads[index].begun) _longjmp(threads[index].at, 1);
  begin(threads[index]);
}

__attribute__((noinline)) void Machine::suspend() {
  if (_setjmp(threads[current].at) == 0) _longjmp(scheduler, 1);
}

/** A thread returned: those who waited for it need not any more. */
void Machine::end() {
  threads[current].wait = Wait::ended;
  live--;
  const unsigned warp = current / 32, last = std::min(size, 32 * warp + 32);
  for (unsigned i = 32 * warp; i < last; i++) {
    const Thread& t = threads[i];
    if (t.wait == Wait::shuffle || t.wait == Wait::vote) releaseWarp(warp, t.mask, t.wait);
  }
  releaseBlock();
  suspend();
}

bool Machine::releaseBlock() {
  if (arrived == 0 || arrived < live) return false;
  for (unsigned i = 0; i < size; i++)
    if (threads[i].wait == Wait::block) {
      threads[i].wait = Wait::nothing;
      threads[i].result = sum;
    }
  arrived = sum = 0;
  return true;
}

/** Lets the threads of the mask go on if all that still run have come to the same operation. */
bool Machine::releaseWarp(unsigned warp, unsigned mask, Wait kind) {
  Thread* const of = &threads[32 * warp];
  const unsigned lanes = std::min(32u, size - 32 * warp);
  unsigned votes = 0, present = 0;
  for (unsigned i = 0; i < lanes; i++) {
    if (!(mask >> i & 1) || of[i].wait == Wait::ended) continue;
    if (of[i].wait != kind || of[i].mask != mask) return false;
    present |= 1u << i;
    if (of[i].value) votes |= 1u << i;
  }
  for (unsigned i = 0; i < lanes; i++) {
    if (!(present >> i & 1)) continue;
    of[i].wait = Wait::nothing;
    // undefined when the other one does not take part: NaN and huge numbers are hard to overlook
    of[i].result = kind == Wait::vote ? votes : present >> of[i].lane & 1 ? of[of[i].lane].value : ~0ull;
  }
  return true;
}

u64 Machine::warpOperation(Wait kind, unsigned mask, u64 value, unsigned lane) {
  Thread& t = threads[current];
  if (!(mask >> current % 32 & 1)) fault(719, "a warp operation whose mask leaves out the thread itself");
  t.wait = kind;
  t.mask = mask;
  t.value = value;
  t.lane = lane;
  if (!releaseWarp(current / 32, mask, kind)) suspend();
  return t.result;
}

void Machine::runBlock(bool backwards) {
  live = size;
  arrived = sum = 0;
  for (unsigned i = 0; i < size; i++) threads[i].wait = Wait::nothing;
  while (live > 0) {
    bool moved = false;
    for (unsigned i = 0; i < size; i++) {
      const unsigned index = backwards ? size - 1 - i : i;
      if (threads[index].wait != Wait::nothing) continue;
      moved = true;
      resume(index);
    }
    if (moved) continue;
    unsigned atBlock = 0, atWarp = 0, example = 0;
    for (unsigned i = 0; i < size; i++) {
      if (threads[i].wait == Wait::block) atBlock++;
      if (threads[i].wait == Wait::shuffle || threads[i].wait == Wait::vote) atWarp++, example = i;
    }
    std::string why = "deadlock: " + std::to_string(atBlock) + " threads wait at __syncthreads, " +
                      std::to_string(atWarp) + " at operations of their warps";
    if (atWarp) why += ", such as thread " + std::to_string(example);
    fault(719, why);
  }
}

std::string Machine::place(unsigned thread) const {
  const unsigned* b = module->blockIdx;
  return std::string(" (") + kernel->name + ", block " + std::to_string(b[0]) +
         (b[1] || b[2] ? "," + std::to_string(b[1]) + "," + std::to_string(b[2]) : "") + ", thread " +
         std::to_string(thread) + ")";
}

void Machine::fault(int status, const std::string& why) {
  outcome = {status, why + place(current)};
  siglongjmp(faulted, 1);
}

const emulator::Services services = {
    [](unsigned value) -> unsigned {
      Machine& m = *own;
      Thread& t = m.threads[m.current];
      t.wait = Wait::block;
      m.arrived++;
      m.sum += value;
      if (!m.releaseBlock()) m.suspend();
      return t.result;
    },
    [](unsigned mask, u64 value, unsigned lane) { return own->warpOperation(Wait::shuffle, mask, value, lane); },
    [](unsigned mask, bool yes) { return (unsigned)own->warpOperation(Wait::vote, mask, yes, 0); },
    [] { own->suspend(); },
    [](int status, const char* why) { own->fault(status, why); },
    [] {
      timespec t;
      clock_gettime(CLOCK_MONOTONIC, &t);
      return (u64)t.tv_sec * 1000000000 + t.tv_nsec;
    },
};

struct sigaction before[NSIG];

/** Faults of kernels end the launch; all others are for those who were here before, V8 among them. */
void onSignal(int number, siginfo_t* info, void* context) {
  if (own && own->kernel) {
    const bool address = number == SIGSEGV || number == SIGBUS;
    char text[64];
    snprintf(text, sizeof text, "illegal access to %p", info->si_addr);
    own->fault(address ? 700 : number == SIGILL ? 715 : 719,
               address ? text : number == SIGILL ? "illegal instruction" : "integer division by 0");
  }
  const struct sigaction& old = before[number];
  if (old.sa_flags & SA_SIGINFO) old.sa_sigaction(number, info, context);
  else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) old.sa_handler(number);
  else signal(number, SIG_DFL);
}

}  // namespace

void prepareMachine() {
  static const bool once = [] {
    struct sigaction action = {};
    action.sa_sigaction = onSignal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(number, &action, &before[number]);
    return true;
  }();
  (void)once;
  own = new Machine;
  // dynamic shared memory ends where nothing is any more
  constexpr size_t room = (MAX_SHARED + PAGE) / PAGE * PAGE;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  own->shared = room + (char*)mmap(nullptr, room + PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
  mprotect(own->shared, PAGE, PROT_NONE);
  stack_t alternate = {};
  alternate.ss_size = 64 << 10;
  alternate.ss_sp = new char[alternate.ss_size];
  sigaltstack(&alternate, nullptr);
}

Outcome runKernel(const Module& module, const Kernel& kernel, Size grid, Size block, unsigned shared, void** params,
                  bool backwards) {
  Machine& m = *own;
  m.outcome = {0, ""};
  m.module = &module;
  m.params = params;
  m.size = block.count();
  *module.services = &services;
  *module.dynamicShared = m.shared - (shared + 15) / 16 * 16;
  for (int i = 0; i < 3; i++) {
    module.gridDim[i] = (&grid.x)[i];
    module.blockDim[i] = (&block.x)[i];
  }
  m.kernel = &kernel;
  if (sigsetjmp(m.faulted, 1) == 0) {
    const u64 blocks = grid.count();
    for (u64 i = 0; i < blocks; i++) {
      const u64 b = backwards ? blocks - 1 - i : i;
      module.blockIdx[0] = b % grid.x;
      module.blockIdx[1] = b / grid.x % grid.y;
      module.blockIdx[2] = b / grid.x / grid.y;
      // shared memory starts with anything in it
      memset(*module.dynamicShared, 0xff, shared);
      if (module.sharedBegin) memset(module.sharedBegin, 0xff, module.sharedEnd - module.sharedBegin);
      m.runBlock(backwards);
    }
  } else {
    for (Thread& t : m.threads) t.begun = false;  // what they were at is lost
  }
  m.kernel = nullptr;
  return m.outcome;
}
