/**
 * The Bessel functions J0 and J1.
 *
 * Around the first zero x₁ (J0: x < 4, J1: x < 5.4) the function is x² − x₁², with x₁ in two parts, times a polynomial
 * in 16 − x² (J0) or 29.25 − x² (J1), all of whose coefficients have one sign; J1 has the factor x too. Around the
 * second zero x₂ (J0: x < 7.2, J1: x < 8.7) it is x − x₂ times a polynomial in x − x₂. So both zeros have full relative
 * accuracy. Beyond, modulus and phase (Abramowitz and Stegun 9.2.17–19):
 *
 *     J0 = √(2/πx)·M(1/x²)·cos(x − π/4 + F(1/x²)/x),   J1 = √(2/πx)·M(1/x²)·sin(x − π/4 + F(1/x²)/x),
 *
 * with rational M and F of degree 5 over 5 whose coefficients have one sign. The angle is reduced in two parts, so the
 * error is a few ulp of the amplitude √(2/πx). All fits were made for this library (Remez exchange at 200 bits),
 * to 2^-52.5 or better.
 */
import type { Kit } from './kit.ts';

/** [cos, sin] of x − π/4 + shift, for x ≥ 1 and |shift| < 0.05. */
export function eighthTurnBack(
  x: number,
  shift: number,
  { reduceQuarter, sinCosPairs }: Kit,
): [number, number] {
  const [k, r, low] = reduceQuarter(x);
  const up = r < 0; // x − π/4 = (r − π/4) + k·π/2 = (r + π/4) + (k − 1)·π/2
  const a = up ? r + 0.7853981633974483 : r - 0.7853981633974483;
  const rest = low + (up ? 3.061616997868383e-17 : -3.061616997868383e-17) + shift;
  const angle = a + rest;
  const [s0, s1, c0, c1] = sinCosPairs(angle, a - angle + rest);
  const n = up ? k - 1 : k;
  const turn = 0.25 * n - Math.floor(0.25 * n);
  const odd = Math.abs(turn - 0.5) === 0.25;
  const s = s0 + s1;
  const c = c0 + c1;
  const cosine = odd ? s : c;
  const sine = odd ? c : s;
  return [Math.abs(turn - 0.375) < 0.25 ? -cosine : cosine, turn >= 0.5 ? -sine : sine];
}

/** J0. */
export function j0(x: number, { eighthTurnBack }: Kit): number {
  const a = Math.abs(x);
  if (a < 7.2) {
    if (a < 4) {
      const v = 16 - a * a;
      const v2 = v * v;
      const v4 = v2 * v2;
      const v8 = v4 * v4;
      const p =
        -0.03887217761070214 -
        v * 0.004612748498967337 +
        v2 * (-0.00017304781638253128 - v * 3.2317354128275305e-6) +
        v4 *
          (-3.6404957296717855e-8 -
            v * 2.753875597885215e-10 +
            v2 * (-1.4987304631218026e-12 - v * 6.15759286637449e-15)) +
        v8 * (-1.9807772105093552e-17 - v * 5.050408694025387e-20 - v2 * 1.2642245817260104e-22);
      const y = (a - 2.404825557695773 + 1.176691651530894e-16) * (a + 2.404825557695773) * p;
      return a < 1e-8 ? 1 : y;
    }
    const t = a - 5.520078110286311 - 8.088597146146722e-17;
    const t2 = t * t;
    const t4 = t2 * t2;
    const t8 = t4 * t4;
    return (
      t *
      (0.3402648065583681 -
        t * 0.03082065142559385 +
        t2 * (-0.05298855286760381 + t * 0.004631042145910754) +
        t4 *
          (0.0022574402290261634 -
            t * 0.00017518572900815558 +
            t2 * (-4.652109071820593e-5 + t * 3.1997869345586895e-6)) +
        t8 *
          (5.716490364132926e-7 -
            t * 3.511538795934824e-8 +
            t2 * (-4.683366024171154e-9 + t * 2.5923594340246066e-10) +
            t4 *
              (2.7437640743007174e-11 -
                t * 1.3845349614202213e-12 +
                t2 * (-1.1704996838033304e-13 + t * 5.9198333320042794e-15))))
    );
  }
  const u = 1 / a;
  const w = u * u;
  const w2 = w * w;
  const w4 = w2 * w2;
  const modulus =
    (1 +
      w * 109.65522142960553 +
      w2 * (3398.7739794111512 + w * 33982.28058398045) +
      w4 * (92188.9910785551 + w * 33534.05376675576)) /
    (1 +
      w * 109.71772142960548 +
      w2 * (3405.5278213756583 + w * 34184.31142080669) +
      w4 * (94026.69651404166 + w * 37185.93012403379));
  const phase =
    (u *
      (-0.12499999999999999 -
        w * 15.762949524552882 +
        w2 * (-574.9035668279896 - w * 6985.307536722118) +
        w4 * (-24060.164797204478 - w * 11269.862245592809))) /
    (1 +
      w * 126.6244295297541 +
      w2 * (4663.502195844395 + w * 58112.17843584856) +
      w4 * (216400.98276507205 + w * 147054.80371232724));
  const turned = eighthTurnBack(a, phase);
  return a === Infinity ? 0 : Math.sqrt(0.6366197723675814 * u) * modulus * turned[0];
}

