/** PAGANI's own rows, and ZMCintegral's two integrals. */
import { entry, onCard, timed, trueError, verdict } from './common.ts';

const TOLERANCES = [1e-3, 4e-5, 1.6e-6, 6.4e-8, 2.56e-9, 1.024e-10];

/** Times of the public PAGANI on an H200, in ms; Infinity where it fails. */
const PAGANI: Record<string, number[]> = {
  f1_8: [94],
  f2_6: [44, 63, 459, 1296],
  f3_3: [1.07, 1.0, 1.0, 1.71, 2.38, 3.05],
  f3_8: [8.3, 9.4, 12.3, 70.6, 1129],
  f4_5: [45, 48, 284, 328, 373, 415],
  f4_8: [467, 688],
  f5_5: [1.9, 3.1, 4.5, 12.5, 25.8, 167],
  f5_8: [61, 203, 828],
  f6_6: [13.4, 25, 46.1, 107, 284, 964],
  f7_8: [0.36, 0.34, 4.3, 12.9, 193, 740],
  f8_8: [0.49, 0.38, 0.36, 6.1, 32.5, 368],
};

/** ms, the true error in tolerances, how much faster than PAGANI. */
export async function paganiTimes(limit: number) {
  console.log(
    `\nPAGANI's rows at 1e-3/25^k: ms, evaluations, true error in tolerances, times faster (at most ${limit} s)`,
  );
  for (const [name, theirs] of Object.entries(PAGANI)) {
    const e = entry(name);
    const cells: string[] = [];
    for (const [k, relTol] of TOLERANCES.entries()) {
      const r = await timed(e, { method: 'pagani', relTol, maxEvaluations: 1e13, maxTime: 1000 * limit });
      const off = trueError(r, e) / relTol;
      if (!r.converged) {
        cells.push(`${r.status} ${(r.error / Math.abs(r.value)).toExponential(0)}`);
        break;
      }
      const faster = theirs[k] ? `${(theirs[k] / r.elapsed).toFixed(1)}x` : 'new';
      cells.push(
        `${r.elapsed.toFixed(1)} (${r.evaluations.toExponential(0)}, ${off.toFixed(2)}, ${faster})${verdict(off <= 1, `${name} at ${relTol}`)}`,
      );
    }
    console.log(name.padEnd(6), cells.join('  '));
  }
}

/** ZMCintegral: fA to ±0.5 and fB to ±5e-4; it takes 14.7 s for ±2 and 3.2 s for ±1.4e-3. */
export async function zmcTimes() {
  console.log('\nZMCintegral: fA to 0.5 (goal 500 ms), fB to 5e-4 (goal 100 ms)');
  for (const [name, absTol, zmc] of [
    ['fA_6', 0.5, {}],
    ['fA_6', 0.5, { blocks: 32, depth: 1 }],
    ['fA_6', 0.5, { blocks: 42, depth: 1, samples: 2 }],
    ['fB_9', 5e-4, {}],
    ['fB_9', 5e-4, { blocks: 3, depth: 4 }],
  ] as const) {
    const e = entry(name);
    // fB is 1, in 1e-18 of its domain: with an absTol 65,536 samples that are all 0 would do
    const tolerance = name === 'fB_9' ? { relTol: absTol } : { relTol: 0, absTol };
    const run = () => onCard(e, { method: 'zmc', ...tolerance, maxEvaluations: 1e12, maxTime: 3000, zmc });
    await run();
    const r = await run();
    console.log(
      name,
      JSON.stringify(zmc),
      `${r}`.split('\n')[0],
      `pull ${((r.value - e.truth!) / r.error).toFixed(2)}`,
    );
  }
}
