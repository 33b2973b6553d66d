/** VEGAS+ as cuVegas runs it, m-Cubes to its tolerances, and the kernels alone. */

import { ruleFor } from '../../src/tasks/every-rule.ts';
import { uniformMap } from '../../src/tasks/map.ts';
import { allRegions } from '../../src/tasks/region.ts';
import { type SampleTask, wholeOf } from '../../src/tasks/sample.ts';
import { cuda, entry, opened, timed, trueError } from './common.ts';

/** Goals and cuVegas' own times at 1e9 and 1e10 evaluations, on an H200, in ms. */
const CUVEGAS = [
  ['roos_arnold_10', '30/280', '384/3095'],
  ['linear_10', '30/280', '421/3791'],
  ['exponential_10', '30/280', '392/3123'],
  ['cosine_10', '35/320', '415/3770'],
  ['morokoff_caflisch_8', '40/350', '322/3472'],
  ['sine_exponential_2', '15/130', '362/3490'],
  ['gaussian_4', '20/180', '565/2792'],
] as const;

/** Times of m-Cubes on an H200 at 1e-3/5^k, in ms; Infinity where it fails. */
const MCUBES: Record<string, number[]> = {
  f2_6: [8.4, 8.3, 9.0, 24, 342, 2941],
  f3_3: [2.0, 1.9, 1.9, 2.2, 5.5, 35],
  f3_8: [3.5, 6.7, 31, 335, Infinity],
  f4_5: [4.0, 4.6, 22, 73, 2276, Infinity],
  f4_8: [5.6, 7.5, 30, 613, Infinity],
  f5_8: [4.3, 4.2, 6.5, 19, 66, 2901],
  f6_6: [3.5, 3.9, 24, 310, 2876, Infinity],
};

/** To each tolerance of m-Cubes: ms, how many tolerances the value is off by, and how much faster than m-Cubes. */
export async function mcubesTimes(limit: number) {
  console.log(
    `\nm-Cubes' rows at 1e-3/5^k: ms, true error in tolerances, times faster than m-Cubes (at most ${limit} s)`,
  );
  for (const method of ['mcubes', 'vegas+'] as const) {
    for (const [name, theirs] of Object.entries(MCUBES)) {
      const e = entry(name);
      const cells: string[] = [];
      for (const [k, ms] of theirs.entries()) {
        const relTol = 1e-3 / 5 ** k;
        const r = await timed(e, { method, relTol, maxEvaluations: 1e13, maxTime: 1000 * limit });
        const faster = ms < Infinity ? `${(ms / r.elapsed).toFixed(1)}x` : 'new';
        cells.push(
          r.converged
            ? `${r.elapsed.toFixed(1)} (${(trueError(r, e) / relTol).toFixed(1)}, ${faster})`
            : `${r.status} ${(r.error / Math.abs(r.value)).toExponential(0)}`,
        );
        if (!r.converged) break;
      }
      console.log(method.padEnd(7), name.padEnd(6), cells.join('  '));
    }
  }
}

/** Twenty iterations of VEGAS+ as cuVegas runs them, and the kernels alone. */
export async function vegasTimes() {
  console.log(
    '\nVEGAS+, 20 iterations of which 10 adapt: ms (relative error) at 1e5, 1e7, 1e8, 1e9, 1e10 evaluations; the goal at 1e9 and 1e10; cuVegas there',
  );
  for (const [name, goal, theirs] of CUVEGAS) {
    const e = entry(name);
    const cells: string[] = [];
    for (const total of [1e5, 1e7, 1e8, 1e9, 1e10]) {
      const vegas = { evaluations: total / 20, iterations: 20, adapt: 10 };
      const r = await timed(e, { method: 'vegas+', relTol: 0, maxEvaluations: 2 * total, vegas });
      cells.push(`${r.elapsed.toFixed(1)} (${Math.abs(r.value / e.truth! - 1).toExponential(0)})`);
    }
    console.log(name.padEnd(20), cells.join('  '), ` goal ${goal}, cuVegas ${theirs}`);
  }
}

/** Evaluations a second of kernels alone. */
export async function rates() {
  console.log('\nkernels: evaluations a second at 1e8 samples of two a cube, frozen and adapting');
  for (const name of ['roos_arnold_10', 'f4_8', 'f4_5', 'gaussian_4']) {
    const e = entry(name);
    const session = await cuda.open(opened(e));
    const perAxis = Math.floor(5e7 ** (1 / e.dims));
    const strata = e.domain.map(() => perAxis);
    const cubes = perAxis ** e.dims;
    const counts = Math.max(2, Math.floor(1e8 / cubes));
    const task: SampleTask = {
      key: [1, 2],
      iteration: 0,
      stream: 0,
      unit: 1,
      bins: 1024,
      edges: uniformMap(e.domain, 1024),
      strata,
      counts,
      adapt: null,
    };
    const rate = async (t: SampleTask) => {
      await session.sample(t, wholeOf(t));
      const begin = performance.now();
      for (let i = 0; i < 5; i++) await session.sample(t, wholeOf(t));
      return ((5 * cubes * counts) / (performance.now() - begin)) * 1000;
    };
    const frozen = await rate(task);
    const adapting = await rate({ ...task, adapt: { scale: 2 ** 10, variances: false } });
    console.log(name.padEnd(20), frozen.toExponential(2), adapting.toExponential(2));
    const rule = ruleFor(e.dims);
    const count = Math.floor(2e9 / rule.points);
    const centres = new Float64Array(e.dims * count).fill(0.5);
    const levels = new Uint8Array(e.dims * count).fill(2);
    const regions = { rule: rule.name, ranges: e.domain, count, centres, levels };
    await session.regions(regions, allRegions(regions));
    const begin = performance.now();
    await session.regions(regions, allRegions(regions));
    console.log(
      name.padEnd(20),
      'regions',
      (((count * rule.points) / (performance.now() - begin)) * 1000).toExponential(2),
    );
    session.close();
  }
}
