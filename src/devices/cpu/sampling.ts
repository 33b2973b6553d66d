/** Samples on a pool of workers: parts of iterations, cut into chunks for samplers, and their sums put together. */
import { BATCH } from '../../integrand/targets/wasm.ts';
import { ROUNDS, WEYL } from '../../random/philox.ts';
import { countedWords } from '../../tasks/counted.ts';
import { totalOf } from '../../tasks/counts-window.ts';
import { mergeNonFinite, type Part } from '../../tasks/part.ts';
import {
  addLists,
  type CubeSums,
  cubesOf,
  nodeWidth,
  type PartSums,
  type PlainTask,
  plainTask,
  plan,
  resultsOf,
} from '../../tasks/sample.ts';
import { TreeSum } from '../../tasks/tree-sum.ts';
import { chunksOf, MAX_CUBES, MAX_SHIFTS } from './chunks.ts';
import { EngineGroup, type Share } from './engines.ts';
import { kernelModule } from './kernel.ts';
import { CORNER, kernelLayout, STATE } from './layout.ts';
import { type Chunk, type ChunkSums, type Iteration, makeSampler, type SamplerSetup } from './sampler.ts';
import type { Numbers, Values } from './values.ts';
import { kernelOf } from './wasm-modules.ts';
import type { WorkerPool } from './worker-pool.ts';

export { plainTask };

/** A sampler has room for at least this many bins per axis, so that a growing map needs no new sampler. */
const MIN_BINS_ROOM = 1024;

/** Evaluations that a part of a task takes, about. */
export const sizeOf = (task: PlainTask, part: Part): number => part.count * plan(task).size;

/** Samplers for one integrand and the results of one pass. */
export class Sampling {
  readonly engines: EngineGroup<SamplerSetup, Iteration, Chunk, ChunkSums, Float64Array | null>;
  readonly params: () => Promise<Numbers>;
  readonly #bins: number;

  constructor({ bins: needed, pass, lattice }: PlainTask, dims: number, pool: WorkerPool, own: Values) {
    const numbers = pass?.results;
    const bins = Math.max(needed, MIN_BINS_ROOM);
    const values = dims * BATCH * 8;
    const count = numbers?.length ?? 1;
    const end = values + count * BATCH * 8;
    const cubes = lattice ? MAX_SHIFTS : MAX_CUBES;
    const layout = kernelLayout(dims, BATCH, bins, cubes, 0, values, end, count, !!lattice);
    const kind = `${lattice ? 'lattice' : 'sampler'} ${dims} ${bins}${count > 1 ? ` ${count}` : ''}`;
    const module = kernelOf(kind, async () => kernelModule(layout));
    const placed = own.place(layout, BATCH, numbers);
    const setup = Promise.all([module, placed]).then(
      ([kernel, { integrand, initial, end }]): SamplerSetup => ({
        kernel,
        integrand,
        initial,
        layout: { ...layout, end },
        width: nodeWidth(count),
        numbers: numbers ?? null,
        constants: { state: STATE, corner: CORNER, weyl: WEYL, rounds: ROUNDS },
      }),
    );
    this.engines = new EngineGroup(pool, 'sampler', makeSampler, setup, own);
    this.params = async () => (await placed).params();
    this.#bins = bins;
  }

  /** Whether there is room for the bins of a task. */
  serves({ bins }: PlainTask): boolean {
    return bins <= this.#bins;
  }

  /** The sums of a part; `withoutWorkers` is why workers could not do theirs. */
  async sample(
    task: PlainTask,
    part: Part,
    share: Share,
    signal: AbortSignal | undefined,
  ): Promise<{ sums: PartSums; withoutWorkers: unknown }> {
    const chunks = chunksOf(task, part);
    const { results, ends, withoutWorkers } = await this.engines.work(
      iterationOf(task),
      () => chunks.next().value as Chunk | undefined,
      share,
      signal,
    );
    return { sums: partSums(task, part, results, ends), withoutWorkers };
  }
}

/** What all chunks of an iteration share. */
function iterationOf(task: PlainTask): Iteration {
  const { key, iteration, stream, bins, edges, strata, adapt, counts, pass } = task;
  const cubes = cubesOf(task);
  return {
    key,
    iteration,
    stream,
    bins,
    edges,
    strata,
    lattice: task.lattice ?? null,
    // a pass of one result runs in the kernel for one
    unit: pass?.results.length === 1 ? pass.units[0] : task.unit,
    inverseUnits: pass?.units.map(u => 1 / u) ?? [],
    leads: pass?.results.map((_, r) => (pass.leads.includes(r) ? 1 : 0)) ?? [],
    adapt: adapt !== null,
    counted: countedWords(task),
    variances: task.cubes || !!adapt?.variances,
    means: task.cubes ?? false,
    factor: adapt
      ? adapt.scale *
        ((typeof counts === 'number' ? counts * cubes : (counts.window?.total ?? totalOf(counts.each))) /
          cubes)
      : 0,
  };
}

/** The sums of a part from those of its chunks; each group is one chunk. */
function partSums(
  task: PlainTask,
  part: Part,
  chunks: ChunkSums[],
  histograms: (Float64Array | null)[],
): PartSums {
  chunks.sort((a, b) => a.index - b.index);
  const tree = new TreeSum(nodeWidth(resultsOf(task)), plan(task).groups);
  for (const { index, sums } of chunks) tree.add(index, sums);
  const histogram = addLists(histograms);
  return {
    part,
    evaluations: chunks.reduce((n, c) => n + c.evaluations, 0),
    nodes: tree.nodes,
    histogram,
    squares: chunks.reduce((n, c) => n + c.squares, 0),
    cubes: task.cubes || task.adapt?.variances ? cubeSums(chunks, !!task.cubes) : null,
    nonFinite: mergeNonFinite(chunks),
  };
}

function cubeSums(chunks: readonly ChunkSums[], withMeans: boolean): CubeSums {
  const starts = new Uint32Array(chunks.length + 1);
  chunks.forEach((c, i) => {
    starts[i + 1] = starts[i] + c.variances!.length;
  });
  const variances = new Float64Array(starts[chunks.length]);
  const means = withMeans ? new Float64Array(variances.length) : null;
  chunks.forEach((c, i) => {
    variances.set(c.variances!, starts[i]);
    means?.set(c.means!, starts[i]);
  });
  return { first: Uint32Array.from(chunks, c => c.firstCube), starts, variances, means };
}
