/** Ranges of variables and values of parameters, as they are typed. */
import { describe, expect, test } from 'vitest';
import { parseParams, parseScan, product } from '../../src/cli/parameters.ts';
import { isRange, parseRanges } from '../../src/cli/ranges.ts';
import type { BoundsFunction } from '../../src/integrand/function-bounds.ts';
import { kit } from '../../src/integrand/math/index.ts';
import { ball, simplex, sphere } from '../../src/integrand/shapes.ts';
import { mistake, pointed, typed } from './typed.ts';

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

  test.each([
    ['x=-inf..inf@5~0.1', { from: -Infinity, to: Infinity, centre: 5, scale: 0.1 }],
    ['x=-inf..inf@-2pi', { from: -Infinity, to: Infinity, centre: -2 * Math.PI }],
    ['r=0..inf~1e-3', { from: 0, to: Infinity, scale: 1e-3 }],
    ['r = -inf .. 3 ~ 2', { from: -Infinity, to: 3, scale: 2 }],
  ])('%s', (text, range) => expect(parseRanges([text])[0].range).toEqual(range));

  test.each([
    ['x,y=ball', ball(2)],
    ['x,y,z = sphere(sqrt(2))', sphere(3, Math.SQRT2)],
    ['x,y=simplex(3)', simplex(2, 3)],
    ['x,y=ball(2)@1,-0.5', ball(2, 2, { centre: [1, -0.5] })],
  ])('%s', (text, shape) => {
    const found = parseRanges([text, 'w=0..x']);
    expect(found[0].range).toEqual(shape);
    expect(found.slice(1, -1).every(r => r.range === null)).toBe(true);
    expect((found.at(-1)!.range as BoundsFunction)([7, 8, 9], {}, kit)).toEqual([0, 7]);
  });

  test.each([
    ['x=0..1~2', '~2', /for infinite ranges with fixed ends/],
    ['x=0..inf@2', '@2', /infinite at both ends/],
    ['x=-inf..inf~0', '~0', /scale behind ~ is 0/],
    ['x=-inf..inf@inf', '@inf', /centre behind @ is Infinity/],
    ['x=-inf..inf@y', 'y', /'y' has no value here: a centre is a number/],
    ['x,y=ball(0)', 'ball(0)', /a radius is 0/],
    ['x,y=ball(2, 3)', 'ball(2, 3)', /one number in brackets, its radius\./],
    ['x,y=ball@1', 'ball@1', /centre has 1 of 2 coordinates/],
    ['x=sphere', 'sphere', /sphere of 1 variables is none/],
    ['x,y=simplex@1,2', 'simplex@1,2', /corner at 0, and no centre/],
    ['x,y=ball(a)', 'ball(a)', /'a' has no value here/],
    ['x,x=ball', 'x', /two ranges/],
  ])('%s is refused', (text, place, reason) => {
    expect(mistake(() => parseRanges([text])).reason).toMatch(reason);
    expect(pointed(() => parseRanges([text]))).toBe(place);
  });

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

describe('in a terminal', () => {
  test('shapes, and centre and scale of infinite ranges', async () => {
    const value = async (...argv: string[]) => {
      const { out, err } = await typed([...argv, '--json']);
      return err ? err : JSON.parse(out);
    };
    const disk = await value('x^2 + y^2', 'x,y=ball(2)@1,0', '--rel-tol', '1e-6');
    expect(disk.value).toBeCloseTo(8 * Math.PI + 4 * Math.PI, 3);
    expect(disk.domain).toEqual([{ shape: 'ball', dims: 2, size: 2, centre: [1, 0] }]);
    const far = await value('exp(-(x - 1e6)^2)', 'x=-inf..inf@1e6~1', '--rel-tol', '1e-6');
    expect(far.value).toBeCloseTo(Math.sqrt(Math.PI), 5);
    expect(far.domain).toEqual([['-Infinity', 'Infinity']]);
  });
  test('the heading names them, and messages the right variable', async () => {
    const { out } = await typed(['1', 'x,y=ball(2)', 'z=0..1'], { outTTY: true, columns: 80 });
    expect(out).toMatch(/x,y ball\(2\) {2}z 0\.\.1/);
    const { err } = await typed(['1', 'x,y=ball(2)', 'z=0..1', 'w=0..sqrt(-z)']);
    expect(err).toMatch(/range of w/);
  });
});
