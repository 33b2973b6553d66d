/**
 * Cubature rules on a GPU (kernels/regions.ts). Centres and half-widths come from the host in float64, and are split into float32
 * there; sums of the rule and its null rules come back, and the host makes values, errors and volumes of them in float64.
 */

import { ruleFor } from '../../tasks/every-rule.ts';
import type { NonFinite, Part } from '../../tasks/part.ts';
import { emptyRegionSums, type RegionSums, type RegionTask } from '../../tasks/region.ts';
import { nullCombinations, pointsOf, type Rule } from '../../tasks/rules.ts';
import { innerRange32, splitFloat32, toFloat32 } from './float32.ts';
import type { GrowingBuffer } from './growing-buffer.ts';
import { REGION_ROW, type RegionVariant, regionKernel, regionWords } from './kernels/regions.ts';
import type { Points } from './points.ts';
import type { WebGpuProgram } from './program.ts';

/** A rule as the kernel takes it. */
interface LaidRule {
  rule: Rule;
  variant: RegionVariant;
  /** Different coordinates of points, in half-widths, and which of them each point has: one byte per axis. */
  coordinates: readonly number[];
  places: Uint32Array;
  /** The weights of each point in the rule and its null rules. */
  weights: Float32Array;
  offsets: readonly number[][];
}

const laid = new WeakMap<Rule, LaidRule>();

export class WebGpuRegions {
  readonly #program: WebGpuProgram;
  readonly #points: Points;
  readonly #range: GrowingBuffer;
  readonly #rule: GrowingBuffer;
  readonly #places: GrowingBuffer;
  readonly #regions: GrowingBuffer;
  readonly #found: GrowingBuffer;

  constructor(program: WebGpuProgram, points: Points) {
    this.#program = program;
    this.#points = points;
    this.#range = program.buffer('uniform');
    [this.#rule, this.#places, this.#regions, this.#found] = Array.from({ length: 4 }, () =>
      program.buffer('storage'),
    );
  }

  async compile(task: RegionTask): Promise<void> {
    await this.#pipeline(layRule(ruleFor(task.ranges.length, task.rule)));
  }

  #pipeline({ variant }: LaidRule): Promise<GPUComputePipeline> {
    return this.#program.gpu.pipeline(regionKernel(this.#program.text, variant));
  }

  async evaluate(task: RegionTask, part: Part, signal?: AbortSignal): Promise<RegionSums> {
    const { gpu, pace, dims } = this.#program;
    const own = layRule(ruleFor(dims, task.rule));
    const { rule, variant, coordinates, places, weights } = own;
    const pipeline = await this.#pipeline(own);
    signal?.throwIfAborted();
    const inner = task.ranges.map(([low, high]) => innerRange32(low, high));
    const ruleBuffer = this.#rule.write(Float32Array.from([...inner.flat(), ...coordinates, ...weights]));
    const placesBuffer = this.#places.write(places);
    const perRegion = regionWords(variant.nulls);
    const sums = emptyRegionSums(part);
    const errorOf = errorFrom(rule);
    const most = Math.floor(gpu.bindingBytes / Math.max(16 * dims, 4 * perRegion));
    for (let first = 0; first < part.count; ) {
      const count = Math.min(most, part.count - first);
      const regions = this.#regions.write(regionList(task, part.first + first, count));
      const found = this.#found.of(4 * perRegion * count);
      await pace.run(
        gpu,
        count,
        rule.points,
        REGION_ROW * REGION_ROW,
        (from, n) => {
          const range = this.#range.write(Uint32Array.of(from, from + n, 0, 0));
          const buffers = [this.#program.params(), range, ruleBuffer, placesBuffer, regions, found];
          gpu.submit(pipeline, buffers, [Math.min(n, REGION_ROW), Math.ceil(n / REGION_ROW)]);
        },
        signal,
      );
      const words = new Uint32Array((await gpu.read([{ buffer: found, bytes: 4 * perRegion * count }]))[0]);
      signal?.throwIfAborted();
      const floats = new Float32Array(words.buffer);
      let wrong: { count: number; region: number; point: number } | null = null;
      for (let i = 0; i < count; i++) {
        const at = i * perRegion;
        const volume = volumeOf(task, part.first + first + i);
        const extra = at + 1 + variant.nulls;
        sums.values[first + i] = volume * (floats[extra] + floats[at]);
        sums.errors[first + i] = volume * errorOf(floats.subarray(at + 1, extra));
        sums.axes[first + i] = words[extra + 1];
        if (words[extra + 2] === 0) continue;
        wrong ??= { count: 0, region: part.first + first + i, point: words[extra + 3] };
        wrong.count += words[extra + 2];
      }
      if (wrong) {
        sums.nonFinite ??= {
          count: 0,
          first: await this.#first(task, wrong.region, own.offsets[wrong.point]),
        };
        sums.nonFinite.count += wrong.count;
      }
      first += count;
    }
    return sums;
  }

  /** The point of a region where the value is not finite, and the value. */
  async #first(task: RegionTask, region: number, offset: readonly number[]): Promise<NonFinite['first']> {
    const point = task.ranges.map(([low, high], d) => {
      const [first, last] = innerRange32(low, high);
      const x = task.centres[d * task.count + region] + offset[d] * halfWidth(task, region, d);
      return Math.max(first, Math.min(last, x));
    });
    const [value] = await this.#points.evaluate(Float64Array.from(point), 1);
    return { point, value: Number.isFinite(value) ? Number.NaN : value };
  }
}

