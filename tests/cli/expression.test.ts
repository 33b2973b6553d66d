/** Expressions: what they mean, as JavaScript; and where mistakes are pointed at. */
import { describe, expect, test } from 'vitest';
import { constantOf, freeNames, integrandOf } from '../../src/cli/expression/integrand.ts';
import { compile } from '../../src/index.ts';
import { mistake, pointed } from './typed.ts';

const js = (text: string, params: string[] = []) => {
  const full = integrandOf(text, ['x', 'y', 'z'], params).text;
  return full.replace('([x, y, z]) => ', '');
};

describe('precedence', () => {
  test.each([
    ['-x^2', '-(x ** 2)'],
    ['(-x)^2', '(-x) ** 2'],
    ['2^-x', '2 ** -x'],
    ['2^-x^2', '2 ** -(x ** 2)'],
    ['x^y^z', 'x ** y ** z'],
    ['(x^y)^z', '(x ** y) ** z'],
    ['x**2', 'x ** 2'],
    ['x-y-z', 'x - y - z'],
    ['x-(y-z)', 'x - (y - z)'],
    ['x/y/z', 'x / y / z'],
    ['x/(y*z)', 'x / (y * z)'],
    ['x/y*z', 'x / y * z'],
    ['x*y%z', 'x * y % z'],
    ['x+y*z^2', 'x + y * z ** 2'],
    ['-x*y', '-x * y'],
    ['x*-y', 'x * -y'],
    ['--x', '-(-x)'],
    ['- -x^2', '-(-(x ** 2))'],
    ['+x', '+x'],
    ['sin(x)^2', 'Math.sin(x) ** 2'],
    ['-sin(x)^2', '-(Math.sin(x) ** 2)'],
    ['ln(x) + log(y)', 'Math.log(x) + Math.log(y)'],
    ['max(x, y, z) - min(x)', 'Math.max(x, y, z) - Math.min(x)'],
    ['pi*e', 'Math.PI * Math.E'],
    ['π·x − y×z', 'Math.PI * x - y * z'],
    ['1e3x', '1000 * x'],
    ['.5 + 2. + 1e-3', '0.5 + 2 + 0.001'],
  ])('%s is %s', (text, expected) => expect(js(text)).toBe(expected));
});

describe('products without a sign', () => {
  test.each([
    ['2x', '2 * x'],
    ['2x^2', '2 * x ** 2'],
    ['2(x+1)', '2 * (x + 1)'],
    ['-2x', '-2 * x'],
    ['2pi x'.replace(' ', '*'), '2 * Math.PI * x'],
    ['(x+1)(x-1)', '(x + 1) * (x - 1)'],
    ['(x+1)y', '(x + 1) * y'],
    ['3sin(x)cos(y)', '3 * Math.sin(x) * Math.cos(y)'],
    ['x*2y', 'x * 2 * y'],
    ['(1/2)x', '1 / 2 * x'],
    ['2e', '2 * Math.E'],
    ['2e-x', '2 * Math.E - x'],
    ['x < 2y', 'x < 2 * y ? 1 : 0'],
  ])('%s is %s', (text, expected) => expect(js(text)).toBe(expected));

  test.each([
    ['1/2x', '1/2x', /\(1\/2\)\*x or as 1\/\(2\*x\)/],
    ['y + 1/2(x+1)', '1/2(x+1)', /can be read as/],
    ['2^3x', '2^3x', /can be read as/],
    ['x%2y', 'x%2y', /can be read as/],
    ['2x/3y', '2x/3y', /can be read as/],
    ['x y', 'y', /operator is missing/],
    ['x 2', '2', /operator is missing/],
    ['x(y+1)', 'x', /no function/],
    ['2 3', '3', /operator is missing/],
  ])('%s is refused at %s', (text, place, reason) => {
    expect(mistake(() => js(text)).reason).toMatch(reason);
    expect(pointed(() => js(text))).toBe(place);
  });
});

describe('conditions', () => {
  test.each([
    ['x < y', 'x < y ? 1 : 0'],
    ['(x < y)*z', '(x < y ? 1 : 0) * z'],
    ['0 < x < 1', '0 < x && x < 1 ? 1 : 0'],
    ['0 <= x < y <= 1', '0 <= x && x < y && y <= 1 ? 1 : 0'],
    ['(x < y) == z', '(x < y ? 1 : 0) === z ? 1 : 0'],
    ['x ≤ y ? x : y', 'x <= y ? x : y'],
    ['x ? y : z', 'x !== 0 ? y : z'],
    ['x < 0 ? 1 : x < 1 ? 2 : 3', 'x < 0 ? 1 : x < 1 ? 2 : 3'],
    ['x < y && !(y > z) || z', 'x < y && !(y > z) || z !== 0 ? 1 : 0'],
    ['x < y and not z', 'x < y && !(z !== 0) ? 1 : 0'],
    ['(x < y ? 1 : 2) + 1', '(x < y ? 1 : 2) + 1'],
    ['x == 1 or y != 2', 'x === 1 || y !== 2 ? 1 : 0'],
  ])('%s is %s', (text, expected) => expect(js(text)).toBe(expected));
});

