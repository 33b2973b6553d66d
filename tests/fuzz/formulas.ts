/**
 * Random formulas of the command line, written in its notation and in JavaScript with every bracket: both give the same bits. The
 * writer here knows the documented precedence and nothing of the parser.
 */
import { integrandOf } from '../../src/cli/expression/integrand.ts';
import { UsageError } from '../../src/cli/usage-error.ts';
import { kit } from '../../src/integrand/math/index.ts';
import type { Random } from '../compiler/random.ts';

export interface Formula {
  ours: string;
  js: string;
  /** The precedence of the outermost operator: 1 `?:`, 2 `||`, 3 `&&`, 4 comparisons, 5 `+`, 6 `*`, 7 signs, 8 `^`, 9 none. */
  strength: number;
}

export const VARIABLES = ['x', 'y', 'z'];
const BINARY = [
  ['+', 5],
  ['-', 5],
  ['*', 6],
  ['/', 6],
  ['%', 6],
  ['^', 8],
] as const;
const COMPARISONS = ['<', '<=', '>', '>=', '==', '!='];
const CALLS = 'sin cos exp abs sqrt floor atan tanh cbrt log round sign trunc asinh log1p'.split(' ');
const CONSTANTS = { pi: 'Math.PI', π: 'Math.PI', e: 'Math.E', inf: 'Infinity', '∞': 'Infinity' };

export function formula(r: Random, depth: number): Formula {
  const space = () => (r.chance(0.3) ? ' ' : '');
  const wrapped = (f: Formula, least: number) =>
    f.strength < least || r.chance(0.1) ? `(${space()}${f.ours}${space()})` : f.ours;
  const inner = () => formula(r, depth - 1);
  const variable = (): Formula => {
    const v = r.pick(VARIABLES);
    return { ours: v, js: v, strength: 9 };
  };
  const number = (): Formula => {
    const n = r.pick(['2', '0.5', '3', '10', '.25', '1e1', '7.']);
    return { ours: n, js: `${Number(n)}`, strength: 9 };
  };
  if (depth === 0) return r.chance(0.5) ? variable() : number();
  const truth = (f: Formula) => `(${f.js}) !== 0`;
  return r.weighted<() => Formula>([
    [2, variable],
    [2, number],
    [
      0.5,
      () => {
        const [ours, js] = r.pick(Object.entries(CONSTANTS));
        return { ours, js, strength: 9 };
      },
    ],
    [
      3,
      () => {
        const [a, fn] = [inner(), r.pick(CALLS)];
        return { ours: `${fn}(${a.ours})`, js: `Math.${fn}(${a.js})`, strength: 9 };
      },
    ],
    [
      1,
      () => {
        const args = Array.from({ length: 2 + r.below(2) }, inner);
        const fn = r.pick(['min', 'max', 'hypot']);
        return {
          ours: `${fn}(${args.map(a => a.ours).join(`,${space()}`)})`,
          js: `Math.${fn}(${args.map(a => a.js).join(', ')})`,
          strength: 9,
        };
      },
    ],
    [
      2,
      () => {
        const [a, sign] = [inner(), r.pick(['-', '-', '+'])];
        return { ours: `${sign}${wrapped(a, 7)}`, js: `(${sign}(${a.js}))`, strength: 7 };
      },
    ],
    [
      0.7,
      () => {
        const a = inner();
        return { ours: `!${wrapped(a, 7)}`, js: `(${truth(a)} ? 0 : 1)`, strength: 7 };
      },
    ],
    [
      1.5,
      () => {
        const [a, b, c] = [inner(), inner(), inner()];
        const [first, second] = [r.pick(COMPARISONS), r.pick(COMPARISONS)];
        const js = (p: Formula, op: string, q: Formula) =>
          `(${p.js}) ${op.replace('==', '===').replace('!=', '!==')} (${q.js})`;
        const chain = r.chance(0.3);
        const one = `${wrapped(a, 5)}${space()}${first}${space()}${wrapped(b, 5)}`;
        return {
          ours: chain ? `${one}${second}${wrapped(c, 5)}` : one,
          js: `(${js(a, first, b)}${chain ? ` && ${js(b, second, c)}` : ''} ? 1 : 0)`,
          strength: 4,
        };
      },
    ],
    [
      1,
      () => {
        const [a, b] = [inner(), inner()];
        const [op, strength] = r.pick([
          ['&&', 3],
          ['||', 2],
        ] as const);
        return {
          ours: `${wrapped(a, strength)} ${op} ${wrapped(b, strength + 1)}`,
          js: `(${truth(a)} ${op} ${truth(b)} ? 1 : 0)`,
          strength,
        };
      },
    ],
    [
      1,
      () => {
        const [c, a, b] = [inner(), inner(), inner()];
        return {
          ours: `${wrapped(c, 2)} ? ${wrapped(a, 1)} : ${wrapped(b, 1)}`,
          js: `(${truth(c)} ? (${a.js}) : (${b.js}))`,
          strength: 1,
        };
      },
    ],
    [
      1,
      () => {
        const [n, a] = [r.pick(['2', '3', '0.5']), inner()];
        const bracketed = r.chance(0.5) ? variable() : undefined;
        return {
          ours: bracketed ? `${n}${bracketed.ours}` : `${n}(${a.ours})`,
          js: `(${n} * (${(bracketed ?? a).js}))`,
          strength: 6,
        };
      },
    ],
    [
      6,
      () => {
        const [op, strength] = r.pick(BINARY);
        const [a, b] = [inner(), inner()];
        const [left, right] = op === '^' ? [9, 7] : [strength, strength + 1];
        return {
          ours: `${wrapped(a, left)}${space()}${op}${space()}${wrapped(b, right)}`,
          js: `((${a.js}) ${op === '^' ? '**' : op} (${b.js}))`,
          strength,
        };
      },
    ],
  ])();
}

