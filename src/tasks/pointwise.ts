/**
 * Parts of tasks done point by point, for devices that can evaluate an integrand at given points and nothing else: what a
 * device has to add up, in plain JavaScript.
 */
import { innerRange } from '../integrand/inner-range.ts';
import { BATCH } from '../integrand/targets/wasm.ts';
import { latticeWord } from '../random/lattice.ts';
import { philoxRounds, wordsOf } from '../random/philox.ts';
import { packedIndex } from './correlation.ts';
import { countedWords, isCounted } from './counted.ts';
import type { EvaluatePoints } from './evaluate.ts';
import { ruleFor } from './every-rule.ts';
import { hearingOf } from './hearing.ts';
import type { NonFinite, Part } from './part.ts';
import { PIECE, placeFinder } from './pieces.ts';
import { emptyRegionSums, type RegionSums, type RegionTask } from './region.ts';
import { nullCombinations, pointsOf } from './rules.ts';
import { cubesOf, nodeWidth, type PartSums, plainTask, plan, type SampleTask } from './sample.ts';
import { placeIn } from './smooth-map.ts';
import { testimony } from './testimony.ts';
import { TreeSum } from './tree-sum.ts';
import { modelPairs, type WitnessSums, type WitnessTask } from './witness.ts';

/** Samples some groups of an iteration. */
export async function samplePoints(
  asked: SampleTask,
  part: Part,
  evaluate: EvaluatePoints,
): Promise<PartSums> {
  const task = plainTask(asked);
  const { strata, counts, bins, edges, unit, adapt, lattice } = task;
  const dims = strata.length;
  const cubes = cubesOf(task);
  const { groups, size } = plan(task);
  const countOf = typeof counts === 'number' ? () => counts : (cube: number) => counts.each[cube];
  const total = typeof counts === 'number' ? counts * cubes : counts.each.reduce((a, b) => a + b, 0);
  const place = placeFinder(counts, cubes);
  const rows = task.pass
    ? task.pass.results.map((row, r) => ({ row, unit: task.pass!.units[r] }))
    : [{ row: 0, unit: 1 }];
  const leads = task.pass?.leads ?? [0];
  const width = nodeWidth(rows.length);
  const tree = new TreeSum(width, groups);
  const histogram = adapt && new Float64Array(dims * bins);
  const blocks = countedWords(task);
  let squares = 0;
  const found = { first: [] as number[], starts: [0], variances: [] as number[], means: [] as number[] };
  let nonFinite: NonFinite | null = null;
  const begin = place(part.first * size);
  let from = begin;
  for (let group = part.first; group < part.first + part.count; group++) {
    const to = place((group + 1) * size);
    const n = to.sample - from.sample;
    const points = new Float64Array(dims * n);
    const jacobians = new Float64Array(n);
    const inBins = histogram && new Uint32Array(dims * n);
    let { cube, offset } = from;
    for (let i = 0; i < n; i++, offset++) {
      if (offset === countOf(cube)) [cube, offset] = [cube + 1, 0];
      let [rest, jacobian] = [cube, 1 / unit];
      for (let d = 0; d < dims; d++) {
        const k = rest % strata[d];
        rest = Math.floor(rest / strata[d]);
        const word = lattice
          ? latticeWord(lattice, cube, d, from.sample + i)
          : wordsOf(from.sample + i, d >> 2, task.iteration, task.stream, task.key)[d & 3];
        const t = (k + (word + 0.5) * 2 ** -32) * (bins / strata[d]);
        const bin = Math.floor(t);
        const { x, width } = placeIn(edges, lattice?.slopes, d * (bins + 1) + bin, t - bin);
        points[d * n + i] = x;
        jacobian *= bins * width;
        if (inBins) inBins[d * n + i] = d * bins + bin;
      }
      jacobians[i] = jacobian;
    }
    const values = await evaluate(points, n);
    const weights = rows.map(({ row, unit }) =>
      Float64Array.from({ length: n }, (_, i) => (values[row * n + i] / unit) * jacobians[i]),
    );
    weights.forEach((own, r) => {
      own.forEach((w, i) => {
        if (Math.abs(w) < Infinity) return;
        const point = Array.from({ length: dims }, (_, d) => points[d * n + i]);
        const value = values[rows[r].row * n + i];
        nonFinite ??= { count: 0, first: { point, value, ...(task.pass && { result: rows[r].row }) } };
        nonFinite.count++;
        own[i] = 0;
      });
    });
    const sums = new Float64Array(width);
    found.first.push(from.cube);
    let at = 0;
    for (let c = from.cube; at < n; c++) {
      const full = countOf(c);
      let taken = c === from.cube ? from.offset : 0;
      let [mean, variance] = [0, 0];
      while (taken < full && at < n) {
        const left = full - taken;
        const m = left <= PIECE ? left : left === PIECE + 1 ? PIECE - 2 : PIECE;
        const own = weights.map(w => w.subarray(at, at + m));
        const averages = own.map(w => w.reduce((a, b) => a + b, 0) / m);
        const share = m / full;
        own.forEach((w, r) => {
          sums[r] += share * averages[r];
          for (let s = 0; s <= r; s++) {
            const product = w.reduce((sum, v, i) => sum + (v - averages[r]) * (own[s][i] - averages[s]), 0);
            const spread = product / (m - 1);
            const error = (spread * share * share) / m;
            sums[own.length + packedIndex(r, s)] += error;
            if (s < r) continue;
            sums[width - own.length + r] += error * error;
            if (leads.includes(r)) variance += share * spread;
          }
        });
        mean +=
          share *
          (rows.length > 1 ? Math.sqrt(leads.reduce((s, r) => s + averages[r] ** 2, 0)) : averages[0]);
        const counted = isCounted(from.sample + at, blocks);
        for (let i = at; histogram && i < at + m; i++) {
          const w2 = leads.reduce((s, r) => s + weights[r][i] ** 2, 0);
          const square = Math.round(w2 * adapt!.scale * (total / cubes / full));
          squares += square;
          for (let d = 0; counted && d < dims; d++) histogram[inBins![d * n + i]] += square;
        }
        taken += m;
        at += m;
      }
      found.variances.push(variance);
      found.means.push(mean);
    }
    found.starts.push(found.variances.length);
    tree.add(group, sums);
    from = to;
  }
  return {
    part,
    evaluations: from.sample - begin.sample,
    nodes: tree.nodes,
    histogram,
    squares,
    cubes:
      task.cubes || adapt?.variances
        ? {
            first: Uint32Array.from(found.first),
            starts: Uint32Array.from(found.starts),
            variances: Float64Array.from(found.variances),
            means: task.cubes ? Float64Array.from(found.means) : null,
          }
        : null,
    nonFinite,
  };
}

