/** Sums of the card beside those of the CPU. */
import { expect } from 'vitest';
import type { RegionSums, SampleSums } from '../../src/devices/device.ts';

const largest = (list: Float64Array) => list.reduce((m, v) => Math.max(m, Math.abs(v)), 0);

/** The worst difference of two lists, relative to the largest number of the second. */
function apart(own: Float64Array | null, want: Float64Array | null): number {
  expect(own?.length).toBe(want?.length);
  if (!own || !want) return 0;
  const most = largest(want) || 1;
  return want.reduce((worst, v, i) => Math.max(worst, Math.abs(v - own[i]) / most), 0);
}

/** Sum, variance, cubes and histogram within 1e-11; a square may be rounded to the next integer. */
export function expectSameSums(own: SampleSums, want: SampleSums): void {
  expect(own.evaluations).toBe(want.evaluations);
  const size = Math.sqrt(want.variance) + Math.abs(want.sum) || 1;
  expect(Math.abs(own.sum - want.sum) / size, 'sum').toBeLessThan(1e-11);
  expect(Math.abs(own.variance - want.variance) / (want.variance || 1), 'variance').toBeLessThan(1e-11);
  expect(
    Math.abs(own.concentration - want.concentration) / (want.concentration || 1),
    'concentration',
  ).toBeLessThan(1e-11);
  expect(apart(own.means, want.means), 'means').toBeLessThan(1e-11);
  expect(apart(own.variances, want.variances), 'variances').toBeLessThan(1e-11);
  expect(own.histogram?.length).toBe(want.histogram?.length);
  const slack = want.histogram ? 1e-11 * largest(want.histogram) + 2 : 0;
  want.histogram?.forEach((v, i) => {
    if (!(Math.abs(v - own.histogram![i]) <= slack)) expect(own.histogram![i], `bin ${i}`).toBe(v);
  });
  expect(own.nonFinite?.count).toBe(want.nonFinite?.count);
}

/** Values within 1e-12 of the largest; errors within 1e-9 of themselves, where they are not rounding. */
export function expectSameRegions(own: RegionSums, want: RegionSums): void {
  expect(apart(own.values, want.values), 'values').toBeLessThan(1e-12);
  const most = largest(want.values);
  want.errors.forEach((e, i) => {
    expect(Math.abs(own.errors[i] - e), `error of region ${i}`).toBeLessThanOrEqual(1e-9 * e + 1e-13 * most);
  });
  expect(own.nonFinite?.count).toBe(want.nonFinite?.count);
}
