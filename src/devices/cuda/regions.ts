/** Cubature rules on a card: points, weights and null rules in its memory, and lists of regions evaluated by a warp each. */
import { nullCombinations, pointsOf, type Rule } from '../../methods/cubature/rules.ts';
import type { RegionSums, RegionTask } from '../device.ts';
import type { Buffer, Module } from './card.ts';
import type { CudaProgram } from './program.ts';
import { Struct } from './struct.ts';

/** Regions of a block, a warp each. */
const REGIONS_PER_BLOCK = 4;

interface Prepared {
  rule: Rule;
  generators: Buffer;
  weights: Buffer;
  pairs: Buffer;
  module: Module;
}

export class CudaRegions {
  readonly #program: CudaProgram;
  #prepared: Prepared | null = null;

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
    const { module } = this.prepare(rule);
    const struct = this.header(rule, ranges)
      .u32(rule.points, count)
      .u64(...this.tables)
      .u64(buffer.centres.address, buffer.levels.address, this.#program.params.address)
      .u64(buffer.values.address, buffer.errors.address, buffer.axes.address, buffer.wrong.address);
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
    const point = pointIn(task, region, orderedPoints(rule)[p]);
    sums.nonFinite = {
      count: Number(wrong),
      first: { point, value: await this.#program.valueAt(point) },
    };
    return sums;
  }

  /** The begin of a task: box, volume, rule. */
  header(rule: Rule, ranges: RegionTask['ranges']): Struct {
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
      .i32(rule.error ? 1 : 0);
  }

  /** Where the tables of the rule in use are. */
  get tables(): number[] {
    const { generators, weights, pairs } = this.#prepared!;
    return [generators.address, weights.address, pairs.address];
  }

  /** A rule's tables and kernels on the card. */
  prepare(rule: Rule): Prepared {
    if (this.#prepared?.rule === rule) return this.#prepared;
    this.close();
    const { card } = this.#program;
    const points = orderedPoints(rule);
    const weights = orderedOrbits(rule)
      .flatMap(o => Array.from({ length: o.points }, () => [o.weight, ...o.nulls]))
      .flat();
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
    this.#prepared = {
      rule,
      generators: card.buffer().write(generators),
      weights: card.buffer().write(Float64Array.from(weights)),
      pairs: card.buffer().write(pairs),
      module: this.#program.module('regions', {
        NULLS: rule.orbits[0].nulls.length,
        PAIRS: combinations.length,
        CANDIDATES: most,
      }),
    };
    return this.#prepared;
  }

  close(): void {
    if (!this.#prepared) return;
    for (const b of [this.#prepared.generators, this.#prepared.weights, this.#prepared.pairs]) b.close();
    this.#prepared = null;
  }
}

/** A point of the rule in a region of a task. */
function pointIn(
  { ranges, centres, levels, count }: RegionTask,
  region: number,
  generator: number[],
): number[] {
  return ranges.map(([low, high], d) => {
    const half = ((high - low) / 2) * 2 ** -levels[d * count + region];
    return Math.max(low, Math.min(high, centres[d * count + region] + half * generator[d]));
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
