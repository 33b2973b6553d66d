/**
 * Every function of the math library against MPFR: the largest error in ulp, over its whole range.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { evaluators } from './evaluators.ts';
import { oracle, reference } from './mpfr.ts';
import { promises } from './promises.ts';

/** The distance between float64 neighbours at x; 2^-1074 among the subnormals. */
function ulp(x: number): number {
  const exponent = Math.max(Math.floor(Math.log2(Math.abs(x))), -1022);
  const power = exponent < -1022 + 60 ? 2 ** (exponent - 52) : 2 ** -52 * 2 ** exponent;
  // Math.log2 may be off at the edge of a binade
  const scaled = Math.abs(x) / power;
  if (exponent > -1022 && scaled < 2 ** 52) return power / 2;
  return scaled >= 2 ** 53 ? power * 2 : power;
}

/** The error of got against hi + lo·ulp(hi), in ulp; Infinity where one is NaN or infinite and the other not. */
function errorInUlp(got: number, hi: number, lo: number, amplitude: number): number {
  if (!Number.isFinite(hi) || !Number.isFinite(got)) {
    if (Object.is(got, hi)) return 0;
    const edge = Math.abs(hi) === Number.MAX_VALUE || Math.abs(got) === Number.MAX_VALUE; // an ulp from overflow
    return edge && got * hi > 0 ? 1 : Infinity;
  }
  const unit = ulp(hi);
  return Math.abs((got - hi) / unit - lo) * (unit / ulp(Math.max(Math.abs(hi), amplitude)));
}

const measured: {
  function: string;
  on: string;
  points: number;
  'max ulp': string;
  at: string;
  promised: number;
}[] = [];

/** Points and MPFR's values at them, asked for once for all evaluators: MPFR takes most of the time of this file. */
const references = new Map<string, { at: Float64Array; truth: Float64Array }>();
function referenceOf(binary: string, title: string): { at: Float64Array; truth: Float64Array } {
  let made = references.get(title);
  if (!made) {
    const at = Float64Array.from(promises[title].points());
    made = { at, truth: reference(binary, promises[title].name ?? title, at) };
    references.set(title, made);
  }
  return made;
}

describe.each(Object.entries(evaluators))('%s', (on, evaluate) => {
  if ('absent' in oracle) {
    test.skip(`accuracy, skipped: ${oracle.absent}`, () => {});
    return;
  }
  const { binary } = oracle;
  for (const [title, promised] of Object.entries(promises)) {
    const { name = title, ulp: bound, where, arity = 1, amplitude } = promised;
    test(`${title} is within ${bound} ulp ${where}`, () => {
      const { at, truth } = referenceOf(binary, title);
      const got = evaluate(name, at, arity);
      let worst = -1;
      let worstAt: number[] = [];
      for (let i = 0; i < got.length; i++) {
        const x = at[arity * i];
        const error = errorInUlp(got[i], truth[2 * i], truth[2 * i + 1], amplitude?.(x) ?? 0);
        if (error > worst) [worst, worstAt] = [error, [...at.subarray(arity * i, arity * (i + 1))]];
      }
      measured.push({
        function: title,
        on,
        points: got.length,
        'max ulp': worst.toFixed(3),
        at: worstAt.join(', '),
        promised: bound,
      });
      expect(worst, `${name}(${worstAt.join(', ')})`).toBeLessThanOrEqual(bound);
    });
  }
});

afterAll(() => {
  if (measured.length > 0) console.table(measured);
});
