/**
 * The testimony of witnesses about some regions, point by point, for every device that evaluates points: `testimony` writes
 * points, yields how many, is given their values, and returns sums. It is self-contained: workers run its text.
 */
import type { philoxRounds } from '../random/philox.ts';
import type { Hearing } from './hearing.ts';
import type { WitnessSums } from './witness.ts';

/**
 * Makes the generator of testimonies; its scratch arrays are made once. Points go into `rows`, one per coordinate, at most
 * `batch` of them at a time; their values come back.
 */
export function testimony(
  dims: number,
  pairs: number,
  rows: readonly Float64Array[],
  batch: number,
  random: typeof philoxRounds,
): (h: Hearing) => Generator<number, WitnessSums, ArrayLike<number>> {
  let h: Hearing;
  let distances: number[];
  let sums: WitnessSums;
  const models = 1 + 2 * pairs * dims + 2 * dims * (dims - 1);
  /** Points of the model, and one near the middle of each face. */
  const known = models + 2 * dims;
  const centre = new Float64Array(dims);
  const half = new Float64Array(dims);
  const words = new Uint32Array(dims);
  /** The model along each axis is t·O(t²) + t²·E(t²): both polynomials as Newton's divided differences at the squares of nodes. */
  const odd = new Float64Array(pairs * dims);
  const even = new Float64Array(pairs * dims);
  const squared = new Float64Array(pairs);
  /** Coefficients of s·t, s²·t, s·t² and s²·t² for each pair of axes. */
  const mixed = new Float64Array(2 * dims * (dims - 1));
  let mean = 0;
  /** Where the witnesses of a batch are, in half-widths from the centre. */
  const places = new Float64Array(dims * batch);
  const f = new Float64Array(known);
  const residuals = new Float64Array(batch);
  const inside = (x: number, d: number) => Math.max(h.inner[d][0], Math.min(h.inner[d][1], x));
  /** x·mantissa·2^power, in steps that neither overflow nor underflow unless the result does. */
  const scaled = (x: number, power: number): number => {
    let [y, n] = [x * h.volume.mantissa, power];
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

  // the one or two coordinates of each point of the model, and of the faces, that differ from the centre, and by how many half-widths
  const axis1 = new Int32Array(known).fill(-1);
  const axis2 = new Int32Array(known).fill(-1);
  const place1 = new Float64Array(known);
  const place2 = new Float64Array(known);

  /** Writes points of the model and the faces from number `from` on; returns how many. */
  const placeModel = (from: number): number => {
    const n = Math.min(batch, known - from);
    for (let d = 0; d < dims; d++) rows[d].fill(centre[d], 0, n);
    for (let i = 0; i < n; i++) {
      const [d, e] = [axis1[from + i], axis2[from + i]];
      if (d >= 0) rows[d][i] = inside(centre[d] + place1[from + i] * half[d], d);
      if (e >= 0) rows[e][i] = inside(centre[e] + place2[from + i] * half[e], e);
    }
    return n;
  };

  /** What the model along an axis has beyond the centre. */
  const along = (d: number, t: number): number => {
    const last = d * pairs + pairs - 1;
    let [o, e] = [odd[last], even[last]];
    for (let j = 2; j <= pairs; j++) {
      const above = t * t - squared[pairs - j];
      o = odd[last - j + 1] + above * o;
      e = even[last - j + 1] + above * e;
    }
    return t * (o + t * e);
  };

  /**
   * Subtracts the model along an axis from the residuals of a batch. For the two pairs of more than one dimension this is `along` with its
   * numbers in variables: 65,536 witnesses in 2 dimensions take 1.8 ms instead of 3.4, with the other loops below (_trial_).
   */
  const takeAlong = (d: number, m: number) => {
    const from = d * batch;
    if (pairs !== 2) {
      for (let i = 0; i < m; i++) residuals[i] -= along(d, places[from + i]);
      return;
    }
    const first = d * pairs;
    const [o, oAbove, e, eAbove] = [odd[first], odd[first + 1], even[first], even[first + 1]];
    const [node] = squared;
    const [at, left] = [places, residuals];
    for (let i = 0; i < m; i++) {
      const t = at[from + i];
      const above = t * t - node;
      left[i] -= t * (o + above * oAbove + t * (e + above * eAbove));
    }
  };

  /** Fits the model to the values of its points. */
  const fitModel = () => {
    mean = f[0];
    for (let d = 0; d < dims; d++) {
      const first = d * pairs;
      for (let j = 0; j < pairs; j++) {
        const [up, down] = [f[2 * (first + j) + 1], f[2 * (first + j) + 2]];
        odd[first + j] = (up - down) / (2 * h.nodes[j]);
        even[first + j] = ((up + down) / 2 - f[0]) / squared[j];
        mean += h.meanWeights[j] * even[first + j];
      }
      for (let k = 1; k < pairs; k++) {
        for (let j = pairs - 1; j >= k; j--) {
          const width = squared[j] - squared[j - k];
          odd[first + j] = (odd[first + j] - odd[first + j - 1]) / width;
          even[first + j] = (even[first + j] - even[first + j - 1]) / width;
        }
      }
    }
    const b = h.pairNode;
    let [at, number] = [0, 2 * pairs * dims + 1];
    for (let d = 0; d < dims; d++) {
      for (let e = 0; e < d; e++, at += 4, number += 4) {
        // what the corners have beyond both axes, as s·t·(c₀ + c₁·s + c₂·t + c₃·s·t)
        const [dp, dm, ep, em] = [along(d, b), along(d, -b), along(e, b), along(e, -b)];
        const pp = f[number] - dp - ep - f[0];
        const pm = f[number + 1] - dp - em - f[0];
        const mp = f[number + 2] - dm - ep - f[0];
        const mm = f[number + 3] - dm - em - f[0];
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
      const t = along(d, h.corner) < along(d, -h.corner) ? -h.corner : h.corner;
      rows[d][0] = inside(centre[d] + t * half[d], d);
      rows[d][1] = inside(centre[d] - t * half[d], d);
    }
  };

  /** The distance of rung `k` of the ladder from its face, in half-widths. */
  const rung = (k: number): number => distances[k];

  /** What the model along an axis may be off by at t: a part of what its last points brought. */
  const doubt = (d: number, t: number): number => {
    let reach = Math.abs(t);
    for (let j = 0; j < pairs - 1; j++) reach *= Math.abs(t * t - squared[j]);
    const last = d * pairs + pairs - 1;
    return h.doubt * reach * (Math.abs(odd[last]) + Math.abs(t * even[last]));
  };

  /** What f has beyond the model at t along an axis. */
  const beyondModel = (value: number, d: number, t: number): number => Math.abs(value - f[0] - along(d, t));

  /** Whether f near a face differs from the model. Where the point would be rounded to the face, nothing is known: false. */
  const differsAt = (face: number, noise: number): boolean => {
    const [d, t] = [face >> 1, place1[models + face]];
    if (half[d] * rung(h.rungs) <= 2 ** -50 * Math.abs(centre[d])) return false;
    return beyondModel(f[models + face], d, t) > doubt(d, t) + noise;
  };

  /** Writes the other rungs of the ladder at a face. */
  const placeRungs = (face: number): number => {
    const d = face >> 1;
    for (let e = 0; e < dims; e++) rows[e].fill(centre[e], 0, h.rungs - 1);
    for (let k = 1; k < h.rungs; k++)
      rows[d][k - 1] = inside(centre[d] + Math.sign(place1[models + face]) * (1 - rung(k)) * half[d], d);
    return h.rungs - 1;
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
      // rounding is monotone: where the ends of the region are inside, all points between them are
      const clear = c - own >= low && c + own <= high;
      for (let i = 0; i < most; i++) {
        const t = (word + 0.5) * 2 ** -31 - 1;
        places[d * batch + i] = t;
        const x = c + t * own;
        row[i] = clear || (x >= low && x <= high) ? x : x < low ? low : high;
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
    const [left, at, centreValue] = [residuals, places, f[0]];
    let surprised = false;
    for (let i = 0; i < m; i++) {
      let value = values[i];
      if (!(Math.abs(value) < Infinity)) value = finite(value, i);
      value *= scale;
      if (value < low || value > high) surprised = true;
      left[i] = value - centreValue;
    }
    for (let d = 0, pair = 0; d < dims; d++) {
      takeAlong(d, m);
      for (let e = 0; e < d; e++, pair += 4) {
        const [m1, m2, m3, m4] = [mixed[pair], mixed[pair + 1], mixed[pair + 2], mixed[pair + 3]];
        for (let i = 0; i < m; i++) {
          const t = at[d * batch + i];
          const s = at[e * batch + i];
          left[i] -= t * s * (m1 + m2 * t + s * (m3 + m4 * t));
        }
      }
    }
    let [own, ownSquares, largest] = [sum, squares, farthest.residual];
    let found = -1;
    const limit = h.largestResidual;
    for (let i = 0; i < m; i++) {
      let residual = left[i] * factor;
      let size = Math.abs(residual);
      if (size > limit) {
        residual = residual < 0 ? -limit : limit;
        size = limit;
      }
      if (size > largest) {
        largest = size;
        found = i;
      }
      own += residual;
      ownSquares += residual * residual;
    }
    sum = own;
    squares = ownSquares;
    if (found >= 0) farthest = { residual: largest, axis: outermost(found) };
    return surprised;
  };

  /** Takes a hearing: its nodes, and where the points of its model are. */
  const begin = (hearing: Hearing) => {
    h = hearing;
    distances = Array.from({ length: h.rungs + 1 }, (_, k) => h.gap * h.ladder ** -k);
    for (let j = 0; j < pairs; j++) squared[j] = h.nodes[j] * h.nodes[j];
    for (let d = 0, p = 1; d < dims; d++) {
      for (let j = 0; j < 2 * pairs; j++, p++) {
        axis1[p] = d;
        place1[p] = h.nodes[j >> 1] * (j % 2 === 0 ? 1 : -1);
      }
    }
    const b = h.pairNode;
    for (let d = 0, p = 2 * pairs * dims + 1; d < dims; d++) {
      for (let e = 0; e < d; e++) {
        for (let j = 0; j < 4; j++, p++) {
          axis1[p] = d;
          axis2[p] = e;
          place1[p] = j < 2 ? b : -b;
          place2[p] = j % 2 === 0 ? b : -b;
        }
      }
    }
    for (let face = 0; face < 2 * dims; face++) {
      axis1[models + face] = face >> 1;
      axis2[models + face] = -1;
      place1[models + face] = (face & 1 ? -1 : 1) * (1 - rung(h.rungs));
    }
    sums = {
      part: { first: h.first, count: h.count },
      deviations: new Float64Array(h.count),
      spreads: new Float64Array(h.count),
      surprises: new Uint8Array(h.count),
      missing: new Float64Array(h.count),
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
      for (let done = 0; done < known; ) {
        const m = placeModel(done);
        const values = yield m;
        for (let i = 0; i < m; i++) {
          const own = finite(values[i], i);
          f[done + i] = own;
          if (done + i >= models) continue;
          least = Math.min(least, own);
          most = Math.max(most, own);
        }
        done += m;
      }
      // where sums of values would overflow, all values are scaled
      const scale = Math.max(-least, most) > 2 ** 960 ? 2 ** -64 : 1;
      if (scale !== 1) {
        for (let i = 0; i < known; i++) f[i] *= scale;
        [least, most] = [scale * least, scale * most];
      }
      fitModel();
      // what faces hide: at most what f has beyond the model on each rung, over the way to the next
      let [hidden, hiding, spent] = [0, 0, known + 2];
      const noise = 8 * h.noise * Math.max(-least, most);
      for (let face = 0, worst = 0; face < 2 * dims; face++) {
        if (!differsAt(face, noise)) continue;
        const d = face >> 1;
        const m = placeRungs(face);
        const values = yield m;
        let own = beyondModel(f[models + face], d, place1[models + face]) * rung(h.rungs - 1);
        for (let k = 1; k < h.rungs; k++) {
          const t = Math.sign(place1[models + face]) * (1 - rung(k));
          own += beyondModel(scale * finite(values[k - 1], k - 1), d, t) * (rung(k - 1) - rung(k));
        }
        if (own > worst) [worst, hiding] = [own, d];
        hidden += own / 2;
        spent += m;
      }
      placeCorners();
      const ends = yield 2;
      const reach = h.cornerRange * (most - least) + h.noise * Math.max(-least, most);
      const [below, above] = [least - reach, most + reach];
      for (let i = 0; i < 2; i++) {
        const own = scale * finite(ends[i], i);
        if (own < below || own > above) sums.surprises[region] = 1;
        else {
          least = Math.min(least, own);
          most = Math.max(most, own);
        }
      }
      const largest = Math.max(-least, most);
      const unit = Math.max(largest, h.leastUnit); // residuals are squared in this unit
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
      sums.evaluations += spent + n;
      sums.witnesses += n;
      const variance = Math.max(0, squares - (sum * sum) / n) / (n - 1);
      const power = h.volume.exponent - depth - Math.log2(scale);
      const off = scaled(unit * (sum / n) + mean, power) - h.values[region];
      const spread = scaled(unit * Math.sqrt(variance / n), power);
      sums.missing[region] = scaled(hidden, power) / chance;
      sums.axes[region] = sums.missing[region] > Math.abs(off) ? hiding : farthest.axis;
      sums.deviations[region] = off / chance;
      // the region also counts for those that have no witnesses
      sums.spreads[region] =
        chance < 1 ? Math.hypot((off / chance) * Math.sqrt(1 - chance), spread / Math.sqrt(chance)) : spread;
    }
    return sums;
  };
}
