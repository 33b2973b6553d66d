/** Which kernel samples a task (kernels/sample.ts). Kernels of their own pay for large tasks: one that only measures, one with counters in workgroup memory. */
import { isWide, MANY_THREADS, MOST_WRITTEN_OUT, type SampleVariant, THREADS } from './kernels/sample.ts';
import type { WebGpuProgram } from './program.ts';
import { isLarge, type MappedTask } from './sample-task.ts';

/** Bytes of workgroup memory that the kernel needs beside the histogram. */
const OWN_SHARED = 256;

export function variantFor(task: MappedTask, { gpu, results }: WebGpuProgram): SampleVariant {
  const { strata, bins, adapt, lattice } = task;
  const dims = strata.length;
  const large = isLarge(task);
  const { limits } = gpu.device;
  const room = (limits.maxComputeWorkgroupStorageSize - OWN_SHARED) / 4;
  const most = Math.min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX);
  return {
    dims,
    results,
    adapt: !lattice && (!large || !!adapt),
    shared: large && adapt ? Math.min(Math.floor(room), dims * bins) : 0,
    threads: large && most >= MANY_THREADS ? MANY_THREADS : THREADS,
    wide: isWide(strata, bins),
    lattice: !!lattice,
    writtenOut: large && dims <= MOST_WRITTEN_OUT,
    sliced: !large,
  };
}
