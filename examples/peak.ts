/**
 * A peak that plain Monte Carlo misses: a Gaussian of width 0.01 in six dimensions. Its integral is 1, and nearly all of
 * that lies in less than a ten-millionth of the volume.
 *
 * See: plain samples fall beside the peak, find next to nothing and agree about it. So the error looks tiny and is
 * false, as `off by` shows; the result warns and does not call itself converged. VEGAS+ moves its samples to where the
 * function is. With too few to get there it is wrong as well, and warns; with enough it has the integral.
 */
import { integrate } from 'quadrille';

const truth = 1; // the cube cuts off less than 1e-200 of it

const peak = (x: number[], p: { centre: Float64Array; sigma: number }) => {
  let r2 = 0;
  for (let i = 0; i < x.length; i++) r2 += (x[i] - p.centre[i]) ** 2;
  return Math.exp(-r2 / (2 * p.sigma ** 2)) / (2 * Math.PI * p.sigma ** 2) ** (x.length / 2);
};
// not in the middle, which deterministic rules would hit by luck
const params = { centre: Float64Array.of(0.31, 0.62, 0.47, 0.73, 0.55, 0.38), sigma: 0.01 };

const runs = [
  ['plain', 1e5],
  ['plain', 1e6],
  ['plain', 1e7],
  ['vegas+', 1e5],
  ['vegas+', 1e7],
] as const;

console.log(`true value ${truth}\n`);
console.log('method  at most  evaluations  found          off by (errors)  status     warning');
const warnings: string[] = [];
for (const [method, maxEvaluations] of runs) {
  const r = await integrate(peak, { dims: 6, params, method, maxEvaluations, relTol: 1e-3 });
  const off = (r.value - truth) / r.error;
  for (const w of r.warnings) if (!warnings.includes(w)) warnings.push(w);
  const cells = [
    method.padEnd(7),
    maxEvaluations.toExponential(0).padEnd(8),
    r.evaluations.toExponential(1).padEnd(12),
    `${r}`.split(' ')[0].padEnd(14),
    (Math.abs(off) < 1000 ? off.toFixed(1) : off.toExponential(0)).padEnd(16),
    r.status.padEnd(10),
    r.warnings.map(w => `[${warnings.indexOf(w) + 1}]`).join(' '),
  ];
  console.log(cells.join(' ').trimEnd());
}
console.log();
for (const [i, w] of warnings.entries()) console.log(`[${i + 1}] ${w}`);
