/**
 * The error function, its complement and its inverse.
 *
 * erf(x) = x·P(z)/Q(z), z = x², of degree 12 over 12 for all |x| < 5.93, beyond which erf rounds to ±1, so there is
 * no exponential and no other case. All coefficients are positive, so nothing cancels. erfc(x) = e^(−x²)·P(x)/Q(x)
 * for x ≥ 0, of degree 9 over 10 on [0, 28], with positive coefficients too and x² in two parts. erfinv(x) is
 * x·P(r)/Q(r) with r = ¾ − x² where x² ≤ ¾, and P(v)/Q(v) with v = √(−log(1 − |x|)) − 1.375 elsewhere (the variables
 * of Wichura, AS 241). The coefficients were fitted for this library (rational Remez exchange at 200 bits); the
 * relative errors of the fits, with rounded coefficients, are 2^-54.1 (erf), 2^-53 (erfc) and about 2^-55 (erfinv).
 */
import type { Kit } from './kit.ts';

/** 2/√π·∫₀ˣ e^(−t²) dt. */
export function erf(x: number, { copySign }: Kit): number {
  const z = x * x;
  const z2 = z * z;
  const z4 = z2 * z2;
  const z8 = z4 * z4;
  const p =
    1.1283791670955126 +
    z *
      (0.2201667222364366 +
        z * 0.06612054360936409 +
        z2 * (0.006889250309521323 + z * 0.0008556321756268046) +
        z4 *
          (5.6940351575601626e-5 +
            z * 3.900231865183372e-6 +
            z2 * (1.6946949456212467e-7 + z * 6.75953338804048e-9)) +
        z8 *
          (1.71969387723407e-10 +
            z * 3.336424200880857e-12 +
            z2 * (2.2268769667293953e-14 + z * 1.5713431262463123e-17)));
  const q =
    1 +
    z *
      (0.5284510106679394 +
        z * 0.13474814296153784 +
        z2 * (0.021985909516883912 + z * 0.002564643773317487) +
        z4 *
          (0.00022608479687796348 +
            z * 1.5497821914142697e-5 +
            z2 * (8.34975839248757e-7 + z * 3.515338554411419e-8)) +
        z8 *
          (1.1245105775829886e-9 +
            z * 2.5493106548511933e-11 +
            z2 * (3.3191493563118975e-13 + z * 8.851089012239012e-16)));
  const a = Math.abs(x);
  const y = (a * p) / q;
  return copySign(a >= 5.93 || y > 1 ? 1 : y, x);
}

/** 1 − erf(x), accurate down to where it underflows, at 26.5. */
export function erfc(x: number, { high, expPair }: Kit): number {
  const a = Math.min(Math.abs(x), 28);
  const a2 = a * a;
  const a4 = a2 * a2;
  const a8 = a4 * a4;
  const p =
    1 +
    a * 2.191014777744058 +
    a2 * (2.3748351692394856 + a * 1.6353505624953566) +
    a4 *
      (0.7807313044929949 + a * 0.2668846029783055 + a2 * (0.06531723021925696 + a * 0.011074047721384749)) +
    a8 * (0.001189205171543226 + a * 6.252563797406564e-5);
  const q =
    1 +
    a * 3.3193939448395566 +
    a2 * (5.120370143980066 + a * 4.845928393993238) +
    a4 * (3.1254291221286965 + a * 1.4406421223648986 + a2 * (0.4827993531222511 + a * 0.11682568174617768)) +
    a8 * (0.01968365043605528 + a * 0.002107811285768753 + a2 * 0.00011082380780779869);
  const top = high(a);
  const y = (expPair(-top * top, -(a - top) * (a + top)) * p) / q;
  return x < 0 ? 2 - y : y;
}

/** The inverse of erf. */
export function erfinv(x: number, { log, copySign }: Kit): number {
  const a = Math.abs(x);
  if (a * a > 0.75) {
    const v = Math.sqrt(-log(1 - a)) - 1.375;
    const v2 = v * v;
    const v4 = v2 * v2;
    const v8 = v4 * v4;
    const p =
      1.0154672744298177 +
      v * 3.3839086573230777 +
      v2 * (4.739389602200793 + v * 3.5961988024728995) +
      v4 *
        (1.5801946014094523 +
          v * 0.3962221586423582 +
          v2 * (0.05214006315075194 + v * 0.0030485558297985893)) +
      v8 * 5.53262086856175e-5;
    const q =
      1 +
      v * 2.316218467977518 +
      v2 * (2.2765311040030687 + v * 1.1831815163307868) +
      v4 *
        (0.335527960605918 +
          v * 0.04820191272412672 +
          v2 * (0.0029727649750807775 + v * 5.5325037140603055e-5));
    return copySign(a === 1 ? Infinity : p / q, x);
  }
  const r = 0.75 - a * a;
  const r2 = r * r;
  const r4 = r2 * r2;
  const r8 = r4 * r4;
  const p =
    1.223610698407615 +
    r * 14.04684363456229 +
    r2 * (61.70814109228052 + r * 130.51012038396198) +
    r4 * (137.47172520568506 + r * 67.46763810063666 + r2 * (12.65858236823159 + r * 0.49294216195929264)) -
    r8 * 0.005491404680888023;
  const q =
    1 +
    r * 12.297346241978657 +
    r2 * (58.82841657654971 + r * 138.71868075498742) +
    r4 * (168.8451850346314 + r * 101.61924709173134 + r2 * (26.28990891843628 + r * 2.037088743804034));
  return (x * p) / q;
}
