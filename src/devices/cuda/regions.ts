/** Cubature rules on a card: points, weights and null rules in its memory, and lists of regions evaluated there. */
import { innerRange } from '../../integrand/inner-range.ts';
import { ruleFor } from '../../tasks/every-rule.ts';
import type { Part } from '../../tasks/part.ts';
import { type Ranges, type RegionSums, type RegionTask, regionsOf, volumeOf } from '../../tasks/region.ts';
import { nullCombinations, type Orbit, pointsOf, type Rule } from '../../tasks/rules.ts';
import type { Buffer } from './card.ts';
import type { CudaProgram, Recipe } from './program.ts';
import { POOL, REGION_TASK } from './structs.ts';

/** Lanes per warp, warps per block. */
const LANES = 32;
const WARPS = 4;
export const THREADS = LANES * WARPS;
/**
 * Up to this many pairs of regions, each pair has a whole block in the kernels of the pool, otherwise a warp. It is a
 * constant that does not depend on the card, because a block adds in another order than a warp.
 */
const FEW_PAIRS = 1024;

/** Values are multiplied by this before they are added, so that sums do not overflow: the largest rule has 2^15 rows. */
const SHRINK = 2 ** -16;

export interface PreparedRule {
  /** See REGION_TASK in structs.ts. */
  places: Buffer;
  words: Buffer;
  ends: Buffer;
  weights: Buffer;
  pairs: Buffer;
  /** The number of words for each four axes. */
  room: number;
}

/** The regions that evaluateRegions in regions.cu evaluates. */
export const KIND = { HALVES: 0, ALL: 1, LIST: 2 } as const;

/** Blocks for this many regions: two regions per warp, or one pair per block where a pool has few pairs. */
export function blocksFor(regions: number, kind: number): number {
  const pairs = Math.ceil(regions / 2);
  return pairs <= FEW_PAIRS && kind !== KIND.LIST ? pairs : Math.ceil(pairs / WARPS);
}

/** The addresses of lists of regions. */
type AddressOf = (list: 'centres' | 'levels' | 'values' | 'errors' | 'axes') => number;

export class CudaRegions {
  readonly #program: CudaProgram;
  readonly #task;
  readonly #pool;
  readonly #recipes = new Map<Rule, Recipe>();

  constructor(program: CudaProgram) {
    this.#program = program;
    this.#task = REGION_TASK.layout(program.dims);
    this.#pool = POOL.layout(program.dims);
  }

  async evaluate(all: RegionTask, part: Part, signal?: AbortSignal): Promise<RegionSums> {
    signal?.throwIfAborted();
    const task = regionsOf(all, part);
    const { ranges, count } = task;
    const rule = ruleFor(ranges.length, task.rule);
    const buffer = this.#program.buffers('centres', 'levels', 'values', 'errors', 'axes', 'wrong');
    buffer.centres.write(task.centres);
    buffer.levels.write(task.levels);
    buffer.values.reserve(8 * count);
    buffer.errors.reserve(8 * count);
    buffer.axes.reserve(count);
    buffer.wrong.write(BigUint64Array.of(0n, 2n ** 64n - 1n));
    this.launchList(rule, ranges, count, list => buffer[list].address, buffer.wrong.address);
    await this.#program.card.finished(signal, 'evaluating regions');
    const sums: RegionSums = {
      part,
      values: buffer.values.read(new Float64Array(count)),
      errors: buffer.errors.read(new Float64Array(count)),
      axes: buffer.axes.read(new Uint8Array(count)),
      nonFinite: null,
    };
    const [wrong, first] = buffer.wrong.read(new BigUint64Array(2));
    if (wrong === 0n) return sums;
    const [region, p] = [Number(first / BigInt(rule.points)), Number(first % BigInt(rule.points))];
    const own = (list: Float64Array | Uint8Array) => [...list].filter((_, i) => i % count === region);
    const point = pointIn(rule, ranges, own(task.centres), own(task.levels), p);
    sums.nonFinite = {
      count: Number(wrong),
      first: { point, value: await this.#program.valueAt(point) },
    };
    return sums;
  }

  /** Starts the evaluation of a list. */
  launchList(rule: Rule, ranges: Ranges, count: number, at: AddressOf, wrong: number): void {
    const struct = this.#pool.pack({ t: this.struct(rule, ranges, count, at, wrong), count });
    const module = this.#program.module(this.recipe(rule));
    module.launch(
      'evaluateRegions',
      blocksFor(count, KIND.LIST),
      THREADS,
      0,
      struct,
      Uint32Array.of(KIND.LIST),
    );
  }

  /** The struct REGION_TASK of a task; values that are not finite are counted at the address `wrong`. */
  struct(rule: Rule, ranges: Ranges, count: number, at: AddressOf, wrong: number): Uint8Array {
    const { places, words, ends, weights, pairs, room } = this.prepare(rule);
    const [near, far] = rule.differences.map(i => rule.orbits[i].generator[0]);
    const inner = ranges.map(innerRange);
    return this.#task.pack({
      low: ranges.map(r => r[0]),
      high: ranges.map(r => r[1]),
      innerLow: inner.map(r => r[0]),
      innerHigh: inner.map(r => r[1]),
      ...volumeOf(ranges),
      ratio: (far / near) ** 2,
      coefficients: rule.error ?? [0, 0, 0],
      graded: rule.error ? 1 : 0,
      points: rule.points,
      count,
      places,
      words,
      ends,
      weights,
      room,
      pairs,
      centres: at('centres'),
      levels: at('levels'),
      params: this.#program.params,
      values: at('values'),
      errors: at('errors'),
      axes: at('axes'),
      wrong,
    });
  }

  /** The kernels of a rule. */
  recipe(rule: Rule): Recipe {
    const recipe =
      this.#recipes.get(rule) ?? this.#program.withIntegrand('regions', tablesOf(rule).constants);
    this.#recipes.set(rule, recipe);
    return recipe;
  }

  /** Writes a rule's tables to the card, where they stay for the next run. */
  prepare(rule: Rule): PreparedRule {
    const { card } = this.#program;
    const known = card.cache.rules.get(rule);
    if (known) return known;
    const { places, words, ends, weights, pairs, room } = tablesOf(rule);
    const list = (data: ArrayBufferView) => card.buffer().write(data);
    const prepared: PreparedRule = {
      places: list(places),
      words: list(words),
      ends: list(ends),
      weights: list(weights),
      pairs: list(pairs),
      room,
    };
    card.cache.rules.set(rule, prepared);
    return prepared;
  }
}

