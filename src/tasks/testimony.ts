/**
 * The testimony of witnesses about some regions, point by point, for every device that evaluates points: `testimony` writes
 * points, yields how many, is given their values, and returns sums. It is self-contained: workers run its text.
 */
import { innerRange } from '../integrand/inner-range.ts';
import { philoxRounds, roundKeys, STREAM } from '../random/philox.ts';
import type { NonFinite, Part } from './part.ts';
import { regionsOf } from './region.ts';
import { ruleFor } from './rules.ts';
import {
  BLOCK,
  CORNER,
  leastWitnesses,
  modelNodes,
  RESIDUAL_NOISE,
  SURPRISE,
  sequenceSteps,
  type WitnessSums,
  type WitnessTask,
} from './witness.ts';

/** What `testimony` needs to know, as data. */
export interface Hearing {
  /** The regions; the first of them has number `first` in the list of the task. */
  first: number;
  count: number;
  ranges: readonly (readonly [number, number])[];
  /** The inner range of each axis (integrand/inner-range.ts), which no point leaves. */
  inner: readonly (readonly [number, number])[];
  centres: Float64Array;
  levels: Uint8Array;
  values: Float64Array;
  /**
   * Witnesses per region: `byVolume` times the part of the box that it is, and `each`. If that is less than `least`, it has
   * `least` with the probability that makes it right on average, and else none.
   */
  byVolume: number;
  each: number;
  least: number;
  /** Round keys of Philox, and the rest of its counter. */
  keys: readonly number[];
  round: number;
  stream: number;
  steps: Uint32Array;
  /** Witnesses of a sequence; the next ones have another start. */
  block: number;
  nodes: readonly [number, number];
  corner: number;
  surprise: number;
  noise: number;
}

export interface HearingSums {
  index: number;
  deviations: Float64Array;
  spreads: Float64Array;
  surprises: Uint8Array;
  axes: Uint8Array;
  witnesses: number;
  evaluations: number;
  nonFinite: NonFinite | null;
}

/** The hearing of a part of a task. */
export function hearingOf(task: WitnessTask, part: Part, epsilon = 2 ** -53): Hearing {
  const { ranges, witnesses, count } = task;
  const { centres, levels } = regionsOf(task, part);
  return {
    ...part,
    ranges,
    inner: ranges.map(innerRange),
    centres,
    levels,
    values: task.values.subarray(part.first, part.first + part.count),
    byVolume: witnesses / 2,
    each: witnesses / 2 / count,
    least: leastWitnesses(ranges.length),
    keys: roundKeys(task.key),
    round: task.round,
    stream: STREAM.witness,
    steps: sequenceSteps(ranges.length),
    block: BLOCK,
    nodes: modelNodes(ruleFor(ranges.length, task.rule)),
    corner: CORNER,
    surprise: SURPRISE,
    noise: RESIDUAL_NOISE * epsilon,
  };
}

export const witnessSums = ({ index, ...sums }: HearingSums): WitnessSums => ({
  ...sums,
  part: { first: index, count: sums.deviations.length },
});

/** The coordinates of point `number` of the only region of a hearing: first those of its model, then witnesses. */
export function pointOf(h: Hearing, number: number): number[] {
  const rows = h.ranges.map(() => new Float64Array(256));
  const steps = testimony(h.ranges.length, rows, 256, philoxRounds)(h);
  for (
    let done = 0, n = steps.next().value as number;
    ;
    n = steps.next(new Float64Array(256)).value as number
  ) {
    if (number < done + n) return rows.map(r => r[number - done]);
    done += n;
  }
}

/**
 * Makes the generator of testimonies; its scratch arrays are made once. Points go into `rows`, one per coordinate, at most
 * `batch` of them at a time; their values come back.
 */
