/**
 * The error function, its complement and its inverse.
 *
 * erf x = x·(1 + E(x²)) below 1 (relative error 2^-30), 1 − erfc x above. From ½ on erfc x = e^(−x²)·F with x² in two parts; F is
 * a polynomial in x − 1.25 up to 2 (2^-27.4), and one in 1/x², over x, beyond (2^-25.5). Below ½ it is 1 − erf x. erfinv x is x·(c + r·P(r)/Q(r)) with r = ¾ − x² where x² ≤ ¾ (2^-26.6), and
 * s − P(s − 2.5)/Q(s − 2.5) with s = √(−log(1 − |x|)) elsewhere (2^-29; the variable of Wichura, AS 241).
 */
import { horner } from './horner.ts';

const E = horner(
  'z',
  [
    0.12837917, -0.37612635, 0.11283744, -0.026863622, 0.0052166544, -0.000842732, 0.000108908054,
    -8.674316e-6,
  ],
);
const NEAR = horner(
  's',
  [
    0.36782292, -0.2088219, 0.10679561, -0.05021775, 0.022010945, -0.00908646, 0.0035554566, -0.0013073225,
    0.00046701363, -0.00019357688, 6.420138e-5,
  ],
);
const FAR = horner(
  'w',
  [0.56418943, -0.28206852, 0.4215333, -1.0096934, 2.868668, -7.2280836, 12.275159, -9.736264],
);
const CENTRE_P = horner('r', [-1.0003184, -3.5355964, -2.3086772, -0.049001213]);
const CENTRE_Q = horner('r', [1, 5.5600066, 8.277211, 2.904284]);
const TAIL_P = horner('v', [0.30745408, 0.20979798, 0.036386758, 0.0005779281, -1.5323505e-5]);
const TAIL_Q = horner('v', [1, 0.83518684, 0.23085697, 0.019794092]);

export const ERF: Record<string, string> = {
  // erf x for |x| ≤ 1
  q_erfsmall: `fn q_erfsmall(x: f32) -> f32 {
  let z = x * x;
  return x * (1.0f + ${E});
}`,
  // erfc x for x ≥ ½
  q_erfclarge: `fn q_erfclarge(x: f32) -> f32 {
  let a = clamp(x, 0.5f, 10.3f);
  let top = q_top(a);
  let s = a - 1.25f;
  let u = 1.0f / a;
  let w = u * u;
  let scaled = select(u * ${FAR}, ${NEAR}, a < 2.0f);
  return q_expsum(-top * top, -(a - top) * (a + top), 0) * scaled;
}`,
  q_erf: `fn q_erf(x: f32) -> f32 {
  let a = abs(x);
  let y = select(1.0f - q_erfclarge(a), q_erfsmall(min(a, 1.0f)), a < 1.0f);
  return select(q_copysign(y, x), x, q_isnan(x));
}`,
  q_erfc: `fn q_erfc(x: f32) -> f32 {
  let large = q_erfclarge(abs(x));
  let y = select(select(large, 2.0f - large, x < 0.0f), 1.0f - q_erfsmall(clamp(x, -1.0f, 1.0f)), abs(x) < 0.5f);
  return select(y, x, q_isnan(x));
}`,
  q_erfinv: `fn q_erfinv(x: f32) -> f32 {
  let a = abs(x);
  let r = 0.75f - a * a;
  // the root of −log(1 − |x|) in two parts, because the quotient is subtracted
  let l = q_log2pair(1.0f - min(a, 0.99999994f));
  let square = q_product(-l.x, 0.6931472f);
  let root = sqrt(max(square.x, 0.5f));
  let top = q_top(root);
  let back = q_keep(q_keep(square.x - top * top) + (square.y - l.y * 0.6931472f)) / (root + top);
  let v = root - 2.5f;
  let y = select(a * (1.2236106f + r * ${CENTRE_P} / ${CENTRE_Q}), q_keep(top - ${TAIL_P} / ${TAIL_Q}) + back, r < 0.0f);
  let end = select(y, q_bits(0x7f800000u), q_size(x) == 0x3f800000u);
  return select(q_copysign(end, x), q_bits(0x7fc00000u), q_size(x) > 0x3f800000u);
}`,
};
