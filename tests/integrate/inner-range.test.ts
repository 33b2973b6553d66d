/** The ends of ranges: no point lies on one, and nothing is lost for it. Device by device: 'ends' in tests/devices/suite.ts. */
import { describe, expect, test } from 'vitest';
import { type Integrand, integrate } from '../../src/index.ts';
import type { Range } from '../../src/integrand/domain.ts';
import { innerRange, nextDown, nextUp, volumeExcess } from '../../src/integrand/inner-range.ts';
import { METHOD_NAMES } from '../../src/methods/names.ts';

const SMALLEST = 2 ** -1022;

describe('innerRange', () => {
  test.each<[Range, Range]>([
    [
      [0, 1],
      [SMALLEST, 1 - 2 ** -53],
    ],
    [
      [-1, 0],
      [-1 + 2 ** -53, -SMALLEST],
    ],
    [
      [1, 2],
      [1 + 2 ** -52, 2 - 2 ** -52],
    ],
    [
      [-2, -1],
      [-2 + 2 ** -52, -1 - 2 ** -52],
    ],
  ])('%j without its ends', (range, inner) => expect(innerRange(range)).toEqual(inner));
  test.each<[Range]>([[[1, 1 + 2 ** -52]], [[1, 1 + 2 ** -51]], [[0, 1e-310]]])(
    '%j has fewer than two numbers inside: it stays as it is',
    range => expect(innerRange(range)).toEqual(range),
  );
  test('nextUp and nextDown are the neighbours, away from 0', () => {
    for (const x of [1e-300, 0.1, 1, 3, 1e16, 1e300, -0.1, -1, -1e16]) {
      expect(nextUp(x)).toBeGreaterThan(x);
      expect(x + (nextUp(x) - x) / 2 === x || x + (nextUp(x) - x) / 2 === nextUp(x)).toBe(true);
      expect(nextDown(nextUp(x))).toBe(x);
    }
    expect([nextUp(0), nextDown(0), nextUp(-0)]).toEqual([SMALLEST, -SMALLEST, SMALLEST]);
  });
  test('volumeExcess: 1.1e-16 per axis of the unit cube, 2/n for a range of n + 2 last bits', () => {
    expect(volumeExcess(Array(10).fill([0, 1]))).toBeCloseTo(10 * 2 ** -53, 29);
    expect(volumeExcess([[1, 1 + 10 * 2 ** -52]])).toBe(2 / 8);
  });
});

describe('a constant', () => {
  test.each(['pagani', 'cuhre', 'two-phase'] as const)(
    '%s: exactly 1 over the unit interval and square',
    async method => {
      for (const dims of [1, 2]) expect((await integrate(() => 1, { dims, method })).value).toBe(1);
    },
  );
  test.each(METHOD_NAMES.map(m => [m]))(
    '%s: over ranges of 4e5 and 1e6 last bits, true to rounding or within 4 errors',
    async method => {
      const domain: Range[] = [
        [1, 1 + 1e-10],
        [-5, -5 + 1e-9],
      ];
      const r = await integrate(() => 3, { domain, method, maxEvaluations: 1e6 });
      const truth = 3 * (domain[0][1] - domain[0][0]) * (domain[1][1] - domain[1][0]);
      expect(r.status).toBe('converged');
      // bins of a map are a few hundred last bits wide here, and their widths are rounded
      expect(Math.abs(r.value - truth)).toBeLessThan(4 * r.error + 1e-13 * truth);
    },
  );
});

describe('an integrand that is infinite at an end', () => {
  const cases: [string, Integrand, Range, number, number][] = [
    ['1/√(1 − x²) on [0, 1] to 1e-8', ([x]) => 1 / Math.sqrt(1 - x * x), [0, 1], 1e-8, Math.PI / 2],
    ['(1 − x)^-0.9 on [0, 1]', ([x]) => (1 - x) ** -0.9, [0, 1], 1e-3, 10],
    [
      '1/√|x − 0.5| on [0.5, 1] to 1e-9',
      ([x]) => 1 / Math.sqrt(Math.abs(x - 0.5)),
      [0.5, 1],
      1e-9,
      Math.SQRT2,
    ],
    [
      '√(x − 1)⁻¹·e^(1 − x) on [1, ∞) to 1e-9',
      ([x]) => Math.exp(1 - x) / Math.sqrt(x - 1),
      [1, Infinity],
      1e-9,
      Math.sqrt(Math.PI),
    ],
    [
      '(3 − x)^-0.7·e^(x − 3) on (−∞, 3]',
      ([x]) => (3 - x) ** -0.7 * Math.exp(x - 3),
      [-Infinity, 3],
      1e-3,
      2.99156898768759,
    ],
    ['1/(1 − x) on [0, 1], which has no integral', ([x]) => 1 / (1 - x), [0, 1], 1e-3, Number.NaN],
  ];
  test.each(cases.flatMap(c => METHOD_NAMES.map(m => [m, ...c] as const)))(
    '%s, %s: converges, or stops with an error that holds the truth; never throws',
    async (method, _, f, range, relTol, truth) => {
      const r = await integrate(f, { domain: [range], method, relTol, maxEvaluations: 1e6 });
      expect(r.nonFinite).toBe(0);
      if (Number.isNaN(truth)) {
        expect(r.converged).toBe(false);
        expect([r.error, r.warnings.at(-1)]).toEqual([Infinity, expect.stringMatching(/may not exist/)]);
      } else {
        if (r.converged) expect(Math.abs(r.value - truth)).toBeLessThan(4 * relTol * truth);
        if (['pagani', 'cuhre', 'two-phase'].includes(method)) {
          expect(['converged', 'roundoff', 'budget']).toContain(r.status);
          expect(Math.abs(r.value - truth)).toBeLessThan(r.error);
        }
      }
    },
  );
  test('(1 − x)^-0.9: what lies closer to 1 than the last number, a fortieth of the integral, is part of the error', async () => {
    for (const method of ['auto', 'pagani', 'vegas+'] as const) {
      const r = await integrate(([x]) => (1 - x) ** -0.9, { dims: 1, method, maxEvaluations: 2e6 });
      expect(r.status).toBe('roundoff');
      expect(r.warnings.at(-1)).toMatch(
        /^the integrand is infinite at an end of domain\[0\], .* may come to 0\.\d+;/,
      );
      expect(r.error).toBeGreaterThan(0.25);
      expect(Math.abs(r.value - 10)).toBeLessThan(r.error);
    }
  });
});
