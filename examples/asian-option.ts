/**
 * An Asian option: the right to buy at the price K what at n dates has cost S on average. Its price today is an integral
 * over n normal numbers, one a date (Glasserman, Monte Carlo Methods in Financial Engineering, section 3.2.2).
 *
 * See: the geometric average has a closed form, and the integral agrees with it. The arithmetic average, which is what
 * is traded, has none; but the two differ little. So the last line integrates their difference only, which varies
 * less, and adds the closed form: nearly the price of the line before, with a far smaller error for the same evaluations.
 */
import { integrate, type Result } from 'quadrille';

const n = 16;
const market = { S0: 100, K: 100, r: 0.05, sigma: 0.2, T: 1, geometric: 0, arithmetic: 0 };

/** Discounted payoffs, as many of each as `geometric` and `arithmetic` say. */
const payoff = (x: number[], p: typeof market, { erfinv }: { erfinv: (x: number) => number }) => {
  const dt = p.T / x.length;
  let logS = Math.log(p.S0);
  let sum = 0;
  let sumOfLogs = 0;
  for (const u of x) {
    const z = Math.SQRT2 * erfinv(2 * u - 1); // u is even in (0, 1), z is normal
    logS += (p.r - p.sigma ** 2 / 2) * dt + p.sigma * Math.sqrt(dt) * z;
    sum += Math.exp(logS);
    sumOfLogs += logS;
  }
  const call = (average: number) => Math.max(average - p.K, 0);
  const mean = p.arithmetic * call(sum / x.length) + p.geometric * call(Math.exp(sumOfLogs / x.length));
  return Math.exp(-p.r * p.T) * mean;
};

/** The geometric average is log-normal: the formula of Black and Scholes with its mean and variance. */
function closedForm({ S0, K, r, sigma, T }: typeof market): number {
  const mean = Math.log(S0) + ((r - sigma ** 2 / 2) * T * (n + 1)) / (2 * n);
  const variance = (sigma ** 2 * T * (n + 1) * (2 * n + 1)) / (6 * n * n);
  const d = (mean - Math.log(K)) / Math.sqrt(variance);
  return Math.exp(-r * T) * (Math.exp(mean + variance / 2) * normal(d + Math.sqrt(variance)) - K * normal(d));
}

/** The normal distribution function, by its series. */
function normal(z: number): number {
  let [term, sum] = [z, z];
  for (let k = 1; Math.abs(term) > 1e-17 * Math.abs(sum); k++) sum += term *= (z * z) / (2 * k + 1);
  return 0.5 + (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
}

const geometric = closedForm(market);
const arithmetic = 6.05789702594; // by quadrature from the last date to the first

const price = (kind: Partial<typeof market>) =>
  integrate(payoff, {
    dims: n,
    params: { ...market, ...kind },
    method: 'vegas+',
    relTol: 0,
    vegas: { evaluations: 2e5, iterations: 10, adapt: 5 },
  });
const line = (what: string, r: Result, truth: number, added = 0) => {
  const value = r.value + added;
  const off = ((value - truth) / r.error).toFixed(1);
  console.log(
    `${what.padEnd(38)} ${value.toFixed(6)} ± ${r.error.toFixed(6)}  ${truth.toFixed(6).padEnd(10)}  ${off}`,
  );
};
console.log('price of the average, 16 dates         found                true value  off by (errors)');
line('geometric', await price({ geometric: 1 }), geometric);
line('arithmetic', await price({ arithmetic: 1 }), arithmetic);
line(
  'arithmetic, as geometric + difference',
  await price({ arithmetic: 1, geometric: -1 }),
  arithmetic,
  geometric,
);
