/**
 * What claims have become dearer by: `auto` to 1e-3 within a budget, on the integrands of tests/claims, beside the build of another commit.
 * Counted are the runs that the other build claims truly, and of these what this one claims truly within the same budget. True are claims
 * within 5 errors where samples made them, and within the larger one of error and tolerance where a rule did.
 *
 *   npm run bench:reach -- --beside FOLDER [--runs N] [--seed S] [--device cpu]     (FOLDER: the dist of that commit)
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type IntegrateOptions, integrate, type Result } from '../src/index.ts';
import { kinds } from '../tests/claims/kinds/index.ts';
import { isSampled, type Trial, trialOf } from '../tests/claims/trials.ts';

const { values } = parseArgs({
  options: {
    beside: { type: 'string' },
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    device: { type: 'string', default: 'cpu' },
  },
});
if (!values.beside)
  throw new Error('--beside is missing: name the dist folder of a build of the commit to compare with');
const other: { integrate: typeof integrate } = await import(
  pathToFileURL(resolve(values.beside, 'index.js')).href
);

const REL_TOL = 1e-3;
const BUDGETS = [1e5, 1e6, 1e7];

interface Count {
  /** Claimed truly by the other build; by this one too. */
  before: number;
  now: number;
  /** Evaluations, as multiples of those of the other build, where both claim. */
  ratios: number[];
}

/** The result of a claim that is true; null for others. */
async function trueClaim(
  by: typeof integrate,
  { example, maxEvaluations, number }: Trial,
): Promise<Result | null> {
  const { f, domain, params, truth } = example;
  const options = { domain, params, relTol: REL_TOL, maxEvaluations, device: values.device, seed: number };
  const result = await by(f, options as IntegrateOptions).catch(() => null);
  if (!result?.converged) return null;
  const most = isSampled(result.method)
    ? 5 * result.error
    : Math.max(result.error, REL_TOL * Math.abs(truth));
  return Math.abs(result.value - truth) <= most ? (result as Result) : null;
}

const budgetRow = (budget: number) => `budget ${budget.toExponential()}`;
const counts = new Map<string, Count>();
for (let n = 0; n < Number(values.runs); n++) {
  const trial = trialOf(Number(values.seed), n, { methods: ['auto'], budgets: BUDGETS });
  const before = await trueClaim(other.integrate, trial);
  if (!before) continue;
  const now = await trueClaim(integrate, trial);
  for (const row of [trial.example.kind, budgetRow(trial.maxEvaluations), 'all']) {
    const count = counts.get(row) ?? { before: 0, now: 0, ratios: [] };
    counts.set(row, count);
    count.before++;
    if (!now) continue;
    count.now++;
    count.ratios.push(now.evaluations / before.evaluations);
  }
}

console.log(
  'claimed truly by the other build; by this one within the same budget; evaluations as a multiple, the median',
);
for (const kind of [...kinds.map(k => k.name), ...BUDGETS.map(budgetRow), 'all']) {
  const count = counts.get(kind);
  if (!count || count.before === 0) continue;
  const median = count.ratios.sort((a, b) => a - b)[count.ratios.length >> 1] ?? Number.NaN;
  const share = ((100 * count.now) / count.before).toFixed(0);
  console.log(
    `${kind.padEnd(20)} ${`${count.before}`.padStart(5)} ${`${count.now}`.padStart(5)}  ${share.padStart(3)} %  ${median.toFixed(2)}`,
  );
}