describe('mistakes', () => {
  test.each([
    ['', '', /empty/],
    ['x +', '', /ends where a value/],
    ['* x', '*', /value is missing/],
    ['(x', '(', /never closed/],
    ['sin(x', '(', /never closed/],
    ['x)', ')', /never opened/],
    ['x, y', ',', /comma/],
    ['foo(x)', 'foo', /no function/],
    ['x + bar', 'bar', /neither a variable nor a parameter/],
    ['sin x', 'sin', /no argument/],
    ['sin^2(x)', 'sin', /no argument/],
    ['atan2(x)', 'atan2(x)', /takes 2 arguments, not 1/],
    ['sin()', 'sin()', /takes 1 argument, not 0/],
    ['min()', 'min()', /takes 1 to 16/],
    ['x ? y', '', /other branch/],
    ['x : y', ':', /no place/],
    ['1e999', '1e999', /too large/],
    ['x = 1', '=', /means nothing/],
    ['Math.exp(x)', '.', /means nothing/],
    ['x & y', '&', /means nothing/],
    ['x # y', '#', /means nothing/],
    ['x²', '²', /means nothing/],
  ])('%s points at %s', (text, place, reason) => {
    expect(mistake(() => js(text)).reason).toMatch(reason);
    expect(pointed(() => js(text))).toBe(place);
  });

  test.each([
    ['xy', 'A product is written x*y.'],
    ['pix', 'A product is written pi*x.'],
    ['sni(x)', 'Did you mean sin?'],
    ['sqr(x)', 'Did you mean sqrt?'],
    ['a + x', 'Give it a range, a=0..1, or a value, --param a=1.'],
    ['x(y+1)', 'A product is written x*(…).'],
    ['Math.exp(x)', 'Functions stand alone: exp(x), not Math.exp(x).'],
  ])('%s: %s', (text, remedy) => expect(mistake(() => js(text)).remedy).toBe(remedy));

  test('a caret line stands below the text', () => {
    expect(mistake(() => js('exp(-foo^2)')).message).toBe(
      "'foo' is neither a variable nor a parameter.\n  exp(-foo^2)\n       ^^^\nGive it a range, foo=0..1, or a value, --param foo=1.",
    );
  });
  test('of a long text only the part around the caret is shown', () => {
    const lines = mistake(() => js(`${'x + '.repeat(100)}foo${' + x'.repeat(100)}`)).message.split('\n');
    expect(lines[1].length).toBeLessThan(80);
    const at = lines[2].indexOf('^^^');
    expect(lines[1].slice(at, at + 3)).toBe('foo');
  });
  test('thousands of brackets are refused, not a crash', () => {
    const deep = `${'('.repeat(5000)}x${')'.repeat(5000)}`;
    expect(mistake(() => js(deep)).reason).toMatch(/nested too deeply/);
    expect(() => js(`${'-'.repeat(5000)}x`)).toThrow(/nested too deeply/);
  });
});

describe('the integrand', () => {
  test('parameters are the second argument, special functions the third', () => {
    expect(integrandOf('a*erf(x) + j0(x)', ['x'], ['a']).text).toBe(
      '([x], p, { erf, j0 }) => p.a * erf(x) + j0(x)',
    );
    expect(integrandOf('erfc(x)', ['x'], []).text).toBe('([x], p, { erfc }) => erfc(x)');
  });
  test('a variable called e or pi goes before the constant', () => {
    expect(integrandOf('e + pi', ['e'], ['pi']).text).toBe('([e], p) => e + p.pi');
  });
  test('names that JavaScript keeps for itself are no problem', () => {
    const { f } = integrandOf('in + p*class + Math', ['in', 'p', 'Math'], ['class']);
    expect(f([1, 2, 3], { class: 10 }, {} as never)).toBe(24);
    expect(compile(f, { dims: 3, params: { class: 10 } }).evaluate(Float64Array.of(1, 2, 3))).toEqual(
      Float64Array.of(24),
    );
  });
  test('names in Greek work', () => {
    const { f } = integrandOf('sin(θ)^2 φ'.replace(' ', '*'), ['θ', 'φ'], []);
    expect(f([1, 2], {}, {} as never)).toBe(Math.sin(1) ** 2 * 2);
  });
  test('free names come in the order of the text', () => {
    expect(freeNames('b*sin(a) + pi + c*b', ['c'])).toEqual(['b', 'a']);
  });
});

describe('constants', () => {
  test.each([
    ['2*pi', 2 * Math.PI],
    ['-inf', -Infinity],
    ['sqrt(2)', Math.SQRT2],
    ['2pi', 2 * Math.PI],
    ['10^6', 1e6],
    ['-∞', -Infinity],
    ['erf(0)', 0],
  ])('%s is %d', (text, value) => expect(constantOf(text, 'it')).toBe(value));
  test('NaN is refused', () => expect(() => constantOf('0/0', 'a bound')).toThrow(/a bound is not a number/));
  test('names are refused', () =>
    expect(() => constantOf('2*q', 'a bound')).toThrow(/'q' has no value here/));
});
