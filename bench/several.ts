/**
 * What further results cost on the CPU: the time of n results in one run, as a multiple of that of one.
 *
 *   npm run bench:several
 *   npm run bench:several -- --pulls 1000 [--first 50000]
 *
 * The results are cosine and sine of one angle, then simple functions of both: what they share is computed once, so what is
 * left is the cost of sampling several results. The goal for cosine and sine is 1.3. One core; contestants take turns, and the
 * shortest time of each counts, because other work on the machine slows all of them alike. What ZMC costs is the time per
 * evaluation of a run with a fixed budget, search included.
 *
 * With `--pulls`: are errors and covariances true, by so many random trials per method (tests/several/random-pulls.ts), from trial
 * `--first` on.
 */
import { parseArgs } from 'node:util';

import type { Params } from '../src/integrand/params.ts';
import { integrate } from '../src/integrate.ts';
import { moments, PULLED, pullsOf } from '../tests/several/random-pulls.ts';

const { values } = parseArgs({
  options: { pulls: { type: 'string' }, first: { type: 'string', default: '50000' } },
});
if (values.pulls) {
  await printPulls(Number(values.first), Number(values.pulls));
  process.exit(0);
}

const TURNS = 8;
const EVALUATIONS = 5e5;
const ITERATIONS = 10;

type Point = number[];
const angle = ([x, y, z, t]: Point) => 2 * x + y * z + t;
/** The body of an integrand is its text, and may use no name from outside: `angle` is handed to it as text. */
const withResults = (results: string): ((x: Point, p: Params) => number[] | number) =>
  new Function('x', `const a = (${angle})(x), c = Math.cos(a); return ${results};`) as never;

const CONTESTANTS: [string, (x: Point, p: Params) => number[] | number][] = [
  ['cos', withResults('c')],
  ['cos, sin', withResults('[c, Math.sin(a)]')],
  ['3', withResults('[c, Math.sin(a), a]')],
  ['4', withResults('[c, Math.sin(a), a, a * a]')],
  ['8', withResults('[0, 1, 2, 3, 4, 5, 6, 7].map(i => i * a + c)')],
  ['16', withResults('[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map(i => i * a + c)')],
];

for (const method of ['vegas+', 'mcubes', 'plain', 'zmc'] as const) {
  const best = CONTESTANTS.map(() => Infinity);
  for (let turn = 0; turn < TURNS; turn++)
    for (const [i, [, f]] of CONTESTANTS.entries()) {
      const vegas = { evaluations: EVALUATIONS, iterations: ITERATIONS };
      const maxEvaluations = EVALUATIONS * ITERATIONS;
      const own = method === 'zmc' ? { maxEvaluations } : { vegas };
      const r = await integrate(f, { dims: 4, method, device: 'cpu:1', relTol: 0, absTol: 0, ...own });
      best[i] = Math.min(best[i], (r.elapsed * maxEvaluations) / r.evaluations);
    }
  const columns = CONTESTANTS.map(([name], i) => `${name}: ${(best[i] / best[0]).toFixed(2)}`);
  console.log(
    `${method.padEnd(7)} ${(((EVALUATIONS * ITERATIONS) / best[0]) * 1e3).toExponential(1)}/s   ${columns.join('   ')}`,
  );
}

async function printPulls(first: number, trials: number): Promise<void> {
  const shown = (list: readonly number[]) => {
    const { mean, deviation } = moments(list);
    const beyond = list.filter(p => Math.abs(p) > 5).length;
    return `${list.length}: mean ${mean.toFixed(3)}, deviation ${deviation.toFixed(3)}, beyond 5: ${beyond}`;
  };
  for (const method of PULLED) {
    const { warned, pulls, ratios, unled, distances, wrong } = await pullsOf(method, first, trials);
    console.log(`${method}: ${trials} runs, ${warned} warned`);
    console.log(`  pulls of results    ${shown(pulls)}`);
    console.log(`  pulls of ratios     ${shown(ratios)}`);
    if (unled.length > 1) console.log(`  not learned from    ${shown(unled)}`);
    const { mean } = moments(distances.map(d => Math.min(8, d.own)));
    const far = distances.filter(d => d.own > 8).length;
    console.log(`  δᵀ C⁻¹ δ / n        ${distances.length}: mean ${mean.toFixed(3)}, beyond 8: ${far}`);
    for (const text of wrong) console.log(`  ${text}`);
  }
}
