/** Witnesses on a card: for lists that the host has, and for the regions of a pool. */

import { philoxRounds } from '../../random/philox.ts';
import { ruleFor } from '../../tasks/every-rule.ts';
import { type Hearing, hearingOf } from '../../tasks/hearing.ts';
import type { NonFinite, Part } from '../../tasks/part.ts';
import { DEVIATING } from '../../tasks/pool/blame.ts';
import { regionsOf } from '../../tasks/region.ts';
import type { Rule } from '../../tasks/rules.ts';
import { testimony } from '../../tasks/testimony.ts';
import {
  BLOCK,
  LADDER,
  leastWitnesses,
  modelPairs,
  RUNGS,
  type WitnessSums,
  type WitnessTask,
} from '../../tasks/witness.ts';
import type { Buffer } from './card.ts';
import type { CudaProgram, Recipe } from './program.ts';
import type { CudaRegions } from './regions.ts';
import { WITNESS } from './structs.ts';

/** Warps per block: the model of a region takes up to 14 KB of shared memory. */
const WARPS = 2;
/** Up to this many regions, each has several chunks of witnesses. */
const FEW_REGIONS = 2048;
/**
 * From this many regions on, if one in sixteen of them has witnesses or fewer, these are listed first. A warp per region took 9 % of the
 * time of runs that end with 1e8 regions, and a warp that looked for them among 32 up to 20 % of others: they lie side by side (_trials_).
 */
const MANY_REGIONS = 4096;
/** Blocks that take the regions of such a list, per multiprocessor. */
const LIST_BLOCKS = 16;
/** Witnesses per chunk, a whole number of sequences. */
const CHUNK = 2 * BLOCK;
/** Numbers of a region that the first kernel leaves for the second. */
const MEANS = 6;
/** Blocks of the kernel that adds over all regions, at most. */
const MAX_SUM_BLOCKS = 1024;

/** What witnesses need to know of the regions, wherever they are. */
export interface Heard extends Omit<Hearing, 'centres' | 'levels' | 'values'> {
  /** The number of regions of the task, of which these are a part. */
  all: number;
  /** How far apart in lists the axes of a region are, and the regions. */
  across: number;
  along: number;
  at: (list: 'centres' | 'levels' | 'values') => number;
  /** The unit of squares. */
  unit: number;
}

/** Sums over regions, in the order of kernels/witness.cu. */
export interface WitnessTotals {
  deviation: number;
  spread: number;
  surprise: number;
  deviating: number;
  missing: number;
  witnesses: number;
  evaluations: number;
}

const LISTS = [
  'deviations',
  'spreads',
  'surprised',
  'missing',
  'axes',
  'chunkSums',
  'means',
  'list',
  'sums',
  'state',
] as const;
/** Byte offsets in the state: seven totals, what was not finite, blocks that have ended, regions in the list. */
const [WRONG, ENDED, HEARD, STATE] = [56, 72, 80, 88];

const constants = new Map<number, ReturnType<typeof makeConstants>>();

/** Constants of both kernels. */
function constantsFor(dims: number) {
  const known = constants.get(dims) ?? makeConstants(dims);
  constants.set(dims, known);
  return known;
}

function makeConstants(dims: number) {
  const shared = { LEAST: leastWitnesses(dims), NODES: modelPairs(dims), MEANS };
  return {
    witness: { ...shared, WARPS, BLOCK, RUNGS, LADDER_BITS: Math.log2(LADDER) },
    conclude: { ...shared, LIMIT: DEVIATING },
  };
}

export class CudaWitness {
  readonly #program: CudaProgram;
  readonly #regions: CudaRegions;
  readonly #struct;
  readonly #buffers: Record<(typeof LISTS)[number], Buffer>;
  #recipes: { witness: Recipe; conclude: Recipe } | null = null;

  constructor(program: CudaProgram, regions: CudaRegions) {
    this.#program = program;
    this.#regions = regions;
    this.#struct = WITNESS.layout(program.dims);
    const names = LISTS.map(name => [name, program.buffer(`witness ${name}`)] as const);
    this.#buffers = Object.fromEntries(names) as CudaWitness['lists'];
  }

  /** The lists with what the last witnesses said of each region. */
  get lists(): Record<(typeof LISTS)[number], Buffer> {
    return this.#buffers;
  }

  /** The kernels: one with the integrand, and one that is compiled once, whatever is integrated. */
  recipes(): { witness: Recipe; conclude: Recipe } {
    this.#recipes ??= this.#makeRecipes();
    return this.#recipes;
  }

  #makeRecipes(): { witness: Recipe; conclude: Recipe } {
    const { witness, conclude } = constantsFor(this.#program.dims);
    return {
      witness: this.#program.withIntegrand('witness', witness),
      conclude: this.#program.without('conclude', conclude),
    };
  }

  /** The sums of a part of a list that the host has. */
  async hear(task: WitnessTask, part: Part, signal?: AbortSignal): Promise<WitnessSums> {
    const own = regionsOf(task, part);
    const { count } = own;
    const heard = hearingOf(task, part);
    const at = this.#program.buffers('centres', 'levels', 'values');
    at.centres.write(own.centres);
    at.levels.write(own.levels);
    at.values.write(heard.values);
    const { witnesses, evaluations, nonFinite } = await this.run(
      ruleFor(task.ranges.length, task.rule),
      { ...heard, all: task.count, across: count, along: 1, at: list => at[list].address, unit: 1 },
      signal,
      async region => ({
        centres: Float64Array.from(task.ranges, (_, d) => own.centres[d * count + region]),
        levels: Uint8Array.from(task.ranges, (_, d) => own.levels[d * count + region]),
      }),
    );
    return {
      part,
      deviations: this.#buffers.deviations.read(new Float64Array(count)),
      spreads: this.#buffers.spreads.read(new Float64Array(count)),
      surprises: this.#buffers.surprised.read(new Uint8Array(count)),
      missing: this.#buffers.missing.read(new Float64Array(count)),
      axes: this.#buffers.axes.read(new Uint8Array(count)),
      witnesses,
      evaluations,
      nonFinite,
    };
  }

