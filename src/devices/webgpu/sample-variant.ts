/** Which kernel samples a task (kernels/sample.ts). Kernels of their own pay for large tasks: one that only measures, one with counters in workgroup memory. */
import { isWide, MANY_THREADS, MOST_WRITTEN_OUT, type SampleVariant, THREADS } from './kernels/sample.ts';
import type { WebGpuProgram } from './program.ts';
import { isLarge, type MappedTask, originOf } from './sample-task.ts';

/** Bytes of workgroup memory that the kernel needs beside the histogram. */
const OWN_SHARED = 256;

/**
 * The narrowest bin beside the largest edge of its axis, at least, for a map that is held. Edges are float32 then, and the width of a bin is the
 * difference of two: each keeps 11 of 24 bits at least. Such a map is a map as good as any; it is a little other than the one of float64.
 */
const NARROWEST_HELD = 2 ** -13;

export function variantFor(task: MappedTask, { gpu, results }: WebGpuProgram): SampleVariant {
  const { strata, bins, adapt, lattice } = task;
  const dims = strata.length;
  const large = isLarge(task);
  const { limits } = gpu.device;
  const room = (limits.maxComputeWorkgroupStorageSize - OWN_SHARED) / 4;
  const wide = isWide(strata, bins);
  const edges = dims * (bins + 1);
  const holds = large && !adapt && !lattice && !wide && edges <= room && hasWideBins(task);
  const most = Math.min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX);
  return {
    dims,
    results,
    adapt: !lattice && (!large || !!adapt),
    shared: large && adapt ? Math.min(Math.floor(room), dims * bins) : 0,
    threads: large && most >= MANY_THREADS ? MANY_THREADS : THREADS,
    wide,
    lattice: !!lattice,
    held: holds ? edges : 0,
    writtenOut: large && dims <= MOST_WRITTEN_OUT,
    sliced: !large,
  };
}

function hasWideBins({ edges, bins, strata }: MappedTask): boolean {
  return strata.every((_, d) => {
    const origin = originOf(edges, bins, d);
    const first = d * (bins + 1);
    let narrowest = Infinity;
    for (let i = first; i < first + bins; i++) narrowest = Math.min(narrowest, edges[i + 1] - edges[i]);
    const largest = Math.max(Math.abs(edges[first] - origin), Math.abs(edges[first + bins] - origin));
    return narrowest >= NARROWEST_HELD * largest;
  });
}
