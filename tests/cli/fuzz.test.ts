/** Random formulas and garbled ones (tests/fuzz/formulas.ts writes them) through the parser of the command line. */
import { describe, expect, test } from 'vitest';
import { integrandOf } from '../../src/cli/expression/integrand.ts';
import { tokens } from '../../src/cli/expression/tokens.ts';
import { Random } from '../compiler/random.ts';
import { faultOfFormula, faultOfText, formula, garbled, VARIABLES } from '../fuzz/formulas.ts';
import { isFault, judge } from '../fuzz/judge.ts';

describe('random formulas', () => {
  test('3000 of them mean the same here and in JavaScript', () => {
    for (let seed = 0; seed < 3000; seed++) {
      const r = new Random(seed);
      const f = formula(r, 1 + r.below(5));
      for (let k = 0; k < 3; k++) {
        const point = VARIABLES.map(() => 4 * r.unit() - 2);
        expect(faultOfFormula(f, point), `seed ${seed}: ${f.ours} at ${point}`).toBeUndefined();
      }
    }
  });
  test('300 of them give compiled what they give as they are', () => {
    for (let seed = 10_000; seed < 10_300; seed++) {
      const { ours } = formula(new Random(seed), 3);
      const verdict = judge(integrandOf(ours, VARIABLES, []).text);
      expect(isFault(verdict), `${ours}: ${verdict.kind}, ${verdict.why}`).toBe(false);
    }
  });
  test('20000 garbled texts are read or refused with a place, and nothing else happens', () => {
    for (let seed = 0; seed < 20_000; seed++) {
      const text = garbled(new Random(seed));
      expect(faultOfText(text), text).toBeUndefined();
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
