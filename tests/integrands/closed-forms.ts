/**
 * Truths of the applications, and how they come about.
 */

interface Market {
  S0: number;
  K: number;
  r: number;
  sigma: number;
  T: number;
}

/** The normal distribution function, from its series: 1e-15 for |z| < 6, which is all that is asked of it here. */
export function normal(z: number): number {
  let term = z;
  let sum = z;
  for (let k = 1; Math.abs(term) > 1e-17 * Math.abs(sum); k++) {
    term *= (z * z) / (2 * k + 1);
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
}

/** The discounted mean of max(S − K, 0) for log S normal with this mean and variance. */
function call({ K, r, T }: Market, mean: number, variance: number): number {
  const d = (mean - Math.log(K)) / Math.sqrt(variance);
  const forward = Math.exp(mean + variance / 2);
  return Math.exp(-r * T) * (forward * normal(d + Math.sqrt(variance)) - K * normal(d));
}

/** Eq. 11 of cuVegas as printed: the n normal numbers add up to one of variance n. */
export const asianPrinted = (p: Market, n: number): number =>
  call(p, Math.log(p.S0) + (p.r - p.sigma ** 2 / 2) * p.T, n * p.sigma ** 2 * p.T);

/**
 * The geometric mean of the prices at n equal steps is log-normal too (Glasserman, section 3.2.2): its log is
 * log S0 + Σ (n + 1 − i)/n of the i-th step, for i = 1..n.
 */
export const asianGeometric = (p: Market, n: number): number =>
  call(
    p,
    Math.log(p.S0) + ((p.r - p.sigma ** 2 / 2) * p.T * (n + 1)) / (2 * n),
    (p.sigma ** 2 * p.T * (n + 1) * (2 * n + 1)) / (6 * n * n),
  );

/**
 * ⟨x| exp(−HT) |x⟩ of the harmonic oscillator, V = q²/2, on N time steps (cuVegas eq. 12, 13): a Gaussian integral.
 * The action is ½ qᵀMq − b·q + c with M tridiagonal, 2m/a + a on the diagonal and −m/a beside it, b = m·x/a in
 * the first and last place, c = m·x²/a + a·x²/2. Elimination gives det M and b·M⁻¹b in one pass.
 */
export function discretePropagator({ x0, m, T }: { x0: number; m: number; T: number }, N: number): number {
  const a = T / N;
  const k = m / a;
  const diagonal = 2 * k + a;
  let logDet = 0;
  let bMb = 0;
  let pivot = diagonal;
  let b = k * x0;
  for (let j = 1; j < N; j++) {
    if (j === N - 1) b += k * x0; // the last row also touches the fixed end
    logDet += Math.log(pivot);
    bMb += (b * b) / pivot;
    b = (k / pivot) * b;
    pivot = diagonal - (k * k) / pivot;
  }
  const c = k * x0 ** 2 + (a * x0 ** 2) / 2;
  const logIntegral = ((N - 1) / 2) * Math.log(2 * Math.PI) - logDet / 2 + bMb / 2 - c;
  return Math.exp((N / 2) * Math.log(k / (2 * Math.PI)) + logIntegral);
}
