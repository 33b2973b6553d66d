/** Compiling ends: its work grows with what is lowered, has a ceiling, and is over at `maxTime`. Bounds tell an end from none. */
import { describe, expect, test } from 'vitest';
import { compile } from '../../src/integrand/compile.ts';
import { IntegrandError } from '../../src/integrand/diagnostics.ts';
import { lower } from '../../src/integrand/lower/lower.ts';
import { type Decisions, Lowering } from '../../src/integrand/lower/lowering.ts';
import { State } from '../../src/integrand/lower/state.ts';
import { read } from '../../src/integrand/read.ts';
import { table } from '../../src/integrand/tables.ts';
import { integrate } from '../../src/integrate.ts';
import { scan } from '../../src/scan.ts';
import { functionOf } from './compare.ts';

const grid = Array.from({ length: 20 }, (_, i) => i * i);
const params = { t: table([grid, grid], Array(400).fill(1)) };
const nest = (depth: number) =>
  functionOf(
    `x => { let s = 0; ${Array.from({ length: depth }, (_, i) => `for (let i${i} = 0; i${i} < 9 * x[0] + ${i}; i${i}++)`).join(' ')} s += x[1] * i0; return s; }`,
  );

/** The steps that lowering takes in all its attempts. */
function stepsOf(text: string): number {
  const seen: Decisions[] = [];
  const { step } = Lowering.prototype;
  Lowering.prototype.step = function (...args) {
    seen[0] = this.decisions;
    return step.apply(this, args);
  };
  try {
    lower(read(functionOf(text)), 2, params);
  } finally {
    Lowering.prototype.step = step;
  }
  return seen[0].steps;
}

describe('work', () => {
  const loops = (n: number) =>
    `(x, p) => { let s = 0; ${'for (let i = 0; i < 60; i++) for (let j = 0; j < 20; j++) s += p.t(x[0] * i, x[1] * j);'.repeat(n)} return s; }`;
  test('a table of two axes in two loops of 60 × 20 takes twice the steps of one', () => {
    expect(stepsOf(loops(2)) / stepsOf(loops(1))).toBeLessThan(2.2);
  });
  test('of integrands without an end to it is refused, with the place and a remedy', () => {
    let error: unknown;
    try {
      compile(nest(20), { dims: 2 });
    } catch (e) {
      error = e;
    }
    expect(error).toBeInstanceOf(IntegrandError);
    expect((error as Error).message).toMatch(
      /Unfolding the loops and helpers .* takes more than [\s\S]*Nest fewer loops/,
    );
  });
});

describe('maxTime counts from the call', () => {
  test('a run that is still compiling then ends with status time', async () => {
    const { status, evaluations, warnings } = await integrate(nest(20), { dims: 2, maxTime: 1 });
    expect([status, evaluations]).toEqual(['time', 0]);
    expect(warnings).toContain('maxTime was over before the integrand was compiled');
  });
  test('and so do those of a scan', async () => {
    const results = await scan(nest(20), { dims: 2, maxTime: 1, params: [{ a: 1 }, { a: 2 }] });
    expect(results.map(r => r.status)).toEqual(['time', 'time']);
  });
});

describe('a state', () => {
  const value = (text: string) => ({ kind: 'string', text }) as const;
  test('and its copy do not see what is written to the other', () => {
    const a = new State();
    for (let slot = 0; slot < 5000; slot += 7) a.set(slot, value(`${slot}`));
    const b = a.copy();
    a.set(7, value('a'));
    b.set(14, value('b'));
    b.set(100_000, value('far'));
    b.delete(21);
    expect([a.get(7), a.get(14), a.get(21), a.get(100_000)]).toEqual([
      value('a'),
      value('14'),
      value('21'),
      undefined,
    ]);
    expect([b.get(7), b.get(14), b.has(21), b.get(100_000)]).toEqual([
      value('7'),
      value('b'),
      false,
      value('far'),
    ]);
    expect(a.differences(b)).toEqual([7, 14, 21, 100_000]);
    expect(b.differences(a)).toEqual([7, 14, 21, 100_000]);
    expect(a.differences(a.copy())).toEqual([]);
  });
});
