/**
 * Lattices on a card: points per second of the kernel, and times to tolerances beside those of VEGAS+. The goals: 6e10 points per second in
 * 10 dimensions, a twentieth of the time of VEGAS+ and a hundredth of that of m-Cubes to 1e-6.
 */
import { drawShifts, latticeWords } from '../../src/random/lattice.ts';
import { uniformMap } from '../../src/tasks/map.ts';
import { type SampleTask, wholeOf } from '../../src/tasks/sample.ts';
import { slopesOf } from '../../src/tasks/smooth-map.ts';
import { cuda, entry, opened, timed, trueError } from './common.ts';

const ROWS = [
  ['f2_6', 1e-6],
  ['f5_8', 1e-6],
  ['f4_8', 1e-6],
  ['roos_arnold_10', 1e-6],
  ['f4_8', 1e-5],
  ['roos_arnold_10', 1e-5],
] as const;

export async function latticeTimes(): Promise<void> {
  console.log(
    '\nlattices: points per second of the kernel, 32 shifts of 2^22 points, with 64, 128 and 256 bins',
  );
  for (const name of ['roos_arnold_10', 'linear_10', 'f4_8', 'f2_6']) {
    const e = entry(name);
    const session = await cuda.open(opened(e));
    const cells: string[] = [];
    for (const bins of [64, 128, 256]) {
      const edges = uniformMap(e.domain, bins);
      const words = latticeWords(e.dims, drawShifts([1, 2], 0, e.dims, 0, 32), 22, 'whole');
      const task: SampleTask = {
        key: [1, 2],
        iteration: 0,
        stream: 0,
        unit: 1,
        bins,
        edges,
        strata: e.domain.map(() => 1),
        lattice: { ...words, folded: true, slopes: slopesOf(edges, e.dims) },
        counts: 2 ** 22,
        adapt: null,
        cubes: true,
      };
      await session.sample(task, wholeOf(task));
      const begin = performance.now();
      for (let i = 0; i < 8; i++) await session.sample(task, wholeOf(task));
      cells.push(((8 * 2 ** 27 * 1000) / (performance.now() - begin)).toExponential(2));
    }
    session.close();
    console.log(name.padEnd(20), cells.join('  '));
  }
  console.log(
    '\nto a tolerance: ms (evaluations, true error in tolerances) of lattice and of VEGAS+, and their ratio',
  );
  for (const [name, relTol] of ROWS) {
    const e = entry(name);
    const [lattice, vegas] = [
      await timed(e, { method: 'lattice', relTol, maxEvaluations: 1e13, maxTime: 5000 }),
      await timed(e, { method: 'vegas+', relTol, maxEvaluations: 1e13, maxTime: 5000 }),
    ];
    const cell = (r: typeof lattice) =>
      `${r.elapsed.toFixed(1)} (${r.evaluations.toExponential(1)}, ${(trueError(r, e) / relTol).toFixed(2)}${r.converged ? '' : `, ${r.status} ${(r.error / Math.abs(r.value)).toExponential(0)}`})`;
    // VEGAS+ that was stopped would have needed so many times as long
    const more = vegas.converged ? 1 : (vegas.error / Math.abs(vegas.value) / relTol) ** 2;
    console.log(
      name.padEnd(20),
      `${relTol}`.padEnd(6),
      cell(lattice),
      cell(vegas),
      ` ${((more * vegas.elapsed) / lattice.elapsed).toFixed(0)}x`,
    );
  }
}
