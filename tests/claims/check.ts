/** The tests of claims: every kind of integrand with every method, from fixed seeds. A failure is a finding, never bad luck. */
import { afterAll, describe, expect, test } from 'vitest';
import type { MethodName } from '../../src/problem.ts';
import type { Kind } from './kind.ts';
import { kinds } from './kinds/index.ts';
import { trialOf } from './trials.ts';
import { judge, textOf } from './verdict.ts';

const BUDGETS = [1e5, 3e5, 1e6];

/** Claims that are false and known to be: a pole inside the domain, by 5.01 errors. One that is true again has to be taken off the list. */
const KNOWN = ['zmc, pole, trial 10 of seed 33'];

export interface Share {
  methods: readonly MethodName[];
  seed: number;
  /** Runs per method and kind. */
  runs: number;
  /** All kinds of kinds/index.ts, unless given. */
  among?: readonly Kind[];
  /** The number of claims that all of them make at least: a method that claims nothing lies about nothing. */
  least: number;
}

export function checkClaims({ methods, seed, runs, least, among = kinds }: Share): void {
  let claims = 0;
  const table: Record<string, { runs: number; claims: number; false: number }> = {};
  afterAll(() => console.table(table));

  describe.each(methods)(`${runs} runs of %s on every kind of integrand: no claim is false`, method => {
    const count = { runs: 0, claims: 0, false: 0 };
    table[method] = count;
    const possible = among.filter(k => k.symmetric || method !== 'mcubes1d');
    test.each(possible.map(k => [k.name, k] as const))('%s', async (_, kind) => {
      const wrong: string[] = [];
      for (let number = 0; number < runs; number++) {
        const options = { methods: [method], budgets: BUDGETS, among: [kind] };
        const verdict = await judge(trialOf(seed + methods.indexOf(method), number, options));
        count.runs++;
        if (verdict.claim === 'none') continue;
        claims++;
        count.claims++;
        const name = `${method}, ${kind.name}, trial ${number} of seed ${seed + methods.indexOf(method)}`;
        if (KNOWN.includes(name)) expect(verdict.claim, name).toBe('false');
        else if (verdict.claim === 'false') wrong.push(textOf(verdict));
      }
      count.false += wrong.length;
      expect(wrong).toEqual([]);
    });
  });

  test(`these were at least ${least} claims`, () => expect(claims).toBeGreaterThanOrEqual(least));
}
