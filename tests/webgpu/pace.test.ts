import { afterEach, expect, test, vi } from 'vitest';
import { Pace } from '../../src/devices/webgpu/pace.ts';

afterEach(() => vi.restoreAllMocks());

/** What the pace is after an item of so many evaluations each took so many milliseconds, by a clock of its own. */
async function after(items: [evaluations: number, ms: number][]): Promise<number> {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const pace = new Pace();
  for (const [evaluations, ms] of items) {
    const last = await pace.runBut(null!, 1, evaluations, 1, null!, () => {}, undefined);
    now += ms;
    last.done();
  }
  return pace.evaluations;
}

const QUICK: [number, number][] = Array.from({ length: 8 }, () => [5e8, 25]);

test('a pilot that waits 2 ms for something else cuts the next dispatch by 8 at most', async () => {
  const before = await after(QUICK);
  expect(before).toBe(2e9);
  expect(await after([...QUICK, [256, 2]])).toBe(before / 8);
  expect(await after([...QUICK, [256, 0.5]])).toBe(before);
});

test('what takes longer than a dispatch may is cut at once, however much shorter it becomes', async () => {
  expect(await after([...QUICK, [256, 1000]])).toBeCloseTo(25.6);
});
