/** Which regions come next and which are finished: the threshold search, the worst regions, the heap. */
import { describe, expect, test } from 'vitest';
import { Heap } from '../../src/methods/cubature/heap.ts';
import { RegionStore } from '../../src/tasks/pool/store.ts';
import { thresholdFor } from '../../src/tasks/pool/threshold.ts';
import { errorFrom, regionsFrom } from '../../src/tasks/pool/worst.ts';
import { Random } from '../compiler/random.ts';

const sum = (xs: ArrayLike<number>) => Array.from(xs).reduce((a, b) => a + b, 0);

/** Errors of many sizes, some of them equal, some 0. */
function randomErrors(random: Random, count: number): Float64Array {
  return Float64Array.from({ length: count }, () => {
    if (random.chance(0.02)) return 0;
    if (random.chance(0.1)) return 2 ** -random.below(20);
    return 10 ** (-12 * random.unit() ** random.pick([1, 3])) * random.unit();
  });
}

/** Algorithm 3 of the paper, with what a tolerance leaves as the budget: every candidate applied to the whole list. */
function searched(errors: number[], budget: number): number | null {
  const [low, high] = [Math.min(...errors), Math.max(...errors)];
  let t = sum(errors) / errors.length;
  let part = 0.25;
  let turns = 0;
  let before = '';
  for (let step = 0; step < 64 && turns <= 9; step++) {
    const finished = errors.filter(e => e < t);
    const memory = finished.length >= errors.length / 2;
    if (memory && sum(finished) <= part * budget) return t;
    const way = memory ? 'down' : 'up';
    if (before && before !== way) {
      turns++;
      part = Math.min(0.95, part + 0.1);
    }
    before = way;
    t = (t + (memory ? low : high)) / 2;
  }
  return null;
}

describe('thresholdFor', () => {
  const errors = Float64Array.of(1, 2, 3, 4);
  test('starts at the average: [1, 2, 3, 4] and a budget of 12 give 2.5, below which is a quarter of it', () => {
    expect(thresholdFor(errors, 4, 12)).toBe(2.5);
  });
  test('a little less than 12: down to 1.75, which frees too little, and up to 2.875, at 35 %', () => {
    expect(thresholdFor(errors, 4, 11.99)).toBe(2.875);
  });
  test('relaxes up to 95 %: 3 of a budget of 3.16 are taken, 3 of 3.15 are not', () => {
    const t = thresholdFor(errors, 4, 3.16)!;
    expect(t > 2 && t <= 3).toBe(true);
    expect(thresholdFor(errors, 4, 3.15)).toBeNull();
  });
  test.each([0, -1, Number.NaN])('a budget of %s leaves nothing to finish', budget => {
    expect(thresholdFor(errors, 4, budget)).toBeNull();
  });
  test('equal errors cannot be told apart', () => {
    expect(thresholdFor(new Float64Array(100).fill(2 ** -10), 100, 1e9)).toBeNull();
  });
  test('what lies behind the count does not matter', () => {
    expect(thresholdFor(Float64Array.of(1, 2, 3, 4, 1e9, 1e-9, Number.NaN), 4, 12)).toBe(2.5);
  });
  test('300 random lists: the result of the search by hand; half of the regions, and 95 % of the budget at most', () => {
    const random = new Random(1);
    let [found, given] = [0, 0];
    for (let n = 0; n < 300; n++) {
      const count = 2 + random.below(400);
      const errors = randomErrors(random, count);
      const half = errors.toSorted().subarray(0, Math.ceil(count / 2));
      const budget = sum(half) * 10 ** (2 * random.unit() - 0.5);
      const t = thresholdFor(errors, count, budget);
      expect(t).toBe(searched([...errors], budget));
      if (t === null) {
        given++;
        continue;
      }
      found++;
      const finished = errors.filter(e => e < t);
      expect(2 * finished.length).toBeGreaterThanOrEqual(count);
      expect(sum(finished)).toBeLessThanOrEqual(0.95 * budget);
    }
    expect(Math.min(found, given)).toBeGreaterThan(30); // both happen
  });
});

