/**
 * The Bessel functions J0 and J1: near 0 a polynomial in x² (relative errors below 2^-35), around the first two zeros the
 * distance from the zero, in two parts, times a polynomial of it (below 2^-24.5), beyond them modulus and phase (Abramowitz and Stegun
 * 9.2.17–19). There the error is a few ulp of the amplitude √(2/πx).
 */
import { horner } from './horner.ts';

const J0_SMALL = horner('z', [-0.25, 0.015625, -0.00043402778, 6.7816804e-6, -6.780205e-8, 4.6009216e-10]);
const J0_FIRST = horner(
  't',
  [
    -0.5191475, 0.1079387, 0.056601934, -0.008657675, -0.0021945985, 0.00026445644, 4.411041e-5, -4.474201e-6,
    -6.5177994e-7, 1.06910335e-7,
  ],
);
const J0_SECOND = horner(
  't',
  [
    0.3402648, -0.030820651, -0.052988492, 0.0046310415, 0.0022573234, -0.00017518536, -4.6426623e-5,
    3.1986244e-6, 5.373715e-7, -3.405594e-8,
  ],
);
const J0_MODULUS = horner('w', [1, -0.062499616, 0.10330918, -0.5068178, 3.084729]);
const J0_PHASE = horner('w', [-0.125, 0.065102525, -0.2086776, 1.4793575, -10.828494]);
const J1_SMALL = horner(
  'z',
  [-0.0625, 0.0026041667, -5.425361e-5, 6.782614e-7, -5.6810583e-9, 3.8165745e-11, -4.1392226e-13],
);
const J1_FIRST = horner(
  't',
  [
    -0.4027594, 0.05255615, 0.053410463, -0.005179731, -0.0022331134, 0.00017467282, 4.6165682e-5,
    -3.036941e-6, -5.468344e-7, 3.1205722e-8,
  ],
);
const J1_SECOND = horner(
  't',
  [
    0.30011576, -0.021389222, -0.046970513, 0.0031303307, 0.0021055895, -0.00012555697, -4.4953365e-5,
    2.4243911e-6, 5.411116e-7, -3.0305028e-8,
  ],
);
const J1_MODULUS = horner('w', [1, 0.18749987, -0.19325432, 0.77912927, -4.975754]);
const J1_PHASE = horner('w', [0.375, -0.16406189, 0.37042415, -2.250722, 17.805069]);

export const BESSEL: Record<string, string> = {
  // (cos, sin) of x − π/4 + shift, for x ≥ 1 and |shift| < 0.06
  q_eighthback: `fn q_eighthback(x: f32, shift: f32) -> vec2f {
  let reduced = q_reduce(x);
  let r = bitcast<f32>(reduced.x);
  let up = r < 0.0f;
  let angle = (r + select(-0.7853982f, 0.7853982f, up)) + shift;
  let k = reduced.y + select(0u, 3u, up);
  let s = q_sinsmall(angle);
  let c = q_cossmall(angle);
  let odd = (k & 1u) == 1u;
  return vec2f(q_quadrant(select(c, s, odd), k + 1u), q_quadrant(select(s, c, odd), k));
}`,
  q_j0: `fn q_j0(x: f32) -> f32 {
  let a = abs(x);
  var y: f32;
  if (a < 1.4f) {
    let z = a * a;
    y = 1.0f + z * ${J0_SMALL};
  } else if (a < 4.0f) {
    let t = q_keep(a - 2.4048254f) - 1.087059e-7f;
    y = t * ${J0_FIRST};
  } else if (a < 7.2f) {
    let t = q_keep(a - 5.520078f) + 7.1934146e-8f;
    y = t * ${J0_SECOND};
  } else {
    let u = 1.0f / a;
    let w = u * u;
    y = sqrt(8.070114e29f / a) * 8.881784e-16f * ${J0_MODULUS} * q_eighthback(a, u * ${J0_PHASE}).x;
  }
  return select(select(y, 0.0f, q_size(x) == 0x7f800000u), x, q_isnan(x));
}`,
  q_j1: `fn q_j1(x: f32) -> f32 {
  let a = abs(x);
  var y: f32;
  if (a < 2.2f) {
    let z = a * a;
    y = a * (0.5f + z * ${J1_SMALL});
  } else if (a < 5.4f) {
    let t = q_keep(a - 3.831706f) + 7.685059e-8f;
    y = t * ${J1_FIRST};
  } else if (a < 8.7f) {
    let t = q_keep(a - 7.015587f) + 1.8321172e-7f;
    y = t * ${J1_SECOND};
  } else {
    let u = 1.0f / a;
    let w = u * u;
    y = sqrt(8.070114e29f / a) * 8.881784e-16f * ${J1_MODULUS} * q_eighthback(a, u * ${J1_PHASE}).y;
  }
  y = select(y, 0.0f, q_size(x) == 0x7f800000u);
  return select(select(y, -y, bitcast<u32>(x) >= 0x80000000u), x, q_isnan(x));
}`,
};