/** J1. */
export function j1(x: number, { eighthTurnBack }: Kit): number {
  const a = Math.abs(x);
  if (a < 8.7) {
    if (a < 5.4) {
      const v = 29.25 - a * a;
      const v2 = v * v;
      const v4 = v2 * v2;
      const v8 = v4 * v4;
      const p =
        -0.004380630198374665 -
        v * 0.000405484452052663 +
        v2 * (-1.269553419263154e-5 - v * 2.0465265642047716e-7) +
        v4 *
          (-2.033330346526766e-9 -
            v * 1.3777332207268326e-11 +
            v2 * (-6.795633261623652e-14 - v * 2.5543160369155507e-16)) +
        v8 *
          (-7.569151060460711e-19 -
            v * 1.8149836047469306e-21 +
            v2 * (-3.6061738599661664e-24 - v * 5.816441173017699e-27) -
            v4 * 1.0648744365417045e-29);
      return x * ((a - 3.8317059702075125 + 1.5269184090088067e-16) * (a + 3.8317059702075125) * p);
    }
    const t = a - 7.015586669815619 + 9.414165653410389e-17;
    const t2 = t * t;
    const t4 = t2 * t2;
    const t8 = t4 * t4;
    const y =
      t *
      (0.30011575252613254 -
        t * 0.021389212809341755 +
        t2 * (-0.04697047894973954 + t * 0.0031302917260505386) +
        t4 *
          (0.0021055871432336727 -
            t * 0.0001255079095615124 +
            t2 * (-4.499147526095823e-5 + t * 2.4015808144043253e-6)) +
        t8 *
          (5.665269414381951e-7 -
            t * 2.7273444168193557e-8 +
            t2 * (-4.7204365530975015e-9 + t * 2.065426860982182e-10) +
            t4 *
              (2.798558284678808e-11 -
                t * 1.1233779070681725e-12 +
                t2 * (-1.198725850370331e-13 + t * 4.68585210751306e-15))));
    return x < 0 ? -y : y;
  }
  const u = 1 / a;
  const w = u * u;
  const w2 = w * w;
  const w4 = w2 * w2;
  const modulus =
    (1 +
      w * 117.62896689707175 +
      w2 * (3856.750674672998 + w * 39848.175716031714) +
      w4 * (108389.54143115642 + w * 44559.74113254292)) /
    (1 +
      w * 117.44146689707175 +
      w2 * (3834.923759004772 + w * 39151.03062204433) +
      w4 * (101703.40621157394 + w * 30748.561218330986));
  const phase =
    (u *
      (0.375 +
        w * 50.661591835709565 +
        w2 * (1953.2642842993437 + w * 24472.185210538762) +
        w4 * (82514.86363250438 + w * 31127.354996966464))) /
    (1 +
      w * 135.53507822855875 +
      w2 * (5267.012292356979 + w * 67435.74416963599) +
      w4 * (245108.0706596482 + w * 147511.15601367052));
  const turned = eighthTurnBack(a, phase);
  const y = a === Infinity ? 0 : Math.sqrt(0.6366197723675814 * u) * modulus * turned[1];
  return x < 0 ? -y : y;
}
