/** `x ** n` with a constant n that is a multiple of 1/8: products and square roots, as accurate as the documentation says. */
import { expect, test } from 'vitest';
import { compile } from '../../src/integrand/compile.ts';
import { Random } from '../compiler/random.ts';

/** A float64 as m·2^e. */
function dyadic(x: number): [m: bigint, e: number] {
  let e = 0;
  while (!Number.isInteger(x)) {
    x *= 2;
    e--;
  }
  return [BigInt(x), e];
}

/** (y^8 / x^k − 1)/8 to first order: what y is off by, relative to x^(k/8). Exact but for the last division. */
function relativeError(y: number, x: number, k: number): number {
  const [my, ey] = dyadic(y);
  const [mx, ex] = dyadic(x);
  let [top, bottom] = [my ** 8n, 1n];
  if (k >= 0) bottom *= mx ** BigInt(k);
  else top *= mx ** BigInt(-k);
  const shift = 8 * ey - k * ex;
  if (shift >= 0) top <<= BigInt(shift);
  else bottom <<= BigInt(-shift);
  return Number(((top - bottom) << 80n) / bottom) / 2 ** 80 / 8;
}

const ulpsOf = (y: number, relative: number) => Math.abs(relative * y) / 2 ** (Math.floor(Math.log2(y)) - 52);

test.each(['wasm', 'javascript'] as const)('%s: within |n| + 4 ulp', target => {
  const random = new Random(1);
  const xs = Float64Array.from({ length: 40 }, () => 0.5 + 1.5 * (random.below(2 ** 30) / 2 ** 30));
  for (let k = -128; k <= 128; k++) {
    const f = new Function('x', `return x[0] ** ${k / 8};`) as (x: number[]) => number;
    const { evaluate } = compile(f, { dims: 1, target });
    evaluate(xs).forEach((y, i) => {
      const limit = Math.abs(k / 8) + 4;
      expect(ulpsOf(y, relativeError(y, xs[i], k)), `${xs[i]} ** ${k / 8}`).toBeLessThanOrEqual(limit);
    });
  }
});
