// Runs kernels, block by block, on the thread that calls it.
#pragma once
#include <string>

#include "module.h"

struct Size {
  unsigned x, y, z;
  unsigned long long count() const { return (unsigned long long)x * y * z; }
};

struct Outcome {
  int status;  // CUDA's; 0 when all went well
  std::string why;
};

/** One launch. `backwards`: blocks and threads take turns from last to first, which must not change a result. */
Outcome runKernel(const emulator::Module& module, const emulator::Kernel& kernel, Size grid, Size block,
                  unsigned shared, void** params, bool backwards);

/** For each thread that runs kernels, once. */
void prepareMachine();
