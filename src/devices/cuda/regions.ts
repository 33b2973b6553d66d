/** Cubature rules on a card: points, weights and null rules in its memory, and lists of regions evaluated by a warp each. */
import { nullCombinations, pointsOf, type Rule } from '../../methods/cubature/rules.ts';
import type { RegionSums, RegionTask } from '../device.ts';
import type { Buffer } from './card.ts';
import type { CudaProgram } from './program.ts';
import { Struct } from './struct.ts';

/** Regions of a block, a warp each. */
const REGIONS_PER_BLOCK = 4;

export interface PreparedRule {
  generators: Buffer;
  weights: Buffer;
  pairs: Buffer;
  /** What kernels have to know of it. */
  constants: { NULLS: number; PAIRS: number; CANDIDATES: number };
}

/** Where lists of regions are. */
type AddressOf = (list: 'centres' | 'levels' | 'values' | 'errors' | 'axes') => number;

export class CudaRegions {
  readonly #program: CudaProgram;

  constructor(program: CudaProgram) {
    this.#program = program;
  }

  async evaluate(task: RegionTask): Promise<RegionSums> {
    task.signal?.throwIfAborted();
    const { rule, ranges, count } = task;
    const buffer = this.#program.buffers('centres', 'levels', 'values', 'errors', 'axes', 'wrong');
    buffer.centres.write(task.centres);
    buffer.levels.write(task.levels);
    buffer.values.reserve(8 * count);
    buffer.errors.reserve(8 * count);
    buffer.axes.reserve(count);
    buffer.wrong.write(BigUint64Array.of(0n, 2n ** 64n - 1n));
    const { constants } = this.prepare(rule);
    const struct = this.struct(rule, ranges, count, list => buffer[list].address, buffer.wrong.address);
    const module = this.#program.module('regions', constants);
    module.launch('regions', Math.ceil(count / REGIONS_PER_BLOCK), 32 * REGIONS_PER_BLOCK, 0, struct.bytes);
    await this.#program.card.finished(task.signal, 'evaluating regions');
    const sums: RegionSums = {
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

  /** A task as the kernels take it; values that are not finite are counted at `wrong`. */
  struct(rule: Rule, ranges: RegionTask['ranges'], count: number, at: AddressOf, wrong: number): Struct {
    const { generators, weights, pairs } = this.prepare(rule);
    let [mantissa, exponent] = [1, 0];
    for (const [low, high] of ranges) {
      const own = Math.floor(Math.log2(high - low));
      mantissa *= (high - low) * 2 ** -Math.floor(own / 2) * 2 ** -Math.ceil(own / 2);
      exponent += own;
    }
    const [inner, outer] = rule.differences.map(i => rule.orbits[i].generator[0]);
    return new Struct()
      .f64(...ranges.map(r => r[0]), ...ranges.map(r => r[1]))
      .f64(mantissa, (outer / inner) ** 2, ...(rule.error ?? [0, 0, 0]))
      .i32(exponent)
      .i32(rule.error ? 1 : 0)
      .u32(rule.points, count)
      .u64(generators.address, weights.address, pairs.address)
      .u64(at('centres'), at('levels'), this.#program.params.address)
      .u64(at('values'), at('errors'), at('axes'), wrong);
  }

  /** A rule's tables on the card; they stay there for the next run. */
  prepare(rule: Rule): PreparedRule {
    const { card } = this.#program;
    const known = card.spare.rules.get(rule);
    if (known) return known;
    const points = orderedPoints(rule);
    const orbits = orderedOrbits(rule).flatMap(o =>
      Array.from({ length: o.points }, () => [o.weight, ...o.nulls]),
    );
    const weights = orbits[0].flatMap((_, r) => orbits.map(o => o[r]));
    const generators = new Float64Array(rule.dims * rule.points);
    points.forEach((g, p) => {
      g.forEach((v, d) => {
        generators[d * rule.points + p] = v;
      });
    });
    const combinations = nullCombinations(rule);
    const most = Math.max(1, ...combinations.map(c => c.scale.length));
    const pairs = new Float64Array(2 * most * Math.max(1, combinations.length));
    combinations.forEach(({ scale, norm }, r) => {
      scale.forEach((s, j) => {
        pairs.set([s, norm[j]], 2 * (r * most + j));
      });
    });
    const prepared: PreparedRule = {
      generators: card.buffer().write(generators),
      weights: card.buffer().write(Float64Array.from(weights)),
      pairs: card.buffer().write(pairs),
      constants: { NULLS: rule.orbits[0].nulls.length, PAIRS: combinations.length, CANDIDATES: most },
    };
    card.spare.rules.set(rule, prepared);
    return prepared;
  }
}

/** Point p of a rule in a region. */
export function pointIn(
  rule: Rule,
  ranges: RegionTask['ranges'],
  centre: ArrayLike<number>,
  levels: ArrayLike<number>,
  p: number,
): number[] {
  const generator = orderedPoints(rule)[p];
  return ranges.map(([low, high], d) => {
    const half = ((high - low) / 2) * 2 ** -levels[d];
    return Math.max(low, Math.min(high, centre[d] + half * generator[d]));
  });
}

/** Orbits with the centre and those of the fourth differences first, where the kernel expects them. */
function orderedOrbits(rule: Rule) {
  const first = [0, ...rule.differences];
  return [...first, ...rule.orbits.keys()]
    .filter((o, i, all) => all.indexOf(o) === i)
    .map(o => rule.orbits[o]);
}

const orderedPoints = (rule: Rule) => orderedOrbits(rule).flatMap(o => pointsOf(o, rule.dims));