describe('errorFrom: where errors from there on make up a part of the whole', () => {
  test('below 4096 regions exactly: enough with it, too little without, for 200 random lists', () => {
    const random = new Random(2);
    for (let n = 0; n < 200; n++) {
      const count = n < 5 ? 4091 + n : 1 + random.below(300);
      const errors = randomErrors(random, count + 3); // three that do not count
      const own = errors.slice(0, count);
      const part = sum(own) * 0.999 * random.unit();
      const t = errorFrom(errors, count, part);
      expect(own.includes(t)).toBe(true);
      expect(sum(own.filter(e => e >= t))).toBeGreaterThanOrEqual(part * (1 - 1e-12));
      expect(sum(own.filter(e => e > t))).toBeLessThanOrEqual(part * (1 + 1e-12));
    }
  });
  test('from 4096 on to a sixteenth of an octave, for 60 random lists', () => {
    const random = new Random(3);
    for (let n = 0; n < 60; n++) {
      const count = n < 3 ? 4096 + n : 4096 + random.below(4000);
      const errors = randomErrors(random, count + 3);
      const own = errors.slice(0, count);
      const part = sum(own) * 0.999 * random.unit();
      const t = errorFrom(errors, count, part);
      const above = t + 2 ** Math.floor(Math.log2(t)) / 16;
      expect(sum(own.filter(e => e >= t))).toBeGreaterThanOrEqual(part * (1 - 1e-12));
      expect(sum(own.filter(e => e >= above))).toBeLessThanOrEqual(part * (1 + 1e-12));
    }
  });
  test('both ways agree on 4095 and 4096 equal errors: all are needed for all but a hundredth', () => {
    for (const count of [4095, 4096]) {
      const t = errorFrom(new Float64Array(count).fill(0.75), count, 0.99 * 0.75 * count);
      expect(t).toBe(0.75);
    }
  });
  test.each([4000, 5000])('%i errors: a part that is more than all of them takes all', count => {
    const errors = Float64Array.from({ length: count }, (_, i) => 1 + i);
    expect(errorFrom(errors, count, Infinity)).toBeLessThanOrEqual(1);
  });
  test.each([4000, 5000])('%i errors: a part of 0, or less, is a number that takes the largest', count => {
    const errors = Float64Array.from({ length: count }, (_, i) => 1 + i);
    for (const part of [0, -1]) {
      const t = errorFrom(errors, count, part);
      expect(t).toBeGreaterThan(0.9 * count);
      expect(t).toBeLessThanOrEqual(count);
    }
  });
  test.each([4000, 5000])('%i errors below the smallest normal number are sorted as well', count => {
    const errors = Float64Array.from({ length: count }, (_, i) => (i % 2 ? 1e-320 : 1e-310));
    const t = errorFrom(errors, count, 0.9 * sum(errors));
    expect(regionsFrom(errors, count, Math.max(t, Number.MIN_VALUE), Infinity).length).toBeGreaterThanOrEqual(
      0.45 * count,
    );
  });
});

describe('regionsFrom', () => {
  test('gives the regions with an error from t on, ascending; of too many the largest: 200 random lists', () => {
    const random = new Random(4);
    for (let n = 0; n < 200; n++) {
      const count = 1 + random.below(300);
      const errors = randomErrors(random, count + 2);
      const t = random.pick([0, 2 ** -5, errors[random.below(count)], 1]);
      const all = [...errors.keys()].slice(0, count).filter(i => errors[i] >= t);
      expect([...regionsFrom(errors, count, t, Infinity)]).toEqual(all);
      const most = random.below(all.length + 1);
      const largest = all.toSorted((a, b) => errors[b] - errors[a] || a - b).slice(0, most);
      expect([...regionsFrom(errors, count, t, most)]).toEqual(largest.toSorted((a, b) => a - b));
    }
  });
  test('of equal errors the oldest', () => {
    expect([...regionsFrom(new Float64Array(9).fill(1), 9, 1, 4)]).toEqual([0, 1, 2, 3]);
  });
});

describe('Heap', () => {
  test('gives the largest error first, of equal ones the oldest, while others come: 50 random histories', () => {
    const random = new Random(5);
    for (let n = 0; n < 50; n++) {
      const store = new RegionStore(1, 1, 512);
      store.errors.set(randomErrors(random, 512));
      const heap = new Heap(store);
      const waiting = new Set<number>();
      for (let next = 0; next < 512; ) {
        if (waiting.size === 0 || random.chance(0.7)) {
          waiting.add(next);
          heap.push(next++);
        } else {
          const first = [...waiting].reduce((a, b) =>
            store.errors[b] > store.errors[a] || (store.errors[b] === store.errors[a] && b < a) ? b : a,
          );
          expect(heap.pop()).toBe(first);
          waiting.delete(first);
        }
        expect(heap.size).toBe(waiting.size);
      }
    }
  });
});
