/** Texts that are very long, and names that every object of JavaScript has. */
import { describe, expect, test } from 'vitest';
import { compile, type Integrand } from '../../src/integrand/compile.ts';
import { IntegrandError } from '../../src/integrand/diagnostics.ts';
import { parseExpression } from '../../src/integrand/parse.ts';
import { firstDifference, functionOf, threeWays } from './compare.ts';

const withBody = (body: string): Integrand => functionOf(`x => { ${body} }`);

const POINTS = [
  [0.3, 0.7],
  [-2, 3.5],
];
const agrees = (f: Integrand) => {
  const { plain, javascript, wasm } = threeWays(f, POINTS, {});
  expect(firstDifference(plain, javascript)).toBe(-1);
  expect(firstDifference(plain, wasm)).toBe(-1);
};
const refusal = (body: string): IntegrandError => {
  try {
    compile(withBody(body), { dims: 2, params: {} });
  } catch (e) {
    if (e instanceof IntegrandError) return e;
    throw e;
  }
  return expect.unreachable(`${body} is compiled`);
};

describe('5,000 operators in a row', () => {
  const chain = (operators: string[]) =>
    `return x[0]${Array.from({ length: 5000 }, (_, i) => ` ${operators[i % operators.length]} ${i % 7 ? 'x[1]' : (i % 11) + 0.5}`).join('')};`;
  test.each([['+'], ['+', '-'], ['*', '+', '/', '-'], ['-', '*', '%', '+']])(
    '%s, to the bit',
    (...operators) => {
      agrees(withBody(chain(operators)));
    },
  );
  test('that nest are refused, and the message says that they do', () => {
    expect(refusal(`return ${'- '.repeat(4000)}x[0];`).reason).toBe('The integrand is nested too deeply.');
  });
});

test('chains are parsed to the trees that acorn makes of them', async () => {
  const { parseExpressionAt } = await import('acorn');
  for (const text of [
    '1 + 2 * 3 - 4 ** 5 ** 6 / 7 % 8',
    'a && b || c && d || e',
    '(a ?? b) ?? c',
    'a + (b + c * (d - e) * f) - g(h + i + j)(k * l)',
    'a < b === c > d != e',
    'x => y => x + y + (z => z + 1)(2) + 3',
    '`a` + [d + e, f * g] + { h: i + j }',
    '() => { for (const i in c + d) e + f; for (let i = a + b; i < c + d; i++) g; }',
    'a + b ? c + d + e : f * g * h',
    '-a + !b * typeof c - (d, e + f)',
  ])
    expect(JSON.stringify(parseExpression(text)), text).toBe(
      JSON.stringify(parseExpressionAt(text, 0, { ecmaVersion: 'latest' })),
    );
  for (const wrong of ['a + ', 'a ?? b || c', 'a && b ?? c', '1 + * 2', '-a ** 2'])
    expect(() => parseExpression(wrong), wrong).toThrow(SyntaxError);
});

describe('members that JavaScript gives every object', () => {
  test.each([
    [
      'const o = { a: x[0] }; return o.constructor ? 1 : 0;',
      /`\.constructor`, which JavaScript gives every object/,
    ],
    [
      'const o = { a: x[0] }; return o.__proto__ ? 1 : 0;',
      /`\.__proto__`, which JavaScript gives every object/,
    ],
    ['const o = { a: x[0] }; const { toString } = o; return toString ? 1 : 0;', /`\.toString`/],
    ['const o = { __proto__: x[0] }; return o.a ?? 1;', /has no prototype of its own/],
    ['return toString(x[0]);', /`toString` is not defined inside the integrand/],
    ['return constructor([x[0]])[0];', /`constructor` is not defined inside the integrand/],
  ])('%s is refused', (body, reason) => {
    expect(refusal(body).reason).toMatch(reason);
  });
  test('of its own are read', () => {
    agrees(withBody('const o = { constructor: x[0], toString: 2 }; return o.constructor * o.toString;'));
  });
});