/** Applies a rule to some regions of a list. */
export async function regionPoints(
  task: RegionTask,
  part: Part,
  evaluate: EvaluatePoints,
): Promise<RegionSums> {
  const { ranges, count } = task;
  const dims = ranges.length;
  const inner = ranges.map(innerRange);
  const rule = ruleFor(dims, task.rule);
  const offsets = rule.orbits.map(orbit => pointsOf(orbit, dims));
  const allOffsets = offsets.flat();
  const n = rule.points;
  let sums = emptyRegionSums(part);
  for (let i = 0; i < part.count; i++) {
    const region = part.first + i;
    const centre = ranges.map((_, d) => task.centres[d * count + region]);
    const half = ranges.map(([low, high], d) => ((high - low) / 2) * 2 ** -task.levels[d * count + region]);
    const points = new Float64Array(dims * n);
    for (let d = 0; d < dims; d++) {
      const [first, last] = inner[d];
      for (let p = 0; p < n; p++)
        points[d * n + p] = Math.max(first, Math.min(last, centre[d] + allOffsets[p][d] * half[d]));
    }
    const all = Float64Array.from(await evaluate(points, n));
    const results = all.length / n;
    if (i === 0 && results > 1) sums = emptyRegionSums(part, results);
    all.forEach((value, p) => {
      if (Math.abs(value) < Infinity) return;
      const point = ranges.map((_, d) => points[d * n + (p % n)]);
      sums.nonFinite ??= { count: 0, first: { point, value } };
      sums.nonFinite.count++;
      all[p] = 0;
    });
    for (let r = 0; r < results; r++)
      applyRule(all.subarray(r * n, (r + 1) * n), centre, half, r * part.count + i);
  }
  return sums;

  /** What the rule makes of the values at its points in a region; it goes to place `to` of the lists. */
  function applyRule(values: Float64Array, centre: number[], half: number[], to: number): void {
    let at = 0;
    const byOrbit = offsets.map(orbit => {
      const own = values.subarray(at, at + orbit.length);
      at += orbit.length;
      return own;
    });
    const add = (weights: readonly number[]) =>
      byOrbit.reduce((sum, own, o) => own.reduce((s, v) => s + weights[o] * v, sum), 0);
    const nulls = rule.orbits[0].nulls.map((_, r) => add(rule.orbits.map(o => o.nulls[r])));
    let error = Math.abs(nulls[0]);
    if (rule.error) {
      const most = nullCombinations(rule).map(({ scale, norm }, r) =>
        Math.max(...scale.map((s, j) => Math.abs(nulls[r + 1] + s * nulls[r]) * norm[j])),
      );
      const [fall, calm, wild] = rule.error;
      const falls = fall * most[0] <= most[1] && fall * most[1] <= most[2];
      error = falls ? calm * most[0] : wild * Math.max(...most);
    }
    const volume = half.reduce((v, h) => v * 2 * h, 1);
    sums.values[to] = volume * add(rule.orbits.map(o => o.weight));
    sums.errors[to] = volume * error;
    sums.axes[to] = axisToSplit();

    /** The axis with the largest fourth difference, of equal ones the widest; not one whose halves have the same centre. */
    function axisToSplit(): number {
      const [inner, outer] = rule.differences.map(o => rule.orbits[o].generator[0]);
      const ratio = (outer / inner) ** 2;
      let [axis, most, widest] = [0, -1, 0];
      for (let d = 0; d < dims; d++) {
        if (centre[d] + half[d] / 8 === centre[d]) continue;
        const [near, far] = rule.differences.map(o => byOrbit[o][2 * d] + byOrbit[o][2 * d + 1]);
        let bend = Math.abs(2 * byOrbit[0][0] * (1 - ratio) + ratio * near - far);
        if (bend <= 1e-14 * (Math.abs(near) + Math.abs(far) + Math.abs(byOrbit[0][0]))) bend = 0;
        const width = half[d] / (ranges[d][1] - ranges[d][0]);
        if (bend > most || (bend === most && width > widest)) [axis, most, widest] = [d, bend, width];
      }
      return axis;
    }
  }
}

/** Lets witnesses speak about some regions of a list. */
export async function witnessPoints(
  task: WitnessTask,
  part: Part,
  evaluate: EvaluatePoints,
): Promise<WitnessSums> {
  const dims = task.ranges.length;
  const rows = Array.from({ length: dims }, () => new Float64Array(BATCH));
  const witness = testimony(dims, modelPairs(dims), rows, BATCH, philoxRounds)(hearingOf(task, part));
  let step = witness.next();
  while (!step.done) {
    const n = step.value;
    const points = new Float64Array(dims * n);
    rows.forEach((row, d) => {
      points.set(row.subarray(0, n), d * n);
    });
    const values = await evaluate(points, n);
    const [first, results] = [(task.result ?? 0) * n, values.length / n];
    step = witness.next(results > 1 ? Float64Array.from({ length: n }, (_, i) => values[first + i]) : values);
  }
  return step.value;
}
