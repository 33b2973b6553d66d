/**
 * Faults of the machine, in large numbers: runs are aborted, workers killed, starts of workers, memories and modules made
 * to fail (tests/faults). Each run must have the bits of the same run undisturbed, or a named error; none may be lost. Then
 * how late runs end (faults/lateness.ts), and the faults around the command line (faults/cli.ts), one by one.
 *
 *   npm run bench:faults                 # about five minutes on two cores
 *   npm run bench:faults -- --runs 0.1   # a tenth of it
 */
import { parseArgs } from 'node:util';
import { TRIALS } from '../tests/faults/trials.ts';
import { uniform } from '../tests/integrands/points.ts';
import { cliFaults } from './faults/cli.ts';
import { latenesses, PROMISED_MS } from './faults/lateness.ts';

/** Runs of each kind: at least 500 kills and 500 aborts. */
const RUNS: Record<string, number> = { 'workers killed': 300, 'runs aborted': 640 };
const OTHER_RUNS = 96;

const { values } = parseArgs({ options: { runs: { type: 'string', default: '1' } } });
const COLUMNS = ['runs', 'faults', 'refused', 'wrong', 'lost', 'leaked'] as const;

console.log(
  'refused: ended with a named error; wrong: other bits; lost: no end, or an error without a cause;',
);
console.log('leaked: workers that were left\n');
console.log('fault'.padEnd(34) + COLUMNS.map(c => c.padStart(9)).join(''));
for (const { name, mayRefuse, run } of TRIALS) {
  const tally = await run(Math.ceil(Number(values.runs) * (RUNS[name] ?? OTHER_RUNS)), uniform(1));
  console.log(name.padEnd(34) + COLUMNS.map(c => String(tally[c]).padStart(9)).join(''));
  if (tally.wrong + tally.lost + tally.leaked + (mayRefuse ? 0 : tally.refused) > 0) process.exitCode = 1;
}

console.log(`\nhow late runs end, in ms (${PROMISED_MS} are promised)`);
console.log('integrand               runs  beside   maxTime   abort');
for (const { integrand, runs, beside, afterTime, afterAbort } of await latenesses()) {
  const numbers = [runs, beside, afterTime.toFixed(0), afterAbort.toFixed(0)];
  console.log(integrand.padEnd(22) + numbers.map((n, i) => String(n).padStart([6, 8, 10, 8][i])).join(''));
  if (Math.max(afterTime, afterAbort) > PROMISED_MS) process.exitCode = 1;
}

console.log('\nof the command line:');
for (const { resource, fault, outcome, kept } of await cliFaults()) {
  console.log(`${kept ? 'as promised' : 'NOT KEPT'}  ${resource}, ${fault}: ${outcome}`);
  if (!kept) process.exitCode = 1;
}
