/** A task that is handed out, without a server: who gets which part. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Handout, type Office } from '../../src/devices/cluster/handout.ts';
import { sumsDigest, toBytes } from '../../src/devices/cluster/packing.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const jobOf = (part: number) => `${part}`.repeat(64);

test.each([2, 3, 5])('%i new workers that are equally fast check each other within 100 ms', async count => {
  const queue: number[] = [];
  const trusted = new Set<string>();
  const examined = new Set<string>();
  const office: Office = {
    publish: async index => void queue.push(index),
    digest: jobOf,
    workers: count,
    expected: () => 0,
    isLeftOut: () => false,
    isTrusted: w => trusted.has(w),
    isExamined: w => examined.has(w),
    examine: w => void examined.add(w),
    trust: w => void trusted.add(w),
    leaveOut: (_, why) => expect.fail(why),
    fail: e => expect.fail(String(e)),
    credit: () => {},
  };
  const parts = Array.from({ length: count }, (_, first) => ({ part: { first, count: 1 }, cost: 1 }));
  const handout = new Handout(0, 'integrals', {} as never, parts, { dims: 1, results: 1 }, office);
  const sums = handout.sums();
  let over = false;
  void sums.then(() => {
    over = true;
  });
  const idle = Array.from({ length: count }, (_, w) => `w${w}`); // the one that has waited longest is first
  const bytes = toBytes({ integrals: [null] });
  for (let ms = 0; ms < 100 && !over; ms++) {
    // as a server does, and all take the same time
    const taken = queue.splice(0, idle.length).map(part => ({ part, worker: idle.shift()! }));
    for (const { part, worker } of taken) {
      const head = { worker, task: 0, part, job: jobOf(part) };
      if (handout.begin(head) === 'go')
        handout.result(
          { ...head, frame: 0, frames: 1, ms: 1, digest: sumsDigest(jobOf(part), bytes) },
          bytes,
        );
      idle.push(worker);
    }
    await vi.advanceTimersByTimeAsync(1);
  }
  expect(over).toBe(true);
  expect(trusted.size).toBeGreaterThan(1);
});
