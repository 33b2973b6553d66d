/** Tasks, parts and sums as text: what comes back is what was sent, to the last bit. */
import { afterAll, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { listed, type SampleTask, wholeOf } from '../../src/tasks/sample.ts';
import { decode, encode } from '../../src/tasks/wire.ts';
import { regionTask, sampleTask } from '../cuda/tasks.ts';
import { lowerFor } from '../devices/program.ts';
import { cube } from '../integrands/entry.ts';

const sent = <T>(value: T): T => decode(encode(value));

describe('numbers', () => {
  const numbers = [
    0,
    -0,
    1,
    -1.5,
    0.1,
    1 / 3,
    Number.MIN_VALUE,
    Number.MAX_VALUE,
    2 ** 53,
    Infinity,
    -Infinity,
  ];
  test.each([...numbers, Number.NaN])('%d alone, in a list, in an object', n => {
    expect(sent(n)).toBe(n);
    expect(sent([n, [n]])).toStrictEqual([n, [n]]);
    expect(sent({ a: { b: n } })).toStrictEqual({ a: { b: n } });
  });
  test('null, texts and truth values, and members that are not there', () => {
    const value = { a: null, b: 'NaN', c: true, d: [null, false], e: '' };
    expect(sent(value)).toStrictEqual(value);
    expect(sent({ a: undefined, b: 1 })).toStrictEqual({ b: 1 });
  });
});

describe('typed arrays', () => {
  const doubles = Float64Array.of(0, -0, 1 / 3, Number.NaN, Infinity, -Infinity, 5e-324);
  test.each([
    ['float64', doubles],
    ['uint32', Uint32Array.of(0, 1, 2 ** 31, 2 ** 32 - 1)],
    ['uint8', Uint8Array.of(0, 127, 128, 255)],
    ['nothing', new Float64Array(0)],
    ['more than a line of text', Float64Array.from({ length: 30_000 }, (_, i) => Math.sqrt(i) - 50)],
  ])('%s: the same type and bits', (_, list) => expect(sent(list)).toStrictEqual(list));
  test('bits of a NaN and the sign of 0', () => {
    const odd = new Float64Array(Uint32Array.of(7, 0x7ff8_0001, 0, 0x8000_0000).buffer);
    expect(new Uint32Array(sent(odd).buffer)).toStrictEqual(new Uint32Array(odd.buffer));
  });
  test('a view into a larger buffer is sent alone, and comes back with a buffer of its own', () => {
    for (const view of [doubles.subarray(2, 5), Uint8Array.of(1, 2, 3, 4, 5).subarray(1, 4)]) {
      const back = sent(view);
      expect(back).toStrictEqual(view);
      expect([back.byteOffset, back.buffer.byteLength]).toEqual([0, view.byteLength]);
    }
    expect(encode(doubles.subarray(0, 1)).length).toBeLessThan(40);
  });
  test('nested in lists and objects', () => {
    const value = { a: [doubles, { b: Uint32Array.of(3) }], c: { d: { e: doubles.subarray(1, 2) } } };
    expect(sent(value)).toStrictEqual(value);
  });
});

describe('tasks and sums', () => {
  const device = new CpuDevice(1);
  afterAll(() => device.close());
  const uneven = Uint32Array.from({ length: 27 }, (_, i) => 2 + 300 * i);
  const tasks: [string, SampleTask][] = [
    ['samples that adapt', sampleTask(cube(3), 3, 4000, 16, { adapt: { scale: 2 ** 20, variances: true } })],
    [
      'samples of which a part counts',
      sampleTask(cube(3), 3, 4000, 16, { adapt: { scale: 2 ** 20, variances: true, limit: 2 ** 30 } }),
    ],
    ['samples of each cube', sampleTask(cube(3), 3, listed(uneven), 16, { cubes: true })],
    [
      'a map and counts that a session keeps',
      sampleTask(cube(1), 3, { evaluations: 9, each: { kept: 4 } }, 8, { edges: { kept: 3 } }),
    ],
  ];
  test.each(tasks)('%s', (_, task) => expect(sent(task)).toStrictEqual(task));
  test('regions', () => {
    const task = regionTask({
      dims: 3,
      domain: [
        [-1, 2],
        [0, 1],
        [1e-300, 1e300],
      ],
    });
    expect(sent(task)).toStrictEqual(task);
  });
  test.each(tasks.slice(0, 3))('sums of a part, with values that are not finite: %s', async (_, task) => {
    const session = await device.open(
      lowerFor(([x, y]) => (y > 0.9 ? 1 / (x - x) : x > 0.5 ? Math.sqrt(-x) : x), 3),
    );
    const { count } = wholeOf(task);
    const sums = await session.sample(task, { first: 1, count: count - 2 });
    expect(sums.nonFinite!.count).toBeGreaterThan(0);
    expect(sent(sums)).toStrictEqual(sums);
    const regions = regionTask({ dims: 3, domain: cube(3) });
    const found = await session.regions(regions, { first: 2, count: 20 });
    expect(sent(found)).toStrictEqual(found);
    session.close();
  });
});