/** A rule's tables for kernels: values of coordinates, points as bytes that index them, runs of points and their weights. */
function tablesOf(rule: Rule): Tables {
  const known = tables.get(rule) ?? makeTables(rule);
  tables.set(rule, known);
  return known;
}

type Tables = ReturnType<typeof makeTables>;
const tables = new WeakMap<Rule, Tables>();

function makeTables(rule: Rule) {
  const orbits = orderedOrbits(rule);
  const places = [...new Set([0, ...orbits.flatMap(o => o.generator.flatMap(g => [g, -g]))])];
  const indices = new Map(places.map((g, i) => [g, i]));
  const room = LANES * Math.ceil(rule.points / LANES) + THREADS;
  const words = new Uint32Array(room * Math.ceil(rule.dims / 4));
  orderedPoints(rule).forEach((point, p) => {
    point.forEach((g, d) => {
      words[Math.floor(d / 4) * room + p] |= indices.get(g)! << (8 * (d % 4));
    });
  });
  const runs = runsOf(orbits, rule.points);
  const combinations = nullCombinations(rule);
  const most = Math.max(1, ...combinations.map(c => c.scale.length));
  const pairs = new Float64Array(2 * most * Math.max(1, combinations.length));
  combinations.forEach(({ scale, norm }, r) => {
    scale.forEach((s, j) => {
      pairs.set([s, norm[j]], 2 * (r * most + j));
    });
  });
  return {
    places: Float64Array.from(places),
    words,
    ends: Uint32Array.from(runs, r => r.end),
    weights: Float64Array.from(runs.flatMap(r => r.weights)),
    pairs,
    room,
    constants: {
      NULLS: rule.orbits[0].nulls.length,
      PAIRS: combinations.length,
      CANDIDATES: most,
      VALUES: places.length,
      RUNS: runs.length,
      SHRINK,
      FEW: FEW_PAIRS,
      WARPS,
      ...KIND,
    },
  };
}

/** The coordinates of point p of a rule in a region. */
export function pointIn(
  rule: Rule,
  ranges: Ranges,
  centre: ArrayLike<number>,
  levels: ArrayLike<number>,
  p: number,
): number[] {
  const generator = orderedPoints(rule)[p];
  return ranges.map(([low, high], d) => {
    const half = ((high - low) / 2) * 2 ** -levels[d];
    const [first, last] = innerRange([low, high]);
    return Math.max(first, Math.min(last, centre[d] + half * generator[d]));
  });
}

/**
 * The orbits in the kernel's order: first the centre and the two orbits of the fourth differences, then the others by
 * size, so that the smallest share a row of points.
 */
function orderedOrbits(rule: Rule): Orbit[] {
  const first = [0, ...rule.differences];
  const others = rule.orbits.filter((_, i) => !first.includes(i)).sort((a, b) => a.points - b.points);
  return [...first.map(i => rule.orbits[i]), ...others];
}

const orderedPoints = (rule: Rule) => orderedOrbits(rule).flatMap(o => pointsOf(o, rule.dims));

/** Runs of rows in which each lane stays in one orbit: where each run ends, and the weights per lane, rule after rule. */
function runsOf(orbits: Orbit[], points: number): { end: number; weights: number[] }[] {
  const of = orbits.flatMap((o, i) => new Array<number>(o.points).fill(i));
  const runs: { end: number; weights: number[] }[] = [];
  for (let row = 0; row < points; row += LANES) {
    const own = of.slice(row, row + LANES);
    const end = Math.min(points, row + LANES);
    if (row > 0 && own.every((o, lane) => o === of[row - LANES + lane])) {
      runs[runs.length - 1].end = end;
      continue;
    }
    const weights = Array.from({ length: LANES }, (_, lane) => orbits[own[lane] ?? 0]);
    const rules = weights[0].nulls.map((_, r) => weights.map(o => o.nulls[r]));
    runs.push({ end, weights: [weights.map(o => o.weight), ...rules].flat().map(w => w / SHRINK) });
  }
  return runs;
}