const PIECES =
  'x y z 2 . 1e ( ) + - * / ^ < == ? : , sin e ! && || = ∞ 𝑥 x_ constructor __proto__ toString valueOf hasOwnProperty Math erf j0 π 1e400 0x1 ** => ; " ` # $ \\ \u001b \u0000 é in'.split(
    ' ',
  );

/** A text that is probably no formula: random pieces, or a formula with some of its characters changed. */
export function garbled(r: Random): string {
  if (r.chance(0.5)) return Array.from({ length: 1 + r.below(12) }, () => r.pick([...PIECES, ' '])).join('');
  const text = [...formula(r, 1 + r.below(3)).ours];
  for (let k = 1 + r.below(3); k > 0; k--) text.splice(r.below(text.length + 1), r.below(2), r.pick(PIECES));
  return text.join('');
}

/** What is wrong with how a text is read: undefined where it is read as a number or refused with its place. */
export function faultOfText(text: string): string | undefined {
  try {
    const { f } = integrandOf(text, VARIABLES, []);
    const value = f([1, 2, 3], {}, kit);
    return typeof value === 'number' ? undefined : `it gives a ${typeof value}`;
  } catch (e) {
    if (!(e instanceof UsageError)) return String((e as Error)?.stack ?? e);
    const { place } = e;
    const fits = place && place.start >= 0 && place.start <= text.length && place.end > place.start;
    return fits ? undefined : `the error has no place in the text: ${e.message}`;
  }
}

/** What is wrong with how a formula is read: undefined where it gives the bits that JavaScript gives. */
export function faultOfFormula({ ours, js }: Formula, point: readonly number[]): string | undefined {
  try {
    const expected = new Function(...VARIABLES, `return ${js};`)(...point);
    const value = integrandOf(ours, VARIABLES, []).f([...point], {}, kit);
    return Object.is(value, expected) ? undefined : `it gives ${value}, JavaScript ${expected}`;
  } catch (e) {
    return String(e);
  }
}
