/** The host's selection of the regions with the largest errors by the counts of a card, against a sorted list. */
import { expect, test } from 'vitest';
import { Card } from '../../src/devices/cuda/card.ts';
import { selectLargest, TOLD } from '../../src/devices/cuda/survey.ts';
import { integrate } from '../../src/index.ts';
import { Random } from '../compiler/random.ts';
import { absent } from './emulated.ts';

/** The bucket of a number, as kernels/pool.cu has it: the first 16 bits of a float64. */
const bucketOf = (x: number) => new DataView(Float64Array.of(x).buffer).getUint16(6, true);

function countsOf(errors: readonly number[], sum: number): Uint32Array {
  const counts = new Uint32Array(TOLD);
  for (const error of errors) {
    const b = bucketOf(sum) - bucketOf(error);
    if (error > 0 && b < TOLD) counts[b]++;
  }
  return counts;
}

test('1,000 lists of errors: all that reach the threshold are counted, they sum to the part, and without the last bucket they would not', () => {
  const random = new Random(12);
  for (let run = 0; run < 1000; run++) {
    const spread = 40 * random.unit();
    const errors = Array.from({ length: 1 + Math.floor(300 * random.unit()) }, () =>
      random.unit() < 0.1 ? 0 : Math.exp(spread * (random.unit() - 0.5) - 600 * (run % 2)),
    );
    const sum = errors.reduce((a, b) => a + b, 0);
    if (sum === 0) continue;
    const part = Math.max(Number.MIN_VALUE, random.unit() * 0.9 * sum);
    const { threshold, count } = selectLargest(countsOf(errors, sum), sum, part);
    const selected = errors.filter(e => e >= threshold);
    expect(selected.length).toBe(count);
    expect(selected.reduce((a, b) => a + b, 0)).toBeGreaterThanOrEqual(part);
    // a number is less than 17/16 of the smallest one of its bucket
    const without = selected.filter(e => bucketOf(e) > bucketOf(threshold)).reduce((a, b) => a + b, 0);
    expect((16 / 17) * without).toBeLessThan(part);
  }
});

test('errors that do not reach the part are all selected, and not counted; so are those of which all are 0', () => {
  expect(selectLargest(countsOf([1, 2, 3], 6), 6, 7)).toEqual({ threshold: Number.MIN_VALUE, count: null });
  expect(selectLargest(new Uint32Array(TOLD), 0, Number.MIN_VALUE).count).toBeNull();
});

/** A run of `pagani` on the card, and how often it waited for the card; the run before it has compiled the kernels. */
async function waitsOf(f: (x: number[]) => number, dims: number, relTol: number) {
  const run = () => integrate(f, { dims, method: 'pagani', device: 'cuda', relTol });
  await run();
  const { finished } = Card.prototype;
  let waits = 0;
  Card.prototype.finished = function (...args) {
    waits++;
    return finished.apply(this, args);
  };
  try {
    return { result: await run(), waits };
  } finally {
    Card.prototype.finished = finished;
  }
}

test.skipIf(absent)('an iteration of `pagani` waits for the card once, and a claim three times', async () => {
  const { result, waits } = await waitsOf(([x, y, z]) => (1 + x + 2 * y + 3 * z) ** -4, 3, 1e-6);
  expect(result.converged).toBe(true);
  // the regions at the start, one wait per iteration, two looks and the witnesses
  expect(waits).toBeLessThanOrEqual(1 + result.iterations.length + 3);
});

test.skipIf(absent)(
  'where every axis was halved as often, nothing looks across borders: a claim waits once, all halvings before it together once, and scouts about a few regions once',
  async () => {
    // the rule is exact, so that no look along all axes is needed either
    const { result, waits } = await waitsOf(([x, y, z]) => x * y + z, 3, 1e-6);
    expect(result.converged).toBe(true);
    expect(result.iterations.length).toBeGreaterThan(1);
    expect(waits).toBe(1 + 1 + 1 + 1);
  },
);
