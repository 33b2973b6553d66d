/** Ranges of variables and values of parameters, as they are typed. */
import { describe, expect, test } from 'vitest';
import { parseParams, parseScan, product } from '../../src/cli/parameters.ts';
import { isRange, parseRanges } from '../../src/cli/ranges.ts';
import { mistake, pointed } from './typed.ts';

describe('ranges', () => {
  test.each([
    ['x=0..1', [0, 1]],
    ['x=-inf..inf', [-Infinity, Infinity]],
    ['x=-1..-0.5', [-1, -0.5]],
    ['x=0..2*pi', [0, 2 * Math.PI]],
    ['x=0..2pi', [0, 2 * Math.PI]],
    ['x=-sqrt(2)..sqrt(2)', [-Math.SQRT2, Math.SQRT2]],
    ['x=0...5', [0, 0.5]],
    ['x=1..0', [1, 0]],
    ['x = 0 .. 1', [0, 1]],
    ['x=1e-3..1e3', [1e-3, 1e3]],
    ['θ=0..π', [0, Math.PI]],
  ])('%s', (text, range) => expect(parseRanges([text])[0].range).toEqual(range));

  test('several variables can share one', () => {
    expect(parseRanges(['x, y,z=0..2', 'w=0..1']).map(r => [r.variable, r.range])).toEqual([
      ['x', [0, 2]],
      ['y', [0, 2]],
      ['z', [0, 2]],
      ['w', [0, 1]],
    ]);
  });

  test.each([
    ['x=3', '3', /no range/],
    ['x=..1', '.', /from where/],
    ['x=0..', '', /to where/],
    ['x=0..y', 'y', /'y' has no value/],
    ['x=0..1+', '', /ends where a value/],
    ['x=0..sqrt(-1)', 'sqrt(-1)', /not a number/],
    ['2x=0..1', '2x', /no name/],
    ['=0..1', '=', /no name/],
    ['sin=0..1', 'sin', /is a function/],
    ['x,x=0..1', 'x', /two ranges/],
  ])('%s points at %s', (text, place, reason) => {
    expect(mistake(() => parseRanges([text])).reason).toMatch(reason);
    expect(pointed(() => parseRanges([text]))).toBe(place);
  });

  test('bounds may depend on variables before them, and on parameters', () => {
    const [, y, z] = parseRanges(['x=0..1', 'y=-sqrt(1-x^2)..sqrt(1-x^2)', 'z=a*x..erf(y)'], ['a']);
    const call = (range: unknown, ...args: unknown[]) => (range as (...a: unknown[]) => number[])(...args);
    expect(call(y.range, [0.6])).toEqual([-0.8, 0.8]);
    expect(call(z.range, [0.5, 1], { a: 3 }, { erf: (v: number) => v + 1 })).toEqual([1.5, 2]);
    expect(z.shown).toEqual(['a*x', 'erf(y)']);
  });
  test('what stands between the bounds is a break', () => {
    expect(parseRanges(['x=0..0.25...5..1'])[0]).toMatchObject({ range: [0, 1], breaks: [0.25, 0.5] });
    expect(mistake(() => parseRanges(['x=0....1'])).reason).toMatch(/where its break is/);
  });
  test('a bound that depends on a variable without a range before it says so', () => {
    expect(mistake(() => parseRanges(['y=0..x', 'x=0..1'])).remedy).toMatch(/Give x a range before this one/);
    expect(mistake(() => parseRanges(['x=0..x'])).reason).toMatch(/'x' has no value here/);
  });

  test('comparisons are no ranges', () => {
    expect(['x=0..1', 'x,y=1', ' x =2'].every(isRange)).toBe(true);
    expect(['x==1', 'x<=1', 'x >= 1', 'x != 1', 'f(x)', 'x'].some(isRange)).toBe(false);
  });
});

describe('parameters', () => {
  test('a value each', () => {
    expect(parseParams(['a=3', 'b=2*pi', 'c=-1'])).toEqual({ a: 3, b: 2 * Math.PI, c: -1 });
    expect(parseParams(['a=atan2(1, 2)'])).toEqual({ a: Math.atan2(1, 2) });
  });
  test('in a scan, ranges and lists', () => {
    expect([...parseScan(['a=0:1:0.25', 'b=1,2,3', 'c=7'])]).toEqual([
      ['a', [0, 0.25, 0.5, 0.75, 1]],
      ['b', [1, 2, 3]],
      ['c', [7]],
    ]);
    expect(parseScan(['a=1:0:-0.5']).get('a')).toEqual([1, 0.5, 0]);
    expect(parseScan(['a=0:pi:pi/2']).get('a')).toHaveLength(3);
  });
  test('a step of 0.1 gives 0.3, and reaches the end', () => {
    expect(parseScan(['a=0:1:0.1']).get('a')).toEqual([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]);
    expect(parseScan(['a=0:1:0.3']).get('a')).toEqual([0, 0.3, 0.6, 0.9]);
  });
  test('several make all combinations, the last one changing fastest', () => {
    expect(product(parseScan(['a=1,2', 'b=3,4']))).toEqual([
      { a: 1, b: 3 },
      { a: 1, b: 4 },
      { a: 2, b: 3 },
      { a: 2, b: 4 },
    ]);
  });
  test.each([
    [['a'], /gives no value/],
    [['a='], /number is missing/],
    [['a=1,,2'], /number is missing/],
    [['a=0:1'], /from:to:step/],
    [['a=0:1:0'], /does not lead/],
    [['a=0:1:-1'], /does not lead/],
    [['a=0:1:1e-9'], /values/],
    [['a=0:999:1', 'b=0:999:1', 'c=1,2'], /integrals/],
    [['a=inf'], /finite/],
    [['a=b'], /'b' has no value/],
    [['a=1', 'a=2'], /given twice/],
    [['a-b=1'], /no name/],
  ])('%j is refused', (texts, reason) => expect(mistake(() => parseScan(texts)).reason).toMatch(reason));
  test('several values outside a scan are told where they belong', () => {
    expect(mistake(() => parseParams(['a=0:1:0.5'])).remedy).toMatch(/quadrille scan/);
    expect(mistake(() => parseParams(['a=1,2'])).remedy).toMatch(/quadrille scan/);
  });
});
