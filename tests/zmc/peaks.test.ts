/** A peak is found wherever it is: in corners, on edges and faces, in the middle. A wrong numbering would miss it. */
import { afterAll, describe, expect, test } from 'vitest';
import { type Integrand, integrate } from '../../src/index.ts';
import { innerRange } from '../../src/integrand/inner-range.ts';
import { STREAM } from '../../src/random/philox.ts';
import { boxOf, spyDevice } from './spy.ts';

const device = spyDevice();
afterAll(() => device.close());

/** exp(−Σ((x − c)/w)²), whose integral over the unit cube is a product of √π·w, half of it on the border. */
const peak: Integrand = (x: number[], p) => {
  let s = 0;
  for (let i = 0; i < x.length; i++) s += ((x[i] - p.at[i]) / p.width) ** 2;
  return Math.exp(-s);
};
const truthOf = (at: readonly number[], width: number) =>
  at.reduce((t, c) => t * Math.sqrt(Math.PI) * width * (c === 0 || c === 1 ? 0.5 : 1), 1);

/** Whether a point is in a box or beside it: a box at an end of the domain begins at the first number inside. */
const holds = (box: readonly (readonly [number, number])[], at: readonly number[]): boolean =>
  box.every(([low, high], d) => low - 1e-15 <= at[d] && at[d] <= high + 1e-15);

/** All points with these coordinates on each axis. */
const grid = (dims: number, values: number[]): number[][] =>
  dims === 0 ? [[]] : grid(dims - 1, values).flatMap(p => values.map(v => [...p, v]));

describe.each([
  // blocks an axis, width of the peak, samples
  [1, 45, 1e-3, 64, grid(1, [0, 0.5, 1])],
  [2, 9, 0.01, 128, grid(2, [0, 0.5, 1])],
  [3, 5, 0.03, 128, grid(3, [0, 0.5, 1])],
  [4, 3, 0.08, 512, [...grid(4, [0, 1]), [0.5, 0.5, 0.5, 0.5], [0, 0.5, 1, 0.5]]],
] as const)(
  '%i dimensions, %i blocks an axis, a peak of width %d',
  (dims, blocks, width, samples, positions) => {
    test.each(positions.map(at => [at.join(', '), at] as const))(
      'at (%s): boxes around it are searched, the value is true within 4.5 errors of 1 per cent',
      async (_, at) => {
        device.tasks.length = 0;
        const r = await integrate(peak, {
          dims,
          method: 'zmc',
          device,
          params: { at: Float64Array.from(at), width },
          relTol: 1e-2,
          maxEvaluations: 2e7,
          zmc: { blocks, samples, depth: 3 },
        });
        expect(r.status, `${r}`).toBe('converged');
        expect(r.error).toBeLessThanOrEqual(1e-2 * r.value);
        expect(Math.abs(r.value - truthOf(at, width))).toBeLessThanOrEqual(4.5 * r.error);
        const searched = device.tasks.filter(t => t.stream === STREAM.search).map(boxOf);
        expect(searched.length).toBeGreaterThan(5);
        expect(searched[0]).toEqual(at.map(() => innerRange([0, 1])));
        // blocks next to the peak's may be cut as well; one of those that are holds the peak
        const inside = searched.filter(box => box[0][1] - box[0][0] < 0.9);
        expect(inside.length % 5).toBe(0);
        expect(inside.some(box => holds(box, at))).toBe(true);
        for (const box of inside)
          expect(box.every(([low, high], d) => low - 8 * width <= at[d] && at[d] <= high + 8 * width)).toBe(
            true,
          );
      },
    );
  },
);

// the paper's blocks are equal: nothing else tells the axes apart
test.each([
  [0.07, 0.5, 0.93],
  [0.93, 0.07, 0.5],
  [0.5, 0.93, 0.07],
])('a peak at (%d, %d, %d) in a box with sides 1, 2 and 4: the boxes are cut there', async (...at) => {
  device.tasks.length = 0;
  const sides = [1, 2, 4];
  const place = at.map((c, d) => c * sides[d] - d);
  const width = 0.03;
  const r = await integrate(
    ([x, y, z], p) =>
      Math.exp(-(((x - p.at[0]) / 0.03) ** 2) - ((y - p.at[1]) / 0.06) ** 2 - ((z - p.at[2]) / 0.12) ** 2),
    {
      domain: sides.map((s, d) => [-d, s - d] as const),
      method: 'zmc',
      device,
      params: { at: Float64Array.from(place) },
      relTol: 1e-2,
      maxEvaluations: 2e7,
      zmc: { blocks: 7, samples: 64, depth: 2 },
    },
  );
  // 0.07 is 2.33 widths from the border
  const truth = Math.PI ** 1.5 * width ** 3 * 8 * (1 - 0.5 * erfc(0.07 / width)) ** 2;
  expect(r.status).toBe('converged');
  expect(Math.abs(r.value - truth)).toBeLessThanOrEqual(4.5 * r.error);
  const cut = device.tasks.filter(t => t.stream === STREAM.blocks).map(boxOf);
  const inside = cut.filter(box => box[0][1] - box[0][0] < 0.9);
  expect(inside.some(box => holds(box, place))).toBe(true);
});

/** Of 2.33, to six digits. */
function erfc(x: number): number {
  let s = 0;
  for (let k = 0; k < 20_000; k++) s += Math.exp(-((x + (k + 0.5) * 5e-4) ** 2)) * 5e-4;
  return (2 / Math.sqrt(Math.PI)) * s;
}
