/**
 * The invariant of the language: whatever one writes is the same as plain JavaScript, or it is refused with its place and a
 * remedy. There is no third: no other number, no error from inside the compiler, no number where JavaScript throws.
 */
import { describe, expect, test } from 'vitest';
import { compile, type Integrand } from '../../src/integrand/compile.ts';
import { IntegrandError } from '../../src/integrand/diagnostics.ts';
import { kit } from '../../src/integrand/math/index.ts';
import type { Params } from '../../src/integrand/params.ts';
import type { Shape } from '../../src/integrand/shape.ts';
import { table } from '../../src/integrand/tables.ts';
import { byResult, columns } from './compare.ts';
import { matrix } from './matrix.ts';

const POINTS = [
  [0.3, 0.7],
  [0.5, 0.2],
  [0.9, 0.5],
];
const COLUMNS = columns(POINTS);
const params: Params = {
  w: Float64Array.of(4, 5, 6),
  bytes: Uint8Array.of(1, 2, 3),
  on: true,
  t: table([[0, 0.4, 1]], [1, 3, 2]),
  s: table(
    [
      [0, 1],
      [0, 0.5, 1],
    ],
    [1, 2, 3, 4, 5, 6],
  ),
};

/** What tool-chains define around an integrand that they rewrote. */
const HELPERS = `
  const __pow = Math.pow, __name = f => f, __read = a => (a[Symbol.iterator] ? [...a] : a);
  const __spreadArray = (a, b) => a.concat([...b]), _toConsumableArray = a => [...a];`;

/** Undefined when the text is no JavaScript, which is no matter of the compiler. */
function parsed(body: string): Integrand | undefined {
  try {
    return new Function(`${HELPERS} return function (x, p, m) { ${body} }`)();
  } catch {
    return undefined;
  }
}

/** What the compiled number should be: a number, or undefined where plain JavaScript throws. */
function plainly(f: Integrand, x: readonly number[]): { value: unknown } | { thrown: string } {
  try {
    // copies: plain JavaScript may write to what it is given
    const own = { ...params, w: Float64Array.of(4, 5, 6), bytes: Uint8Array.of(1, 2, 3) };
    return { value: f([...x], own, kit) };
  } catch (e) {
    return { thrown: String(e) };
  }
}

/** Within the accuracy of the math library: all else is exact. What was read outside an array is NaN, not undefined. */
function agree(plain: unknown, compiled: number, exact: boolean): boolean {
  if (Object.is(plain, compiled)) return true;
  if (plain === undefined) return Number.isNaN(compiled);
  if (exact || typeof plain !== 'number') return false;
  return Math.abs(plain - compiled) <= 16 * 2 ** -52 * Math.abs(plain);
}

/** What is wrong with an entry; undefined when it is the same as JavaScript, or refused as it should be. */
function fault(body: string): string | undefined {
  const f = parsed(body);
  if (!f) return undefined;
  counts.all++;
  let compiled: Float64Array;
  let shape: Shape;
  try {
    const made = compile(f, { dims: 2, params, target: 'javascript' });
    ({ shape } = made);
    compiled = made.evaluate(COLUMNS);
  } catch (e) {
    if (!(e instanceof IntegrandError)) return `the compiler threw ${(e as Error).stack}`;
    if (!e.line || !/\w/.test(e.remedy)) return `a refusal without place or remedy: ${e.message}`;
    // the value was a boolean, an array, …: whether it is true can still be compared
    const again = /^return ([^;]*);$/.exec(body);
    return again && /^The integrand returns/.test(e.reason)
      ? fault(`return (${again[1]}) ? 1 : 2; `)
      : undefined;
  }
  counts.compiled++;
  // two elements outside an array are equal in JavaScript, where both are undefined; here they are NaN (docs/integrand-language.md)
  if (/(p\.w\[Math.*) [!=]==? \1|f\(\) === f\(\).*/.test(body) && /p\.w\[Math/.test(body)) return undefined;
  const exact = !/Math\.|\*\*|m\.|p\.[ts]\(|__pow/.test(body);
  for (const [i, x] of POINTS.entries()) {
    const plain = plainly(f, x);
    if ('thrown' in plain) return `JavaScript throws ${plain.thrown}, compiled ${compiled[i]}`;
    for (const [r, value] of byResult([plain.value], shape).entries()) {
      const given = compiled[r * POINTS.length + i];
      if (!agree(value, given, exact)) return `JavaScript ${String(value)}, compiled ${given}`;
    }
  }
  return undefined;
}

const counts = { all: 0, compiled: 0 };

const groups = new Map<string, string[]>();
for (const [group, body] of matrix()) {
  if (!groups.has(group)) groups.set(group, []);
  groups.get(group)!.push(body);
}

describe('the same as JavaScript, or refused', () => {
  test.each([...groups.keys()])('%s', group => {
    const faults = groups.get(group)!.flatMap(body => {
      const why = fault(body);
      return why ? [`${body}  →  ${why}`] : [];
    });
    expect(faults).toEqual([]);
  });
  test('more than 12,000 entries, of which more than 2,000 compile', () => {
    expect(counts.all).toBeGreaterThan(12_000);
    expect(counts.compiled).toBeGreaterThan(2000);
  });
});
