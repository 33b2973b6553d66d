/** Counts that are cut for a part give the chunks that all counts give. */
import { expect, test } from 'vitest';
import { readySamples } from '../../src/devices/cluster/parts.ts';
import { chunksOf } from '../../src/devices/cpu/chunks.ts';
import { countsCutter, coversPart } from '../../src/tasks/counts-window.ts';
import { partsOf } from '../../src/tasks/part.ts';
import { listed, type PlainTask, plan } from '../../src/tasks/sample.ts';
import { readSampleTask } from '../../src/tasks/verify.ts';
import { Random } from '../compiler/random.ts';

const random = new Random(5);
/** Cubes of two samples, of some hundred (some cut into pieces, some just beyond one), and a few that have many groups. */
const LISTS = [
  Uint32Array.from({ length: 9000 }, () => 2 + random.below(3)),
  Uint32Array.from({ length: 700 }, () => 250 + random.below(20)),
  Uint32Array.from({ length: 5 }, () => 20_000 + random.below(9000)),
  Uint32Array.of(2, 300_000, 257, 2, 513, 40_000, 2),
];

// what counts add up to may be less than their task says: then the last groups are empty
test.each(LISTS.flatMap(each => [0, 9000].map(more => [each.length, more, each] as const)))(
  '%i cubes, in groups for %i samples more',
  (cubes, more, each) => {
    const all = listed(each);
    const counts = { ...all, evaluations: all.evaluations + more };
    const task = { strata: [cubes], counts } as unknown as PlainTask;
    const { groups, size } = plan(task);
    const whole = {
      ...{ key: [1, 2], iteration: 0, stream: 0, bins: 1, edges: Float64Array.of(0, 1), strata: [cubes] },
      ...{ unit: 1, adapt: null },
    };
    for (const length of [1, 2, 7, groups]) {
      const cutFor = countsCutter(each, size);
      for (const part of partsOf({ first: 0, count: groups }, length)) {
        const own = { evaluations: counts.evaluations, ...cutFor(part) };
        expect([...chunksOf({ ...task, counts: own }, part)]).toEqual([...chunksOf(task, part)]);
        expect(own.window.total).toBe(all.evaluations);
        expect(coversPart(own, part, size, cubes)).toBe(true);
        expect(readSampleTask({ ...whole, counts: own }, { dims: 1, results: 1 }).counts).toEqual(own);
        expect(own.each.length).toBeLessThan(2 + (1.1 * (part.count + 1) * size) / Math.min(...each));
      }
    }
  },
);

test('parts may be asked for in any order', () => {
  const size = 4096;
  const cutFor = countsCutter(LISTS[0], size);
  for (const first of [3, 1, 4, 0, 2])
    expect(cutFor({ first, count: 1 })).toEqual(countsCutter(LISTS[0], size)({ first, count: 1 }));
});

test('a part that its counts do not cover is refused', () => {
  const each = LISTS[0];
  const counts = listed(each);
  const { size } = plan({ strata: [each.length], counts });
  const own = { evaluations: counts.evaluations, ...countsCutter(each, size)({ first: 2, count: 2 }) };
  const task = { strata: [each.length], counts: own } as unknown as PlainTask;
  expect(() => readySamples(task, { first: 2, count: 2 })).not.toThrow();
  for (const part of [
    { first: 1, count: 2 },
    { first: 2, count: 3 },
    { first: 4, count: 1 },
  ])
    expect(() => readySamples(task, part)).toThrow('counts of another part');
});
