/**
 * Inverse hyperbolic functions.
 *
 * asinh and acosh are logarithms of 1 + (a sum in two parts), see log1pPair. atanh(x) is half the logarithm
 * of (1 + x)/(1 − x) = 2^k·(1 + s)/(1 − s), with s = ((1 + x) − 2^k·(1 − x))/((1 + x) + 2^k·(1 − x)), which is x
 * itself when k = 0. The series in s has seven coefficients, half of those in log.ts.
 */
import type { Kit } from './kit.ts';

/** asinh x = log(1 + x + x²/(1 + √(1 + x²))). */
export function asinh(x: number, { log, log1pPair, copySign }: Kit): number {
  const a = Math.abs(x);
  if (!(a < 1e8)) return copySign(log(a) + Math.LN2, x);
  const square = a * a;
  const g = square / (1 + Math.sqrt(1 + square));
  const hi = a + g;
  return copySign(log1pPair(hi, a - hi + g), x);
}

/** acosh x = log(1 + t + √(t·(2 + t))), t = x − 1; the product and its root are carried in two parts each. */
export function acosh(x: number, { log, log1pPair, high }: Kit): number {
  if (!(x >= 1 && x < 1e8)) return x >= 1 ? log(x) + Math.LN2 : NaN;
  const t = x - 1;
  const u = t + 2;
  const tTop = high(t);
  const uTop = high(u);
  const v = t * u;
  const vLow =
    tTop * uTop - v + tTop * (u - uTop) + (t - tTop) * uTop + (t - tTop) * (u - uTop) + t * (t - (u - 2));
  const w = Math.sqrt(v);
  const wTop = high(w);
  const wRest = w - wTop;
  const wLow = (v - wTop * wTop - 2 * wTop * wRest - wRest * wRest + vLow) / (2 * w + 1e-300);
  const hi = w + t;
  return log1pPair(hi, w - hi + t + wLow);
}

/** The inverse hyperbolic tangent. */
export function atanh(x: number, { splitAtRoot2, pow2, copySign }: Kit): number {
  const a = Math.abs(x);
  if (!(a < 1)) return a === 1 ? copySign(Infinity, x) : NaN;
  const plus = 1 + a;
  const plusLow = 1 - plus + a;
  const minus = 1 - a;
  const minusLow = 1 - minus - a;
  const [k] = splitAtRoot2(plus / minus);
  const scale = pow2(k);
  const other = scale * minus;
  const bottom = plus + other;
  const bottomLow = plus - (bottom - other) + (plusLow + scale * minusLow);
  const s = (plus - other + (plusLow - scale * minusLow)) / bottom;
  const z = s * s;
  const z2 = z * z;
  const z4 = z2 * z2;
  const rest =
    s *
    z *
    (0.33333333333333676 +
      z * 0.1999999999970524 +
      z2 * (0.14285714371631675 + z * 0.11111099243127891) +
      z4 * (0.09091784386876132 + z * 0.07656968662858676 + z2 * 0.07398542338708677));
  const half = 0.5 * k;
  const whole = half * 0.6931471803691238;
  const sum = whole + s;
  return copySign(
    sum + (whole - sum + s + (rest + half * 1.9082149292705877e-10 - (s * bottomLow) / bottom)),
    x,
  );
}
