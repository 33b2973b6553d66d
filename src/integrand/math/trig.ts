/**
 * Sine, cosine and tangent.
 *
 * The angle is reduced to r + tail, |r| ≤ π/4, by reduce.ts. There
 *
 *     sin = r + (tail·(1 − z/2) + r·z·S(z)),   cos = (1 − z/2) + (its rounding error + z²·C(z) − r·tail),   z = r²,
 *
 * with S and C of six coefficients each, minimax (Sollya's fpminimax) to 2^-58 and 2^-64. Both are computed,
 * since two lanes seldom agree on the quadrant. The error of sin and cos is 0.5 ulp from the last sum and less than
 * 0.3 ulp from the rest.
 */
import type { Kit } from './kit.ts';

/** [s, s′, c, c′] with sin(r + tail) = s + s′ and cos(r + tail) = c + c′, s′ and c′ small; |r| < 0.82. */
export function sinCosPairs(r: number, tail: number): [number, number, number, number] {
  const z = r * r;
  const w = z * z;
  const half = 0.5 * z;
  const one = 1 - half;
  const s =
    -0.16666666666666632 +
    z * 0.008333333333322491 +
    w *
      (-0.00019841269829859356 +
        z * 2.7557313707480277e-6 +
        w * (-2.5050760300368954e-8 + z * 1.5896911617197783e-10));
  const c =
    0.0416666666666666 -
    z * 0.001388888888887448 +
    w *
      (2.4801587289677466e-5 -
        z * 2.7557314402983985e-7 +
        w * (2.0875729558650747e-9 - z * 1.135994864101028e-11));
  return [r, tail * one + r * z * s, one, 1 - one - half + (w * c - r * tail)];
}

/** The sine of an angle reduced to r + tail and k quarter turns. */
export function sineOf(k: number, r: number, tail: number, { sinCosPairs }: Kit): number {
  const [s, sLow, c, cLow] = sinCosPairs(r, tail);
  const turn = 0.25 * k - Math.floor(0.25 * k); // 0, 1/4, 1/2 or 3/4
  const y = Math.abs(turn - 0.5) === 0.25 ? c + cLow : s + sLow;
  return turn >= 0.5 ? -y : y;
}

/** The cosine of an angle reduced to r + tail and k quarter turns. */
export function cosineOf(k: number, r: number, tail: number, { sinCosPairs }: Kit): number {
  const [s, sLow, c, cLow] = sinCosPairs(r, tail);
  const turn = 0.25 * k - Math.floor(0.25 * k);
  const y = Math.abs(turn - 0.5) === 0.25 ? s + sLow : c + cLow;
  return Math.abs(turn - 0.375) < 0.25 ? -y : y; // the quadrants 1 and 2
}

// Huge angles have functions of their own, called at the end, when only x and the result are live: inlined, they would
// cost registers on every path.

export function sinHuge(x: number, { reduceHuge, sineOf }: Kit): number {
  const [k, r, tail] = reduceHuge(x);
  return sineOf(k, r, tail);
}

export function cosHuge(x: number, { reduceHuge, cosineOf }: Kit): number {
  const [k, r, tail] = reduceHuge(x);
  return cosineOf(k, r, tail);
}

/** The sine. */
export function sin(x: number, { reduceSmall, sineOf, sinHuge }: Kit): number {
  const [k, r, tail] = reduceSmall(x);
  const y = sineOf(k, r, tail);
  if (!(Math.abs(x) < 8192)) return sinHuge(x);
  return x === 0 ? x : y;
}

/** The cosine. */
export function cos(x: number, { reduceSmall, cosineOf, cosHuge }: Kit): number {
  const [k, r, tail] = reduceSmall(x);
  const y = cosineOf(k, r, tail);
  if (!(Math.abs(x) < 8192)) return cosHuge(x);
  return y;
}

/** The tangent: sin/cos or −cos/sin, each in two parts, so that only the quotient and its correction round. */
export function tan(x: number, { reduceQuarter, sinCosPairs }: Kit): number {
  const [k, r, tail] = reduceQuarter(x);
  const [s, sLow, c, cLow] = sinCosPairs(r, tail);
  const sine = s + sLow;
  const sineLow = s - sine + sLow;
  const cosine = c + cLow;
  const cosineLow = c - cosine + cLow;
  const even = k * 0.5 === Math.floor(k * 0.5);
  const top = even ? sine : -cosine;
  const topLow = even ? sineLow : -cosineLow;
  const bottom = even ? cosine : sine;
  const bottomLow = even ? cosineLow : sineLow;
  const q = top / bottom;
  const y = q + (topLow - q * bottomLow) / bottom;
  return x === 0 ? x : y;
}
