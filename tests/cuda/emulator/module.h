// What a compiled kernel text and the emulated driver know of each other. Included by both; includes nothing.
#pragma once

namespace emulator {

typedef unsigned long long u64;

/** How an image begins: these 16 bytes, the length in 8, then a shared library. */
constexpr char MAGIC[] = "emulated cubin\n";
/** How a relocatable image begins, which has an object file in the library's place. */
constexpr char PART_MAGIC[] = "emulated part \n";
static_assert(sizeof MAGIC == 16 && sizeof PART_MAGIC == 16);

struct Kernel {
  const char* name;               // null ends a list
  void (*call)(void** params);    // one thread of it
  const unsigned* sizes;          // of its params; 0 ends them
  unsigned threads;               // by its launch bounds; 0: none given
};

/** What a thread asks of the machine that runs it. */
struct Services {
  /** Waits for all threads of the block; the sum of what they brought. */
  unsigned (*meet)(unsigned value);
  /** Waits for the threads of the mask; what thread `lane` of the warp brought. */
  u64 (*shuffle)(unsigned mask, u64 value, unsigned lane);
  /** Waits for the threads of the mask; which of them said yes. */
  unsigned (*vote)(unsigned mask, bool yes);
  /** Lets the other threads of the block go on. */
  void (*pause)();
  void (*fault)(int status, const char* why);
  u64 (*nanoseconds)();
};

/** Every kernel text becomes a library that exports one of these, `emulatorModule`. */
struct Module {
  unsigned *threadIdx, *blockIdx, *blockDim, *gridDim;  // three numbers each
  char** dynamicShared;
  char *sharedBegin, *sharedEnd;  // __shared__ variables
  const Services** services;
  const Kernel* kernels;
};

}  // namespace emulator
