/**
 * Before a run the compiled integrand is compared with the function itself. The wrong programs here come from the one rule of
 * the compiler that guesses: a call such as k(f, 'name'), with a short name from outside, is taken for esbuild's keepNames.
 */
import { describe, expect, test } from 'vitest';
import { integrate } from '../../src/integrate.ts';
import { scan } from '../../src/scan.ts';

const plus = (f: (t: number) => number, _: string) => (t: number) => f(t) + 1;
const any = (f: (t: number) => number, _: string) => (t: number) => f(t) + Math.random();
const no = (_f: (t: number) => number, _: string): ((t: number) => number) => {
  throw new Error('not today');
};
/** Functions whose text has a short name from outside. */
const made = (text: string, k: unknown) => new Function('k', `return ${text}`)(k);
const KEEPS = "([x]) => k(t => t * t, 'square')(x)";

describe('a program that is not the function', () => {
  test('is an error with the point, both values and a remedy', async () => {
    const run = integrate(made(KEEPS, plus), { dims: 1 });
    await expect(run).rejects.toThrow(
      /^integrate: at \[0\.\d+\] the function gives 1\.\d+, but compiled it is 0\.\d+/,
    );
    await expect(run).rejects.toThrow(
      /Please report it, with the function; it runs as it is with device: 'js'/,
    );
  });
  test('is the fault of nobody but the function where this means another isNaN', async () => {
    const f = new Function('const isNaN = () => false; return ([x]) => isNaN(NaN) ? 1 : x')();
    await expect(integrate(f, { dims: 1 })).rejects.toThrow(
      /but compiled it is 1: a name that it uses, such as Math or isNaN, is one of your own\. Give/,
    );
  });
  test('is one in a scan', async () => {
    await expect(scan(made(KEEPS, plus), { dims: 1, params: [{}, {}] })).rejects.toThrow(
      /but compiled it is/,
    );
  });
  test('is one where the function throws', async () => {
    await expect(integrate(made(KEEPS, no), { dims: 1 })).rejects.toThrow(/the function throws "not today"/);
  });
  test('is run all the same when the check is turned off', async () => {
    const { value } = await integrate(made(KEEPS, plus), { dims: 1, check: false });
    expect(value).toBeCloseTo(1 / 3, 6);
  });
  test('a function that reads a random number is named as such', async () => {
    await expect(integrate(made(KEEPS, any), { dims: 1 })).rejects.toThrow(
      /then .*reads a clock, a random number or something else that changes.*device: 'js'/,
    );
  });
});

describe('no alarm', () => {
  const texts: [string, string, [number, number]?][] = [
    [
      'last bits that are magnified by cancellation',
      '([x]) => 1e12 * (Math.exp(x) - Math.exp(x * (1 + 1e-15))) + 2',
    ],
    ['last bits of powers', '([x]) => 1e18 * (x ** 3 - x * x * x) + 1'],
    [
      'last bits of a constant under a step',
      '([x]) => x + Math.floor(Math.log10(1000)) + Math.floor(Math.log(8) / Math.log(2))',
    ],
    [
      'chaos',
      '([x]) => { let t = Math.sin(x); for (let i = 0; i < 200; i++) t = 3.99 * t * (1 - t); return t; }',
    ],
    ['steps that every point is at', '([x]) => (Math.cos(x) ** 2 + Math.sin(x) ** 2 === 1 ? 1 : 2)'],
    ['huge angles', '([x]) => Math.sin(1e17 * Math.exp(x))'],
    ['values out of range', '([x]) => { const a = [1, 2]; return a[Math.floor(3 * x)] + 1; }'],
    ['infinite ranges', '([x]) => Math.exp(-x * x)', [-Infinity, Infinity]],
    ['numbers near overflow', '([x]) => Math.exp(690 + 10 * x) * 0 + 1'],
  ];
  test.each(texts)('for %s', async (_, text, range = [0, 1]) => {
    const run = integrate(new Function(`return ${text}`)(), {
      domain: [range],
      maxEvaluations: 2000,
      onNonFinite: 'zero',
    });
    expect((await run).evaluations).toBeGreaterThan(0);
  });
  test('and no end: a function that never ends at some points is not called there', async () => {
    const f = ([x]: number[]) => {
      let t = x;
      while (t > 0.5) t = t * 1;
      return t;
    };
    const { status } = await integrate(f, { dims: 1, maxTime: 300 });
    expect(status).toBe('time');
  });
});
