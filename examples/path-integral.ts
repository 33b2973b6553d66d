/**
 * A path integral: the propagator <x| exp(-HT) |x> of the harmonic oscillator (m = ω = ħ = 1) as an integral over all paths
 * that leave x and are back after the time T (Lepage, Lattice QCD for novices; cuVegas, section 4.6). A path of N
 * steps is its N - 1 positions in between, each a dimension.
 *
 * See: neighbouring positions hang together, and VEGAS sees each axis apart; so with more steps the same evaluations
 * tell less, and at 16 they miss, with a warning. `free paths` is the same integral in better coordinates: it draws
 * paths of a free particle and averages exp(-potential). What it finds is the exact propagator on N steps. That one
 * comes near the propagator of continuous time as 1/N²: errors are about the integral, not about what led to it.
 */
import { type Integrand, integrate } from 'quadrille';

const params = { x0: 0.5, T: 4 };

const positions: Integrand = (path: number[], { x0, T }: typeof params) => {
  const N = path.length + 1;
  const a = T / N;
  let action = 0;
  let from = x0;
  for (const to of [...path, x0]) {
    action += (to - from) ** 2 / (2 * a) + (a * from ** 2) / 2;
    from = to;
  }
  return (2 * Math.PI * a) ** (-N / 2) * Math.exp(-action);
};

const freePaths: Integrand = (u: number[], { x0, T }: typeof params, { erfinv }) => {
  const N = u.length + 1;
  const a = T / N;
  let action = (a * x0 ** 2) / 2;
  let x = x0;
  for (let j = 1; j < N; j++) {
    const left = N - j; // steps to the end: on average a free path goes straight to it
    const normal = Math.SQRT2 * erfinv(2 * u[j - 1] - 1);
    x += (x0 - x) / (left + 1) + Math.sqrt((a * left) / (left + 1)) * normal;
    action += (a * x ** 2) / 2;
  }
  return Math.exp(-action) / Math.sqrt(2 * Math.PI * T);
};

/** Mehler's formula. On N steps it holds as well, with another frequency and mass. */
function propagator({ x0, T }: typeof params, omega = 1, mass = 1): number {
  const k = (mass * omega) / Math.sinh(omega * T);
  return Math.sqrt(k / (2 * Math.PI)) * Math.exp(-k * x0 ** 2 * (Math.cosh(omega * T) - 1));
}
function onSteps(N: number): number {
  const a = params.T / N;
  const omega = (2 / a) * Math.asinh(a / 2); // cosh(omega·a) = 1 + a²/2
  return propagator(params, omega, Math.sinh(omega * a) / (omega * a));
}

const continuous = propagator(params);
console.log(
  `<x| exp(-HT) |x> at x = ${params.x0}, T = ${params.T}: ${continuous.toFixed(8)} in continuous time`,
);
console.log('"off by" is in errors; ! marks results that came with a warning\n');
console.log(
  'steps  positions         off by  free paths        off by  exact, N steps  from continuous time',
);
for (const N of [2, 4, 8, 16]) {
  const exact = onSteps(N);
  const cells = [`${N}`.padEnd(6)];
  for (const [f, from, to] of [
    [positions, -5, 5],
    [freePaths, 0, 1],
  ] as const) {
    const domain = Array.from({ length: N - 1 }, () => [from, to] as const); // beyond ±5 less than 1e-10 is left
    const r = await integrate(f, { domain, params, method: 'vegas+', relTol: 1e-5, maxEvaluations: 2e6 });
    const found = `${r}`.split(' ')[0] + (r.warnings.length > 0 ? ' !' : '');
    cells.push(found.padEnd(17), ((r.value - exact) / r.error).toFixed(1).padEnd(7));
  }
  cells.push(exact.toFixed(8).padEnd(15), `${((exact / continuous - 1) * 100).toFixed(2)} %`);
  console.log(cells.join(' '));
}