export function testimony(
  dims: number,
  rows: readonly Float64Array[],
  batch: number,
  random: typeof philoxRounds,
): (h: Hearing) => Generator<number, HearingSums, ArrayLike<number>> {
  let h: Hearing;
  let sums: HearingSums;
  let [a, b] = [0, 0];
  const models = 1 + 4 * dims + 2 * dims * (dims - 1);
  const centre = new Float64Array(dims);
  const half = new Float64Array(dims);
  const words = new Uint32Array(dims);
  /** Coefficients of t, t², t³ and t⁴ along each axis. */
  const model = new Float64Array(4 * dims);
  /** Coefficients of s·t, s²·t, s·t² and s²·t² for each pair of axes. */
  const mixed = new Float64Array(2 * dims * (dims - 1));
  let mean = 0;
  /** Where the witnesses of a batch are, in half-widths from the centre. */
  const places = new Float64Array(dims * batch);
  const f = new Float64Array(models);
  const residuals = new Float64Array(batch);
  const inside = (x: number, d: number) => Math.max(h.inner[d][0], Math.min(h.inner[d][1], x));
  let [mantissa, exponent] = [1, 0];
  const scaled = (x: number, power: number): number => {
    let [y, n] = [x * mantissa, power];
    for (; n > 1000; n -= 1000) y *= 2 ** 1000;
    for (; n < -1000; n += 1000) y *= 2 ** -1000;
    return y * 2 ** n;
  };
  const finite = (value: number, i: number): number => {
    if (Math.abs(value) < Infinity) return value;
    sums.nonFinite ??= { count: 0, first: { point: rows.map(r => r[i]), value } };
    sums.nonFinite.count++;
    return 0;
  };

  // the one or two coordinates of each point of the model that differ from the centre, and by how many half-widths
  const axis1 = new Int32Array(models).fill(-1);
  const axis2 = new Int32Array(models).fill(-1);
  const place1 = new Float64Array(models);
  const place2 = new Float64Array(models);

  /** Writes points of the model from number `from` on; returns how many. */
  const placeModel = (from: number): number => {
    const n = Math.min(batch, models - from);
    for (let d = 0; d < dims; d++) rows[d].fill(centre[d], 0, n);
    for (let i = 0; i < n; i++) {
      const [d, e] = [axis1[from + i], axis2[from + i]];
      if (d >= 0) rows[d][i] = inside(centre[d] + place1[from + i] * half[d], d);
      if (e >= 0) rows[e][i] = inside(centre[e] + place2[from + i] * half[e], e);
    }
    return n;
  };

  /** Fits the model to the values of its points. */
  const fitModel = () => {
    mean = f[0];
    for (let d = 0; d < dims; d++) {
      const [fa, ga, fb, gb] = [f[4 * d + 1], f[4 * d + 2], f[4 * d + 3], f[4 * d + 4]];
      // odd: c₁·t + c₃·t³, even: c₂·t² + c₄·t⁴, through both nodes
      const [odd, even] = [(fa - ga) / (2 * a), ((fa + ga) / 2 - f[0]) / (a * a)];
      const c3 = ((fb - gb) / (2 * b) - odd) / (b * b - a * a);
      const c4 = (((fb + gb) / 2 - f[0]) / (b * b) - even) / (b * b - a * a);
      model[4 * d] = odd - c3 * a * a;
      model[4 * d + 1] = even - c4 * a * a;
      model[4 * d + 2] = c3;
      model[4 * d + 3] = c4;
      mean += model[4 * d + 1] / 3 + c4 / 5;
    }
    let [at, number] = [0, 4 * dims + 1];
    for (let d = 0; d < dims; d++) {
      for (let e = 0; e < d; e++, at += 4, number += 4) {
        // what the corners have beyond both axes, as s·t·(c₀ + c₁·s + c₂·t + c₃·s·t)
        const [dp, dm, ep, em] = [f[4 * d + 3], f[4 * d + 4], f[4 * e + 3], f[4 * e + 4]];
        const pp = f[number] - dp - ep + f[0];
        const pm = f[number + 1] - dp - em + f[0];
        const mp = f[number + 2] - dm - ep + f[0];
        const mm = f[number + 3] - dm - em + f[0];
        mixed[at] = (pp - pm - mp + mm) / (4 * b * b);
        mixed[at + 1] = (pp - pm + mp - mm) / (4 * b * b * b);
        mixed[at + 2] = (pp + pm - mp - mm) / (4 * b * b * b);
        mixed[at + 3] = (pp + pm + mp + mm) / (4 * b * b * b * b);
        mean += mixed[at + 3] / 9;
      }
    }
  };

  /** Writes the two corners to which the model rises and falls most. */
  const placeCorners = () => {
    for (let d = 0; d < dims; d++) {
      const t = model[4 * d] < 0 ? -h.corner : h.corner;
      rows[d][0] = inside(centre[d] + t * half[d], d);
      rows[d][1] = inside(centre[d] - t * half[d], d);
    }
  };

  /** Draws where a block of witnesses starts. */
  const startBlock = (region: number, block: number) => {
    for (let d = 0; d < dims; d += 4) {
      const drawn = random([region, (d >> 2) + 256 * block, h.round, h.stream], h.keys);
      for (let j = 0; j < 4 && d + j < dims; j++) words[d + j] = drawn[j];
    }
  };

  /** Writes the next `most` witnesses. */
  const placeWitnesses = (most: number): number => {
    for (let d = 0; d < dims; d++) {
      const [row, step, low, high] = [rows[d], h.steps[d], h.inner[d][0], h.inner[d][1]];
      const [c, own] = [centre[d], half[d]];
      let word = words[d];
      for (let i = 0; i < most; i++) {
        const t = (word + 0.5) * 2 ** -31 - 1;
        places[d * batch + i] = t;
        row[i] = Math.max(low, Math.min(high, c + t * own));
        word = (word + step) >>> 0;
      }
      words[d] = word;
    }
    return most;
  };

  let [sum, squares] = [0, 0];
  /** The largest |residual| so far, and the axis along which that witness is nearest to a face. */
  let farthest = { residual: 0, axis: 0 };
  /** The axis along which a witness of the batch is nearest to a face. */
  const outermost = (i: number): number => {
    let axis = 0;
    for (let d = 1; d < dims; d++)
      if (Math.abs(places[d * batch + i]) > Math.abs(places[axis * batch + i])) axis = d;
    return axis;
  };

  /** Adds the residuals of a batch of witnesses; returns whether one is a surprise. */
  const addBatch = (
    values: ArrayLike<number>,
    m: number,
    low: number,
    high: number,
    scale: number,
    factor: number,
  ) => {
    let surprised = false;
    for (let i = 0; i < m; i++) {
      let value = values[i];
      if (!(Math.abs(value) < Infinity)) value = finite(value, i);
      value *= scale;
      if (value < low || value > high) surprised = true;
      residuals[i] = value - f[0];
    }
    for (let d = 0, pair = 0; d < dims; d++) {
      const [c1, c2, c3, c4] = [model[4 * d], model[4 * d + 1], model[4 * d + 2], model[4 * d + 3]];
      for (let i = 0; i < m; i++) {
        const t = places[d * batch + i];
        residuals[i] -= t * (c1 + t * (c2 + t * (c3 + t * c4)));
      }
      for (let e = 0; e < d; e++, pair += 4) {
        const [m1, m2, m3, m4] = [mixed[pair], mixed[pair + 1], mixed[pair + 2], mixed[pair + 3]];
        for (let i = 0; i < m; i++) {
          const t = places[d * batch + i];
          const s = places[e * batch + i];
          residuals[i] -= t * s * (m1 + m2 * t + s * (m3 + m4 * t));
        }
      }
    }
    let [own, ownSquares, largest] = [sum, squares, farthest.residual];
    let found = -1;
    for (let i = 0; i < m; i++) {
      const residual = residuals[i] * factor;
      if (Math.abs(residual) > largest) [largest, found] = [Math.abs(residual), i];
      own += residual;
      ownSquares += residual * residual;
    }
    sum = own;
    squares = ownSquares;
    if (found >= 0) farthest = { residual: largest, axis: outermost(found) };
    return surprised;
  };

  /** Takes a hearing: its nodes, where the points of its model are, and the volume of its box. */
  const begin = (hearing: Hearing) => {
    h = hearing;
    [a, b] = h.nodes;
    for (let d = 0, p = 1; d < dims; d++) {
      for (let j = 0; j < 4; j++, p++) {
        axis1[p] = d;
        place1[p] = (j < 2 ? a : b) * (j % 2 === 0 ? 1 : -1);
      }
    }
    for (let d = 0, p = 4 * dims + 1; d < dims; d++) {
      for (let e = 0; e < d; e++) {
        for (let j = 0; j < 4; j++, p++) {
          axis1[p] = d;
          axis2[p] = e;
          place1[p] = j < 2 ? b : -b;
          place2[p] = j % 2 === 0 ? b : -b;
        }
      }
    }

    // the volume is a constant times a power of two, which neither overflows nor underflows
    [mantissa, exponent] = [1, 0];
    for (const [low, high] of h.ranges) {
      const own = Math.floor(Math.log2(high - low));
      mantissa *= (high - low) * 2 ** -Math.floor(own / 2) * 2 ** -Math.ceil(own / 2);
      exponent += own;
    }
    sums = {
      index: h.first,
      deviations: new Float64Array(h.count),
      spreads: new Float64Array(h.count),
      surprises: new Uint8Array(h.count),
      axes: new Uint8Array(h.count),
      witnesses: 0,
      evaluations: 0,
      nonFinite: null,
    };
  };

  return function* (hearing) {
    begin(hearing);
    const { count } = h;
    for (let region = 0; region < count; region++) {
      const number = h.first + region;
      let depth = 0;
      for (let d = 0; d < dims; d++) depth += h.levels[d * count + region];
      const wanted = h.byVolume * 2 ** -depth + h.each;
      const chance = Math.min(1, wanted / h.least);
      // group 255 belongs to no coordinate
      if (chance < 1 && random([number, 255, h.round, h.stream], h.keys)[0] >= chance * 2 ** 32) continue;
      const witnesses = chance < 1 ? h.least : Math.ceil(wanted);
      for (let d = 0; d < dims; d++) {
        const level = h.levels[d * count + region];
        centre[d] = h.centres[d * count + region];
        half[d] = ((h.ranges[d][1] - h.ranges[d][0]) / 2) * 2 ** -level;
      }
      let n = 0;
      sum = squares = 0;
      farthest = { residual: 0, axis: 0 };
      let [least, most] = [Infinity, -Infinity];
      for (let known = 0; known < models; ) {
        const m = placeModel(known);
        const values = yield m;
        for (let i = 0; i < m; i++) {
          const own = finite(values[i], i);
          f[known + i] = own;
          least = Math.min(least, own);
          most = Math.max(most, own);
        }
        known += m;
      }
      // where sums of values overflow, or squares underflow, all values are scaled
      const size = Math.max(-least, most);
      const scale = size > 2 ** 960 ? 2 ** -64 : size < 2 ** -960 ? 2 ** 64 : 1;
      if (scale !== 1) {
        for (let i = 0; i < models; i++) f[i] *= scale;
        [least, most] = [scale * least, scale * most];
      }
      fitModel();
      placeCorners();
      const ends = yield 2;
      for (let i = 0; i < 2; i++) {
        const own = scale * finite(ends[i], i);
        least = Math.min(least, own);
        most = Math.max(most, own);
      }
      const largest = Math.max(-least, most);
      const unit = largest > 0 ? largest : 1; // residuals are squared in this unit
      const beyond = h.surprise * (most - least) + h.noise * largest;
      const [lowest, highest] = [least - beyond, most + beyond];
      while (n < witnesses) {
        if (n % h.block === 0) startBlock(number, n / h.block);
        const m = placeWitnesses(Math.min(witnesses - n, h.block - (n % h.block), batch));
        const values = yield m;
        const surprised = addBatch(values, m, lowest, highest, scale, 1 / unit);
        if (surprised) sums.surprises[region] = 1;
        n += m;
      }
      sums.evaluations += models + 2 + n;
      sums.witnesses += n;
      const variance = Math.max(0, squares - (sum * sum) / n) / (n - 1);
      const power = exponent - depth - Math.log2(scale);
      const off = scaled(unit * (sum / n) + mean, power) - h.values[region];
      const spread = scaled(unit * Math.sqrt(variance / n), power);
      sums.axes[region] = farthest.axis;
      sums.deviations[region] = off / chance;
      // the region also counts for those that have no witnesses
      sums.spreads[region] =
        chance < 1 ? Math.hypot((off / chance) * Math.sqrt(1 - chance), spread / Math.sqrt(chance)) : spread;
    }
    return sums;
  };
}
