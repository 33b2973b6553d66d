/** Pulls of random pairs and triples of integrands by every method: a short run of `npm run bench:several -- --pulls`. */
import { afterAll, expect, test } from 'vitest';
import { moments, PULLED, pullsOf } from './random-pulls.ts';

const TRIALS = 100;
/**
 * Normal deviations have a distance beyond this once in 1e7 runs. In one dimension a step that passes beside all samples of its stratum
 * makes such a run, once in a few hundred: it is the one thing in which results that are correlated to 0.97 differ.
 */
const FAR = 8;
const table: Record<string, string> = {};
afterAll(() => console.table(table));

test.each(PULLED)(
  `${TRIALS} random trials of %s: pulls, ratios and the whole covariance are true`,
  async method => {
    const { pulls, ratios, distances, wrong, warned } = await pullsOf(method, 20_000, TRIALS);
    const [own, ratio] = [moments(pulls), moments(ratios)];
    const far = distances.filter(d => d.own > FAR).length;
    const distance = moments(distances.map(d => Math.min(FAR, d.own))).mean;
    const shown = ({ mean, deviation }: typeof own) => `${mean.toFixed(2)} ± ${deviation.toFixed(2)}`;
    table[method] =
      `pulls ${shown(own)}, ratios ${shown(ratio)}, distance ${distance.toFixed(2)}, ${warned} warned`;
    expect(wrong).toEqual([]);
    expect(warned).toBeLessThan(0.5 * TRIALS);
    // of about 200 pulls of 100 runs the mean has a deviation of 0.1, their deviation one of 0.07
    for (const { mean, deviation } of [own, ratio]) {
      expect(Math.abs(mean)).toBeLessThan(0.35);
      expect(deviation).toBeGreaterThan(0.75);
      expect(deviation).toBeLessThan(1.3);
    }
    // χ² of n degrees of freedom, divided by n, has a variance of 2/n: of 80 runs or more the mean deviates by about 0.11
    expect(distance).toBeGreaterThan(0.65);
    expect(distance).toBeLessThan(1.45);
    expect(far).toBeLessThanOrEqual(1);
  },
);
