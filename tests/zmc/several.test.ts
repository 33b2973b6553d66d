/** zmc with several results: one tree for all, errors and covariances, floors of each goal, bits, states. */
import { describe, expect, test } from 'vitest';
import { type IntegrateOptions, integrate, type Result, type State } from '../../src/index.ts';
import { decode } from '../../src/tasks/wire.ts';
import { boxOf, spyDevice } from './spy.ts';

const base = {
  dims: 2,
  method: 'zmc',
  device: 'cpu:1',
  maxEvaluations: 4e6,
} as const satisfies IntegrateOptions;

/** Peaks that are narrower than a block in two places, and a wave. */
const peaks = ([x, y]: number[]) => ({
  left: 1 / (1e-4 + (x - 0.31) ** 2 + (y - 0.62) ** 2),
  right: 1e-9 / (1e-4 + (x - 0.81) ** 2 + (y - 0.23) ** 2),
  wave: Math.cos(9 * x + y),
});
const waves = ([x, y]: number[]) => [Math.cos(20 * x + 3 * y), Math.sin(20 * x + 3 * y) ** 2, x * y];
const WAVES = [
  (Math.cos(20) + Math.cos(3) - Math.cos(23) - 1) / 60, // ∫∫ cos(ax + by) = (cos a + cos b − cos(a + b) − 1)/(ab)
  0.5 - (Math.cos(40) + Math.cos(6) - Math.cos(46) - 1) / 480,
  0.25,
];
const bits = ({ elapsed: _, ...r }: Result<number[]>) => ({ ...r });
const stored = (state: State | undefined): State => structuredClone(JSON.parse(JSON.stringify(state)));
const nodesOf = (r: { state?: State }) =>
  decode<{ nodes: { box: [number, number][] }[] }>(r.state!.record).nodes;

describe('the tree', () => {
  test('blocks are cut for each of the results, whatever its size, or for those that it learns from', async () => {
    const holds = (r: { state?: State }, at: number[]) =>
      nodesOf(r)
        .slice(1)
        .some(({ box }) => box.every(([low, high], d) => low <= at[d] && at[d] <= high));
    const both = await integrate(peaks, { ...base, relTol: 1e-2 });
    expect([holds(both, [0.31, 0.62]), holds(both, [0.81, 0.23])]).toEqual([true, true]);
    const one = await integrate(peaks, { ...base, relTol: 1e-2, learnFrom: 'right' });
    expect([holds(one, [0.31, 0.62]), holds(one, [0.81, 0.23])]).toEqual([false, true]);
  });
  test('values and errors are those of runs for each result, within 4 errors', async () => {
    const r = await integrate(peaks, { ...base, relTol: 3e-3 });
    expect(r.converged).toBe(true);
    for (const name of ['left', 'right', 'wave'] as const) {
      const alone = new Function('x', `return (${peaks})(x).${name}`) as (x: number[]) => number;
      const own = await integrate(alone, { ...base, relTol: 3e-3, seed: 2 });
      const off = Math.abs(r.value[name] - own.value) / Math.hypot(r.error[name], own.error);
      expect(off, name).toBeLessThan(4);
      expect(r.error[name], name).toBeLessThan(3e-3 * Math.abs(own.value) * 1.1);
      expect(r.q[name]).toBeGreaterThan(0);
    }
  });
  test('blocks that are cut are not sampled again with the others: a pass covers the domain once', async () => {
    const device = spyDevice();
    const r = await integrate(peaks, { ...base, relTol: 3e-2, device });
    expect(nodesOf(r).length).toBeGreaterThan(1);
    // the tasks of the last pass are the last ones whose boxes add up to the whole domain
    let [area, tasks] = [0, 0];
    for (const task of device.tasks.toReversed()) {
      area += boxOf(task).reduce((v, [low, high]) => v * (high - low), 1);
      tasks++;
      if (area > 1 - 1e-9) break;
    }
    expect(area).toBeCloseTo(1, 9);
    expect(tasks).toBeGreaterThan(nodesOf(r).length);
    await device.close();
  });
});

test('pulls of three results and of a ratio over 100 seeds: mean 0 ± 0.35, deviation 0.8 to 1.25; covariances are those of the scatter', async () => {
  const values: number[][] = [[], [], []];
  const pulls: number[][] = [[], [], [], []];
  let reported = 0;
  for (let seed = 1; seed <= 100; seed++) {
    const r = await integrate(waves, { ...base, maxEvaluations: 3e4, relTol: 0, seed });
    WAVES.forEach((truth, i) => {
      values[i].push(r.value[i]);
      pulls[i].push((r.value[i] - truth) / r.error[i]);
    });
    const ratio = r.of(v => v[0] / v[1]);
    pulls[3].push((ratio.value - WAVES[0] / WAVES[1]) / ratio.error);
    reported += r.correlation()[0][1] / 100;
  }
  const mean = (list: number[]) => list.reduce((a, b) => a + b, 0) / list.length;
  const covariance = (a: number[], b: number[]) => {
    const [ma, mb] = [mean(a), mean(b)];
    return a.reduce((s, v, i) => s + (v - ma) * (b[i] - mb), 0) / (a.length - 1);
  };
  for (const [i, list] of pulls.entries()) {
    expect(Math.abs(mean(list)), `${i}`).toBeLessThan(0.35);
    expect(Math.sqrt(covariance(list, list)), `${i}`).toBeGreaterThan(0.8);
    expect(Math.sqrt(covariance(list, list)), `${i}`).toBeLessThan(1.25);
  }
  const [a, b] = values;
  const scatter = covariance(a, b) / Math.sqrt(covariance(a, a) * covariance(b, b));
  expect(Math.abs(reported - scatter)).toBeLessThan(4 / Math.sqrt(100)); // one deviation of a correlation is at most 1/√n
});

