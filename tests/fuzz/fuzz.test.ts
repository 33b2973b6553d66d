/** The fuzzer's findings of the past, and a short run of it; `npm run fuzz -- --minutes N` goes on. */
import { describe, expect, test } from 'vitest';
import { makeProgram } from '../../src/integrand/program-cache.ts';
import { findings } from './findings.ts';
import { compiled, isFault, judge, judgeAll } from './judge.ts';
import { judgeProblem, problem } from './problems.ts';
import { program } from './program.ts';
import { reduce } from './reduce.ts';

describe('findings', () => {
  test.each(Object.entries(findings))('%s', (_, [text, verdict]) => {
    const { kind, why } = judge(text);
    expect(kind, why).toBe(verdict);
  });
});

describe('the judge', () => {
  test('tells what it must: other numbers, numbers in place of an error, what is documented, what does not end', () => {
    const kinds = {
      'x => x[0] + x[1]': 'same',
      'x => { const a = [1, 2]; a[Math.floor(x[0] * 5)] = 3; return a[0]; }': 'documented',
      'x => [1, 2][Math.floor(x[0] * 5)] + 1': 'same',
      '(x, p) => Math.max(1, +Number.isNaN(p.data[Math.floor(x[0] * 9)] + 0))': 'same',
      "x => 'a'.length": 'refused',
      'x => { let t = x[0]; while (t < 1e10) t += 1e-9; return t; }': 'endless',
      'x +': 'nothing',
    };
    for (const [text, kind] of Object.entries(kinds)) expect(judge(text).kind, text).toBe(kind);
  });
  test('sees a compiler that is wrong, crashes, or gives a number where JavaScript throws', () => {
    const wrong = () => compiled(x => x[0] + 1e-15);
    expect(judge('x => x[0]', wrong).kind).toBe('differs');
    expect(judge('x => { throw 1; }', wrong).kind).toBe('throws');
    expect(judge('x => x', wrong).kind).toBe('differs');
    const crash = () => {
      throw new TypeError('x is undefined');
    };
    expect(judge('x => x[0]', crash).kind).toBe('crash');
  });
});

test('every program of a batch gets one verdict, also when one of them does not end', () => {
  const texts = ['x => x[0]', 'x => { for (;;) if (x[0] > 1e9) return 1; }', 'x => x[9]', 'x =>'];
  const kinds: string[] = [];
  judgeAll(texts, ({ kind }, text) => kinds.push(`${texts.indexOf(text)} ${kind}`));
  expect(kinds).toEqual(['0 same', '1 endless', '2 refused', '3 nothing']);
});

test('the reducer leaves what a property needs', () => {
  const text =
    'function f(x, p) { let t = x[0], h = 2; for (let i = 0; i < 3; i++) { if (h > t) { t += Math.imul(h, 3); } } const a = [t, h, x[1]]; return a[0] + h; }';
  const holds = (t: string) => judge(t).kind === 'same' && t.includes('imul');
  const small = reduce(text, holds);
  expect(holds(small)).toBe(true);
  expect(small.length).toBeLessThan(60);
});

test('1000 programs near the border of the language are as in JavaScript, or refused', () => {
  const counts = new Map<string, number>();
  judgeAll(
    Array.from({ length: 1200 }, (_, seed) => program(seed)),
    (verdict, text) => {
      counts.set(verdict.kind, (counts.get(verdict.kind) ?? 0) + 1);
      if (isFault(verdict)) expect.fail(`${verdict.kind}: ${verdict.why}\n${text}`);
    },
  );
  expect(counts.get('same')).toBeGreaterThan(400);
  expect(counts.get('refused')).toBeGreaterThan(250);
});

describe('domains and params', () => {
  test('of 80 problems each is as in JavaScript, or refused; 40 at least are not refused', () => {
    const kinds = Array.from({ length: 80 }, (_, seed) => {
      const made = problem(seed);
      const { kind, why } = judgeProblem(made, seed);
      expect(kind, `${why}\n${made.text}`).not.toBe('fault');
      return kind;
    });
    expect(kinds.filter(kind => kind === 'same').length).toBeGreaterThan(40);
  });
  test('a compiler that is wrong is seen', () => {
    const made = { ...problem(1), integrand: 'x => 1 + x[0]' };
    const wrong: typeof makeProgram = (_, ...rest) => makeProgram(x => 1.0001 + x[0], ...rest);
    expect(judgeProblem(made, 1).kind).toBe('same');
    expect(judgeProblem(made, 1, wrong).kind).toBe('fault');
  });
});
