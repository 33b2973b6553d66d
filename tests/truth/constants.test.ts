/**
 * The error of a constant is rounding alone: the value is within three errors of the volume times the constant, which is
 * known exactly as a fraction. Ranges whose widths are no round binary numbers, and ranges far from 0, whose bins have
 * rounded widths.
 */
import { type Integrand, integrate } from 'quadrille';
import { describe, expect, test } from 'vitest';

const RANGES = [
  [0, 1],
  [0, 0.1],
  [0, 1e-3],
  [1, 1.1],
  [-1, 0.7],
  [100, 100.1],
  [1e6, 1e6 + 1],
  [0, 1e-30],
  [-1e10, 1 / 3],
] as const;
const CONSTANTS: [number, Integrand][] = [
  [1, () => 1],
  [0.1, () => 0.1],
  [-3, () => -3],
];

/** A number as a fraction of integers. */
function fraction(x: number): [bigint, bigint] {
  let denominator = 1n;
  for (; !Number.isInteger(x); x *= 2) denominator *= 2n;
  return [BigInt(x), denominator];
}

/** (value − constant·(high − low)^dims) / |that|, without rounding. */
function offBy(value: number, constant: number, low: number, high: number, dims: number): number {
  const [[vn, vd], [cn, cd], [an, ad], [bn, bd]] = [value, constant, low, high].map(fraction);
  const n = BigInt(dims);
  const [numerator, denominator] = [cn * (bn * ad - an * bd) ** n, cd * (ad * bd) ** n];
  const [difference, size] = [vn * denominator - numerator * vd, numerator * vd];
  return Number((difference * 10n ** 30n) / size) / 1e30;
}

describe.each(['plain', 'vegas+', 'mcubes', 'mcubes1d', 'zmc'] as const)('%s', method => {
  test.each([
    ['cpu', [1, 2, 3, 5, 10], CONSTANTS],
    ['js', [1, 3], CONSTANTS.slice(0, 1)],
  ] as const)(
    'on %s: constants over many ranges are within 3 errors, to 1e-12 or as numbers in the range allow',
    async (device, all, constants) => {
      for (const dims of all)
        for (const [low, high] of RANGES)
          for (const [constant, f] of constants) {
            const domain = Array(dims).fill([low, high]);
            const r = await integrate(f, { domain, method, device, maxEvaluations: 1e5 });
            const off = Math.abs(offBy(r.value, constant, low, high, dims));
            const error = r.error / Math.abs(r.value);
            const where = `${constant} over [${low}, ${high}]^${dims}: ${r.value} ± ${r.error}`;
            expect(off, where).toBeLessThanOrEqual(3 * error);
            // the ends are no points: the first and the last bin are narrower by the distance of numbers there
            const spacing = (Math.abs(high) * 2 ** -52) / (high - low);
            expect(error, where).toBeLessThan(Math.max(1e-12, spacing));
          }
    },
  );
  test('more iterations do not make the rounding smaller', async () => {
    const domain = [[0, 1e-3]] as const;
    const r = await integrate(() => 1, { domain, method, relTol: 0, maxEvaluations: 3e7 });
    expect(Math.abs(offBy(r.value, 1, 0, 1e-3, 1))).toBeLessThanOrEqual(3 * (r.error / r.value));
  });
});

/** The shelf was missed by the 29,435 samples of a run of `plain`, which claimed 1.0000000000000(2). */
test.each(['plain', 'vegas+', 'mcubes', 'mcubes1d', 'lattice', 'zmc'] as const)(
  '%s claims a constant after 65,536 samples or more, and no seed of 40 claims it where a shelf fills 1.4e-4 of the range',
  async method => {
    const options = { dims: 1, method, relTol: 1e-4, maxEvaluations: 1e6 } as const;
    const constant = await integrate(() => 1, options);
    expect(constant.converged).toBe(true);
    expect(constant.evaluations).toBeGreaterThanOrEqual(2 ** 16);
    const shelf = ([x]: number[]) => (x > 0.44773 && x < 0.447872 ? -197.577 : 1);
    const truth = 1 - 198.577 * (0.447872 - 0.44773);
    for (let seed = 1; seed <= 40; seed++) {
      const r = await integrate(shelf, { ...options, seed });
      if (r.converged) expect(Math.abs(r.value - truth), `${r}`).toBeLessThan(5 * Math.max(r.error, 1e-4));
    }
  },
);
