/**
 * Random formulas, written in our notation and in JavaScript with every bracket: both give the same bits. The writer here knows
 * the documented precedence and nothing of the parser.
 */
import { describe, expect, test } from 'vitest';
import { integrandOf } from '../../src/cli/expression/integrand.ts';
import { tokens } from '../../src/cli/expression/tokens.ts';
import { UsageError } from '../../src/cli/usage-error.ts';
import { compile } from '../../src/index.ts';
import { Random } from '../compiler/random.ts';

interface Formula {
  ours: string;
  js: string;
  strength: number;
}

const VARIABLES = ['x', 'y', 'z'];
const BINARY = [
  ['+', 5],
  ['-', 5],
  ['*', 6],
  ['/', 6],
  ['%', 6],
  ['^', 8],
] as const;
const CALLS = ['sin', 'cos', 'exp', 'abs', 'sqrt', 'floor', 'atan', 'tanh', 'cbrt'];

function formula(r: Random, depth: number): Formula {
  const kind = depth === 0 ? r.below(2) : r.below(7);
  const space = () => (r.chance(0.3) ? ' ' : '');
  const wrapped = (f: Formula, least: number) =>
    f.strength < least || r.chance(0.1) ? `(${space()}${f.ours}${space()})` : f.ours;
  if (kind === 0) {
    const v = r.pick(VARIABLES);
    return { ours: v, js: v, strength: 9 };
  }
  if (kind === 1) {
    const n = r.pick(['2', '0.5', '3', '10', '.25', '1e1', '7.']);
    return { ours: n, js: `${Number(n)}`, strength: 9 };
  }
  if (kind === 2) {
    const a = formula(r, depth - 1);
    const fn = r.pick(CALLS);
    return { ours: `${fn}(${a.ours})`, js: `Math.${fn}(${a.js})`, strength: 9 };
  }
  if (kind === 3) {
    const a = formula(r, depth - 1);
    return { ours: `-${wrapped(a, 7)}`, js: `(-(${a.js}))`, strength: 7 };
  }
  if (kind === 4) {
    const [c, d, a, b] = [0, 1, 2, 3].map(() => formula(r, depth - 1));
    const op = r.pick(['<', '<=', '>', '>=']);
    return {
      ours: `${wrapped(c, 5)}${op}${wrapped(d, 5)} ? ${wrapped(a, 2)} : ${wrapped(b, 1)}`,
      js: `((${c.js}) ${op} (${d.js}) ? (${a.js}) : (${b.js}))`,
      strength: 1,
    };
  }
  const [op, strength] = r.pick(BINARY);
  const [a, b] = [formula(r, depth - 1), formula(r, depth - 1)];
  const [left, right] = op === '^' ? [9, 7] : [strength, strength + 1];
  return {
    ours: `${wrapped(a, left)}${space()}${op}${space()}${wrapped(b, right)}`,
    js: `((${a.js}) ${op === '^' ? '**' : op} (${b.js}))`,
    strength,
  };
}

describe('random formulas', () => {
  test('3000 of them mean the same here and in JavaScript', () => {
    for (let seed = 0; seed < 3000; seed++) {
      const r = new Random(seed);
      const { ours, js } = formula(r, 1 + r.below(5));
      const oracle = new Function(...VARIABLES, `return ${js};`);
      const { f } = integrandOf(ours, VARIABLES, []);
      for (let k = 0; k < 3; k++) {
        const point = VARIABLES.map(() => 4 * r.unit() - 2);
        expect(f(point, {}, {} as never), `seed ${seed}: ${ours} at ${point}`).toBe(oracle(...point));
      }
    }
  });
  test('200 of them compile, and give what JavaScript gives to 1e-10', () => {
    for (let seed = 10_000; seed < 10_200; seed++) {
      const r = new Random(seed);
      const { ours, js } = formula(r, 3);
      const oracle = new Function(...VARIABLES, `return ${js};`);
      const point = VARIABLES.map(() => 2 * r.unit() + 0.1);
      const expected = oracle(...point) as number;
      if (Math.abs(expected) > 1e6) continue; // powers of powers magnify last bits
      const { f } = integrandOf(ours, VARIABLES, []);
      const [found] = compile(f, { dims: 3, target: 'javascript' }).evaluate(Float64Array.from(point));
      if (Number.isNaN(expected)) expect(found, ours).toBeNaN();
      else
        expect(Math.abs(found - expected), ours).toBeLessThanOrEqual(1e-10 * Math.max(1, Math.abs(expected)));
    }
  });
  test('20000 random texts are read or refused with a place, and nothing else happens', () => {
    const pieces = [
      'x',
      'y',
      '2',
      '.',
      '1e',
      '(',
      ')',
      '+',
      '-',
      '*',
      '/',
      '^',
      '<',
      '==',
      '?',
      ':',
      ',',
      'sin',
      'e',
      '!',
      '&&',
      ' ',
      '=',
      '∞',
      '𝑥',
    ];
    for (let seed = 0; seed < 20_000; seed++) {
      const r = new Random(seed);
      const text = Array.from({ length: 1 + r.below(12) }, () => r.pick(pieces)).join('');
      try {
        const { f } = integrandOf(text, VARIABLES, []);
        expect(typeof f([1, 2, 3], {}, {} as never), text).toBe('number');
      } catch (e) {
        expect(e, text).toBeInstanceOf(UsageError);
        const { place } = e as UsageError;
        expect(place!.start, text).toBeGreaterThanOrEqual(0);
        expect(place!.start, text).toBeLessThanOrEqual(text.length);
        expect(place!.end, text).toBeGreaterThan(place!.start);
      }
    }
  });
  test('tokens cover the text but for its spaces', () => {
    const text = ' exp( -x ^2 )*2.5e-3';
    expect(
      tokens(text)
        .map(t => text.slice(t.start, t.end))
        .join(''),
    ).toBe(text.replaceAll(' ', ''));
  });
});
