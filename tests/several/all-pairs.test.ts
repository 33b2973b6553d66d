/** `covariance: 'all'`: covariances between results of different passes, against the scatter of runs with many seeds. */
import { describe, expect, test } from 'vitest';
import { integrate } from '../../src/index.ts';
import { pairedBlocks } from '../../src/tasks/correlation.ts';

/** 20 results, in two passes of 16 and 4, or in three of 16, 12 and 12. */
const powers = ([x, y]: number[]) => {
  const list = Array(20).fill(0);
  for (let i = 0; i < 20; i++) list[i] = x ** (i / 8) * y + (i % 2 === 0 ? y * y : 1 - y * y);
  return list;
};
const base = { dims: 2, method: 'vegas+', covariance: 'all', device: 'cpu:1' } as const;

test.each([17, 24, 40, 64, 128])('every two of %d results are together in a pass of at most 16', count => {
  const together = new Set<string>();
  const blocks = pairedBlocks(count);
  for (const block of blocks) {
    expect(block.length).toBeLessThanOrEqual(16);
    for (const a of block) for (const b of block) together.add(`${a} ${b}`);
  }
  expect(together.size).toBe(count * count);
  const halves = Math.ceil(count / 8);
  expect(blocks).toHaveLength((halves * (halves - 1)) / 2);
});

describe('more than 16 results with covariance: all', () => {
  test.each(['plain', 'vegas+'] as const)(
    '%s: covariances of 20 results are those of the scatter of 200 runs, and so is the error of a ratio',
    async method => {
      const pairs = [
        [0, 19],
        [3, 17],
        [15, 16],
        [1, 2],
      ];
      const runs = 200;
      const said = pairs.map(() => 0);
      const values: number[][] = [];
      let ratioVariance = 0;
      const ratios: number[] = [];
      const vegas = { evaluations: 400, iterations: 4 };
      for (let seed = 1; seed <= runs; seed++) {
        const r = await integrate(powers, {
          ...base,
          method,
          seed,
          relTol: 1e-9,
          maxEvaluations: 4000,
          vegas,
        });
        values.push(r.value);
        pairs.forEach(([a, b], i) => {
          said[i] += r.correlation()[a][b] / runs;
        });
        const ratio = r.of(v => v[2] / v[18]);
        ratioVariance += ratio.error ** 2 / runs;
        ratios.push(ratio.value);
      }
      const mean = (list: number[]) => list.reduce((s, v) => s + v / list.length, 0);
      const covariance = (a: number, b: number) => {
        const [own, other] = [a, b].map(k => mean(values.map(v => v[k])));
        return mean(values.map(v => (v[a] - own) * (v[b] - other)));
      };
      pairs.forEach(([a, b], i) => {
        const scatter = covariance(a, b) / Math.sqrt(covariance(a, a) * covariance(b, b));
        // the standard deviation of a correlation of 200 pairs is (1 − ρ²)/√200, at most 0.071
        expect(Math.abs(said[i] - scatter), `${a}, ${b}: ${said[i]}, ${scatter}`).toBeLessThan(0.2);
      });
      const scatter = Math.sqrt(mean(ratios.map(v => (v - mean(ratios)) ** 2)));
      expect(Math.sqrt(ratioVariance) / scatter).toBeGreaterThan(0.8);
      expect(Math.sqrt(ratioVariance) / scatter).toBeLessThan(1.25);
    },
  );
  test('lattice knows all covariances, too', async () => {
    const r = await integrate(powers, { ...base, method: 'lattice', relTol: 1e-3 });
    expect(r.correlation().flat().every(Number.isFinite)).toBe(true);
    expect(r.of(v => v[0] + v[18]).error).toBeLessThan(r.error[0] + r.error[18]);
  });
  test('values and errors are those of the passes without it, to the bit', async () => {
    const own = { ...base, relTol: 1e-2, seed: 5 } as const;
    const all = await integrate(powers, own);
    const passes = await integrate(powers, { ...own, covariance: 'passes' });
    expect([all.value, all.error]).toEqual([passes.value, passes.error]);
    expect(all.correlation().flat().every(Number.isFinite)).toBe(true);
    expect(passes.covariance(0, 19)).toBeNaN();
    // within a pass both know the same
    expect(all.covariance(3, 5)).toBeCloseTo(passes.covariance(3, 5), 12);
    // the sum of errors is the most that the error can be
    expect(all.of(v => v[0] + v[19]).error).toBeLessThan(passes.of(v => v[0] + v[19]).error);
  });
  test('a run goes on with the bits of an uninterrupted one, and not with other covariances', async () => {
    const first = await integrate(powers, { ...base, relTol: 1e-2 });
    const whole = await integrate(powers, { ...base, relTol: 2e-3 });
    const resumed = await integrate(powers, { ...base, relTol: 2e-3, resume: first.state! });
    expect([resumed.value, resumed.correlation()]).toEqual([whole.value, whole.correlation()]);
    await expect(integrate(powers, { ...base, covariance: 'passes', resume: first.state! })).rejects.toThrow(
      /other `goals`, `learnFrom` or `covariance`/,
    );
  });
  test('zmc and more than 128 results refuse it', async () => {
    await expect(integrate(powers, { ...base, method: 'zmc' })).rejects.toThrow(
      /`covariance` is 'all'; .*vegas\+/,
    );
    const many = ([x]: number[]) => Array(129).fill(x);
    await expect(integrate(many, { ...base, dims: 1 })).rejects.toThrow(
      /129 results.*136 passes.*at most 128/,
    );
  });
  test('values that are not finite are counted once each', async () => {
    const f = ([x]: number[]) => {
      const list = Array(20).fill(x);
      list[3] = x > 0.5 ? 1 / 0 : x;
      return list;
    };
    const own = {
      dims: 1,
      method: 'plain',
      onNonFinite: 'zero',
      vegas: { evaluations: 2000, iterations: 2 },
    } as const;
    const counts = await Promise.all(
      (['passes', 'all'] as const).map(
        async covariance => (await integrate(f, { ...own, covariance })).nonFinite,
      ),
    );
    expect(counts[0]).toBeGreaterThan(100);
    expect(counts[1]).toBe(counts[0]);
  });
});
