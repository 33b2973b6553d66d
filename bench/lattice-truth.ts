/**
 * Are the errors of `lattice` true: pulls of the integrands of the papers over many seeds.
 *
 *     node scripts/run.mjs bench/lattice-truth.ts [SEEDS] [RELTOL] [NAMES] [METHOD]
 *
 * BUDGET, SHIFTS and FIRST_SEED are taken from the environment. Rules of trust that were chosen by some seeds are tested by others.
 */
import { integrate, type Result } from 'quadrille';
import { catalogue } from '../tests/integrands/catalogue.ts';
import { pullsOf } from '../tests/truth/statistics.ts';

const [seeds = '200', relTol = '1e-4', names = '', method = 'lattice'] = process.argv.slice(2);
const first = Number(process.env.FIRST_SEED ?? 1);
const maxEvaluations = Number(process.env.BUDGET ?? 2e6);
const wanted = catalogue.filter(e => e.truth !== undefined && (!names || names.split(',').includes(e.name)));
console.log(
  `${method} to ${relTol}, at most ${maxEvaluations} evaluations, ${seeds} seeds from ${first} on: pulls = (value − truth)/error of runs without a warning`,
);
let [claimed, false3] = [0, 0];
for (const e of wanted) {
  const all: Result[] = [];
  const problem = {
    domain: e.domain,
    params: e.params ?? {},
    method,
    relTol: Number(relTol),
    maxEvaluations,
    ...(process.env.SHIFTS && { lattice: { shifts: Number(process.env.SHIFTS) } }),
  };
  for (let seed = first; seed < first + Number(seeds); seed++)
    all.push(await integrate(e.f as never, { ...problem, seed } as never));
  const truth = Number(e.truth);
  const sound = all.filter(r => r.warnings.length === 0);
  const far = (list: Result[]) => list.filter(r => Math.abs(r.value - truth) > 3 * r.error).length;
  const { mean, deviation, worst } = pullsOf(sound, truth);
  const claims = all.filter(r => r.converged);
  claimed += claims.length;
  false3 += far(claims);
  const average = (of: (r: Result) => number) => all.reduce((s, r) => s + of(r), 0) / all.length;
  console.log(
    e.name.padEnd(26),
    `mean ${mean.toFixed(2)}`.padEnd(12),
    `deviation ${deviation.toFixed(2)}`.padEnd(16),
    `worst ${worst.toFixed(1)}`.padEnd(12),
    `beyond 3: ${far(sound)} of ${sound.length}`.padEnd(24),
    `converged ${claims.length}, of them beyond 3: ${far(claims)}`.padEnd(36),
    `relative error ${average(r => r.error / Math.abs(r.value)).toExponential(1)}`.padEnd(26),
    `${average(r => r.evaluations).toExponential(1)} evaluations, ${average(r => r.elapsed).toFixed(0)} ms`,
  );
}
console.log(`claims ${claimed}, beyond 3 errors ${false3}`);
process.exit(0);