describe('claims', () => {
  test('a goal whose step hides from all samples has an error that allows for it, beside one without steps', async () => {
    // the step lies in the last ten-thousandth of a block: in most runs no sample is beyond it, and all others of the block agree
    const f = ([x]: number[]) => [x, x < 0.5 - 1e-5 ? 1 : 3];
    const wrong: number[] = [];
    let claims = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const r = await integrate(f, {
        ...base,
        dims: 1,
        relTol: 1e-3,
        maxEvaluations: 1e5,
        zmc: { blocks: 10 },
        seed,
      });
      if (!r.converged) continue;
      claims++;
      const off = Math.abs(r.value[1] - (2 + 2e-5)) / r.error[1];
      if (off > 5) wrong.push(seed);
    }
    expect(wrong).toEqual([]);
    expect(claims).toBeGreaterThan(20);
  });
  test('only goals have to meet the tolerance; one that is 0 everywhere hinders nobody', async () => {
    const f = ([x, y]: number[]) => ({ easy: 1 + x * y, hard: Math.sin(300 * x * y), none: 0 * x });
    const easy = await integrate(f, { ...base, relTol: 1e-3, goals: ['easy', 'none'] });
    expect(easy.converged).toBe(true);
    const all = await integrate(f, { ...base, relTol: 1e-6, maxEvaluations: 1e6 });
    expect(all.converged).toBe(false);
  });
  test('a result that cancels is named', async () => {
    const f = ([x]: number[]) => ({ re: Math.cos(x), im: Math.sin(20 * (x - 0.5)) });
    const r = await integrate(f, { ...base, dims: 1, maxEvaluations: 1e5 });
    expect(r.converged).toBe(false);
    expect(r.warnings.join()).toMatch(/im: 0 within the error.*absTol.*goals/);
  });
  test('results of 1e-150 and 1e150 have one tree, and true errors', async () => {
    const f = ([x, y]: number[]) => [
      1e-150 * Math.exp(x * y),
      1e150 / (1e-4 + (x - 0.3) ** 2 + (y - 0.6) ** 2),
    ];
    const r = await integrate(f, { ...base, relTol: 1e-2 });
    expect(r.converged).toBe(true);
    expect(Math.abs(r.value[0] - 1.317902151454404e-150) / r.error[0]).toBeLessThan(5); // Ei(1) − γ
    expect(nodesOf(r).length).toBeGreaterThan(1);
  });
  test('the budget is kept, and a deadline', async () => {
    for (const maxEvaluations of [1000, 5000, 1e5]) {
      const r = await integrate(peaks, { ...base, relTol: 1e-9, maxEvaluations });
      expect(r.evaluations).toBeLessThanOrEqual(maxEvaluations);
    }
    const r = await integrate(peaks, { ...base, relTol: 1e-9, maxEvaluations: 1e12, maxTime: 300 });
    expect(r.status).toBe('time');
    expect(r.error.left).toBeGreaterThan(0);
  });
});

describe('everywhere', () => {
  test('40 results, in three passes over the same points', async () => {
    const f = ([x, y]: number[]) => {
      const list = Array(40).fill(0);
      for (let i = 0; i < 40; i++) list[i] = (1 + i) * x + y * i;
      return list;
    };
    const r = await integrate(f, { ...base, zmc: { blocks: 20 }, maxEvaluations: 1e6, relTol: 1e-2 });
    expect(r.converged).toBe(true);
    r.value.forEach((v, i) => {
      expect(Math.abs(v - (1 + 2 * i) / 2) / r.error[i], `${i}`).toBeLessThan(5);
    });
    expect(r.covariance(3, 5)).toBeGreaterThan(0);
  });
  test('the calling thread and three workers give the same bits, plain functions the same to rounding', async () => {
    const run = (device: string) => integrate(peaks, { ...base, relTol: 3e-2, device });
    const [a, b] = [await run('cpu:1'), await run('cpu:3')];
    expect(b.value).toEqual(a.value);
    expect(b.correlations).toEqual(a.correlations);
    const small = { ...base, zmc: { blocks: 9 }, maxEvaluations: 5e4, relTol: 1e-2 };
    const js = await integrate(waves, { ...small, device: 'js' });
    const cpu = await integrate(waves, small);
    expect(js.value[0]).toBeCloseTo(cpu.value[0], 10);
  });
  test('a run to a tolerance, resumed to a third of it, has the bits of one run', async () => {
    const options = { ...base, absTol: 3e-5, relTol: 0, zmc: { blocks: 31 } };
    const rough = await integrate(waves, { ...options, absTol: 1e-4 });
    const whole = await integrate(waves, options);
    expect(whole.evaluations).toBeGreaterThan(rough.evaluations);
    const resumed = await integrate(waves, { ...options, resume: stored(rough.state) });
    expect(bits(resumed)).toEqual(bits(whole));
    expect(resumed.state).toEqual(whole.state);
    const other = { ...options, goals: [0] };
    const again = await integrate(waves, { ...other, resume: stored(rough.state) });
    expect(bits(again)).toEqual(bits(await integrate(waves, other)));
  });
});