  /** Lets witnesses speak about regions in the card's memory; `place` reads one of them. */
  async run(
    rule: Rule,
    heard: Heard,
    signal: AbortSignal | undefined,
    place: (region: number) => Promise<{ centres: Float64Array; levels: Uint8Array }>,
  ): Promise<WitnessTotals & { nonFinite: NonFinite | null }> {
    const { count, byVolume, each, all } = heard;
    const { card } = this.#program;
    const buffer = this.#buffers;
    // the layout depends on the whole task, so that sums do not depend on the cut into parts
    const chunks = all > FEW_REGIONS ? 1 : Math.max(1, Math.ceil(Math.ceil(byVolume + each) / CHUNK));
    const heardOf = (byVolume + each * all) / leastWitnesses(this.#program.dims);
    const listed = count >= MANY_REGIONS && 16 * heardOf <= all;
    const blocks = Math.min(MAX_SUM_BLOCKS, Math.ceil((count * (chunks > 1 ? 32 : 1)) / 256));
    for (const name of ['deviations', 'spreads', 'missing'] as const) buffer[name].reserve(8 * count);
    buffer.means.reserve(8 * MEANS * count);
    buffer.chunkSums.reserve(40 * count * chunks);
    buffer.sums.reserve(8 * 7 * MAX_SUM_BLOCKS);
    for (const name of ['surprised', 'axes'] as const) buffer[name].reserve(count);
    const nothing = new BigUint64Array(STATE / 8);
    nothing[WRONG / 8 + 1] = 2n ** 64n - 1n;
    const state = buffer.state.write(nothing).address;
    const lists = (list: 'centres' | 'levels' | 'values' | 'errors' | 'axes') =>
      list === 'errors' || list === 'axes' ? 0 : heard.at(list);
    const struct = this.#struct.pack({
      t: this.#regions.struct(rule, heard.ranges, count, lists, state + WRONG),
      byVolume,
      each,
      nodes: [...heard.nodes],
      meanWeights: [...heard.meanWeights],
      pairNode: heard.pairNode,
      corner: heard.corner,
      cornerRange: heard.cornerRange,
      gap: heard.gap,
      doubt: heard.doubt,
      surprise: heard.surprise,
      noise: heard.noise,
      leastUnit: heard.leastUnit,
      largestResidual: heard.largestResidual,
      unit: heard.unit,
      keys: heard.keys,
      steps: [...heard.steps],
      round: heard.round,
      stream: heard.stream,
      chunks,
      perChunk: CHUNK,
      heard: listed ? state + HEARD : 0,
      list: listed ? buffer.list.reserve(4 * count) : 0,
      first: heard.first,
      count,
      across: heard.across,
      along: heard.along,
      chunkSums: buffer.chunkSums,
      means: buffer.means,
      deviations: buffer.deviations,
      spreads: buffer.spreads,
      surprised: buffer.surprised,
      missing: buffer.missing,
      axes: buffer.axes,
      sums: buffer.sums,
      ended: state + ENDED,
      totals: state,
    });
    const { witness, conclude } = this.recipes();
    const ofAll = this.#program.module(conclude);
    if (listed) ofAll.launch('listHeard', Math.ceil(count / 256), 256, 0, struct);
    const teams = listed ? LIST_BLOCKS * card.processors : Math.ceil((count * chunks) / WARPS);
    this.#program.module(witness).launch('witness', teams, 32 * WARPS, 0, struct);
    ofAll.launch('conclude', blocks, 256, 0, struct);
    await card.finished(signal, 'hearing witnesses');
    const read = buffer.state.read(new BigUint64Array(STATE / 8));
    const [deviation, square, surprise, deviating, models, witnesses, missing] = new Float64Array(
      read.buffer,
    );
    const spread = heard.unit * Math.sqrt(square);
    const [wrong, first] = read.subarray(WRONG / 8);
    const evaluations = witnesses + models;
    const found = {
      deviation,
      spread,
      surprise,
      deviating,
      missing,
      witnesses,
      evaluations,
      nonFinite: null,
    };
    if (wrong === 0n) return found;
    const [region, number] = [Number(first >> 32n), Number(first & 0xffffffffn)];
    const values = new Float64Array(1);
    const alone = { ...heard, ...(await place(region)), values, first: heard.first + region, count: 1 };
    const point = pointOf(alone, number);
    const value = await this.#program.valueAt(point);
    return { ...found, nonFinite: { count: Number(wrong), first: { point, value } } };
  }
}

/** The coordinates of point `number` of the only region of a hearing: first those of its model, then witnesses. */
function pointOf(h: Hearing, number: number): number[] {
  const rows = h.ranges.map(() => new Float64Array(256));
  const steps = testimony(h.ranges.length, h.nodes.length, rows, 256, philoxRounds)(h);
  for (
    let done = 0, n = steps.next().value as number;
    ;
    n = steps.next(new Float64Array(256)).value as number
  ) {
    if (number < done + n) return rows.map(r => r[number - done]);
    done += n;
  }
}
