/** Options that nobody passes on purpose: each is refused by name, and what is not refused works. */
import { describe, expect, test } from 'vitest';
import { integrate, type OptionError, scan } from '../../src/index.ts';

const f = ([x]: number[]) => x;
const refusal = (options: unknown): Promise<OptionError> =>
  integrate(f, options as never).then(
    () => expect.unreachable('these options are taken'),
    e => e,
  );

/** A list with a hole before its last element. */
const holed = (last: unknown): unknown[] => {
  const list = Array(2);
  list[1] = last;
  return list;
};
const circular: unknown[] = [];
circular.push(circular);

describe('refused', () => {
  test.each<[string, unknown, RegExp]>([
    ['a list', [], /`options` is \[\]; pass an object/],
    ['a domain with a hole', { domain: holed([0, 1]) }, /`domain\[0\]` is undefined; pass two bounds/],
    ['a domain of holes', { domain: Array(3) }, /`domain\[0\]` is undefined/],
    ['a domain of 1e9 holes', { domain: Array(1e9) }, /`domain` is an array of 1000000000; .* at most 1000/],
    ['a range with a hole', { domain: [holed(1)] }, /`domain\[0\]` is \[undefined, 1\]; bounds are numbers/],
    ['a domain that contains itself', { domain: circular }, /`domain\[0\]` is \[\[\[an array of 1\]\]\]/],
    ['devices with a hole', { dims: 1, device: holed('cpu') }, /`device` is \[undefined, 'cpu'\]; list CPU/],
    [
      '20,000 workers',
      { dims: 1, device: 'cpu:20000' },
      /more than \d+ workers would only use up its memory/,
    ],
    ['20,000 workers in a list', { dims: 1, device: ['cpu:20000', 'cuda'] }, /more than \d+ workers/],
    ['a seed of 65 bits', { dims: 1, seed: 2n ** 64n }, /`seed` is 18446744073709551616n; .*at most 64 bits/],
    ['a seed of 65 bits below 0', { dims: 1, seed: -(2n ** 63n) - 1n }, /at most 64 bits/],
    ['a family that is a list', { dims: 1, vegas: [] }, /`vegas` is \[\]; pass an object with bins/],
    ['an escape sequence', { dims: 1, '\x1b[2J': 1 }, /unknown option `\\x1b\[2J`/],
    ['a string of 1e6 letters', { dims: 1, method: 'm'.repeat(1e6) }, /^.{0,600}$/],
    ['constructor', { dims: 1, constructor: 1 }, /unknown option `constructor`/],
    ['__proto__', JSON.parse('{ "dims": 1, "__proto__": { "relTol": 5 } }'), /unknown option `__proto__`/],
    ['__proto__ in a family', { dims: 1, zmc: JSON.parse('{ "__proto__": 1 }') }, /`zmc\.__proto__`/],
    [
      '__proto__ in params',
      { dims: 1, params: JSON.parse('{ "__proto__": 1 }') },
      /has the name '__proto__'/,
    ],
    ['a Map of params', { dims: 1, params: new Map([['a', 1]]) }, /params is a Map; .*Object\.fromEntries/],
    [
      'a date in params',
      { dims: 1, params: { a: new Date() } },
      /params\.a is an instance of Date; pass a number/,
    ],
  ])('%s', async (_, options, message) => {
    const error = await refusal(options);
    expect(error.name).toBe('OptionError');
    expect(error.message).toMatch(message);
  });
  test('sets of a scan with a hole', async () => {
    const sets = holed({ a: 1 }) as never;
    await expect(scan(f, { dims: 1, params: sets })).rejects.toThrow(
      /scan: set 0: params is undefined; pass/,
    );
  });
});

describe('taken', () => {
  test('seeds at the ends of 64 bits', async () => {
    for (const seed of [2n ** 64n - 1n, -(2n ** 63n)])
      expect((await integrate(f, { dims: 1, seed, method: 'plain' })).seed).toBe(String(seed));
  });
  test('a param named constructor, read in each way', async () => {
    const options = { dims: 1, params: { constructor: 4 }, relTol: 1e-6 } as never;
    const member = ([x]: number[], p: { constructor: number }) => x * p.constructor;
    const taken = ([x]: number[], { constructor: c }: { constructor: number }) => x * c;
    for (const g of [member, taken])
      for (const device of ['cpu', 'js'])
        expect((await integrate(g as never, { ...(options as { dims: number }), device })).value).toBeCloseTo(
          2,
          9,
        );
  });
});
