/** The kernels of a pool, and their dispatches: which buffers they get, and how many workgroups. */
import { differenceWeight } from '../../tasks/pool/errors.ts';
import type { Dispatch } from './gpu.ts';
import { faces, mirror, raise } from './kernels/borders.ts';
import {
  begin,
  blame,
  halve,
  LISTED_PER_BLOCK,
  LOOKED_AT,
  listing,
  move,
  type PoolKernel,
  survey,
  twoLevel,
  WIDTH,
} from './kernels/pool.ts';
import type { PoolLists } from './pool-lists.ts';
import type { WebGpuProgram } from './program.ts';

/** Workgroups in a row: the default limit is 65,535. */
const ROW = 2 ** 15;

export class PoolKernels {
  readonly #program: WebGpuProgram;
  readonly #lists: PoolLists;
  readonly #pipelines = new Map<PoolKernel, GPUComputePipeline>();

  constructor(program: WebGpuProgram, lists: PoolLists) {
    this.#program = program;
    this.#lists = lists;
  }

  /** Compiles kernels, side by side. */
  async ready(...kernels: readonly PoolKernel[]): Promise<void> {
    await Promise.all(
      kernels.map(async kernel => {
        if (!this.#pipelines.has(kernel))
          this.#pipelines.set(kernel, await this.#program.gpu.pipeline(kernel.text));
      }),
    );
  }

  /** A kernel with one thread per item. */
  threads(kernel: PoolKernel, items: number): Dispatch {
    return this.groups(kernel, Math.ceil(items / WIDTH));
  }

  /** A kernel with so many workgroups, in rows. */
  groups(kernel: PoolKernel, groups: number): Dispatch {
    const own = kernel.buffers.map(name => this.#lists.get(name));
    const buffers = kernel.integrand ? [this.#program.params(), ...own] : own;
    const workgroups = [Math.min(groups, ROW), Math.ceil(groups / ROW)] as const;
    return { pipeline: this.#pipelines.get(kernel)!, buffers, workgroups };
  }

  /** The three kernels that list some of the first `count` regions. */
  listing([counts, starts, write]: readonly PoolKernel[], count: number): Dispatch[] {
    const blocks = Math.ceil(count / LISTED_PER_BLOCK);
    return [this.groups(counts, blocks), this.groups(starts, 1), this.groups(write, blocks)];
  }
}

export type OwnKernels = ReturnType<typeof makeKernels>;

const known = new Map<number, OwnKernels>();

/** The kernels of pools with so many dimensions, without that of the integrand. */
export function kernelsFor(dims: number): OwnKernels {
  const kernels = known.get(dims) ?? makeKernels(dims);
  known.set(dims, kernels);
  return kernels;
}

const makeKernels = (dims: number) => ({
  begin: begin(dims),
  halve: halve(dims),
  twoLevel: twoLevel(differenceWeight(dims)),
  survey: survey(),
  listed: listing(),
  move: move(dims),
  facesFirst: faces(dims, false),
  facesAgain: faces(dims, true),
  mirror: mirror(dims),
  raise: raise(dims),
  wide: listing(LOOKED_AT, ['best', 'around']),
  blame: blame(dims),
});