function halfWidth({ ranges, levels, count }: RegionTask, region: number, d: number): number {
  return ((ranges[d][1] - ranges[d][0]) / 2) * 2 ** -levels[d * count + region];
}

function volumeOf(task: RegionTask, region: number): number {
  let volume = 1;
  for (let d = 0; d < task.ranges.length; d++) volume *= 2 * halfWidth(task, region, d);
  return volume;
}

/** Regions as the kernel reads them. */
function regionList(task: RegionTask, first: number, count: number): Float32Array {
  const dims = task.ranges.length;
  const list = new Float32Array(4 * dims * count);
  for (let i = 0; i < count; i++) {
    for (let d = 0; d < dims; d++) {
      const at = 4 * (i * dims + d);
      const centre = task.centres[d * task.count + first + i];
      const half = halfWidth(task, first + i, d);
      const [high, rest] = splitFloat32(centre);
      list[at] = high;
      list[at + 1] = rest;
      list[at + 2] = toFloat32(half);
      list[at + 3] =
        Math.fround(centre + half / 8) === high ? 0 : 2 ** -task.levels[d * task.count + first + i];
    }
  }
  return list;
}

/** The error of a region without its volume, from the sums of the null rules (tasks/pointwise.ts has the same). */
function errorFrom(rule: Rule): (nulls: Float32Array) => number {
  const { error } = rule;
  if (!error) return nulls => Math.abs(nulls[0]);
  const pairs = nullCombinations(rule);
  const [fall, calm, wild] = error;
  return nulls => {
    const most = pairs.map(({ scale, norm }, r) => {
      let largest = 0;
      for (let j = 0; j < scale.length; j++)
        largest = Math.max(largest, Math.abs(nulls[r + 1] + scale[j] * nulls[r]) * norm[j]);
      return largest;
    });
    const falls = fall * most[0] <= most[1] && fall * most[1] <= most[2];
    return falls ? calm * most[0] : wild * Math.max(...most);
  };
}

function layRule(rule: Rule): LaidRule {
  const known = laid.get(rule);
  if (known) return known;
  const { dims, orbits } = rule;
  const byOrbit = orbits.map(o => pointsOf(o, dims));
  const offsets = byOrbit.flat();
  const coordinates = [...new Set([0, ...offsets.flat()])];
  const bytes = Math.ceil(dims / 4);
  const places = new Uint32Array(bytes * offsets.length);
  offsets.forEach((offset, p) => {
    offset.forEach((x, d) => {
      places[p * bytes + (d >> 2)] |= coordinates.indexOf(x) << (8 * (d & 3));
    });
  });
  const nulls = orbits[0].nulls.length;
  const weights = Float32Array.from(
    orbits.flatMap((o, i) => byOrbit[i].flatMap(() => [o.weight, ...o.nulls])),
  );
  const begins = (orbit: number) => byOrbit.slice(0, orbit).reduce((n, o) => n + o.length, 0);
  const [near, far] = rule.differences;
  const ratio = (orbits[far].generator[0] / orbits[near].generator[0]) ** 2;
  const variant: RegionVariant = {
    dims,
    points: offsets.length,
    nulls,
    near: begins(near),
    far: begins(far),
    ratio,
    coordinates: coordinates.length,
  };
  const made = { rule, variant, coordinates, places, weights, offsets };
  laid.set(rule, made);
  return made;
}
