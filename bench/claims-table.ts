/**
 * Makes claims of convergence on integrands with random parameters and known integrals (tests/claims), and prints how many
 * of them are false: by kind of integrand, by method and by tolerance. Then every false one, so that it can be repeated.
 *
 * Columns: runs; runs that threw because of a value that is not finite; claims; false claims; false claims that are also off by
 * more than the tolerance; the worst deterministic claim, in max(error, tolerance); the worst Monte Carlo claim, in errors; mean
 * and deviation of (value − truth)/error over the Monte Carlo claims that are true, since a few false ones would hide the rest.
 */
import type { MethodName } from '../src/problem.ts';
import { kinds } from '../tests/claims/kinds/index.ts';
import { trialOf } from '../tests/claims/trials.ts';
import { judge, textOf, type Verdict } from '../tests/claims/verdict.ts';

/** All methods; those that people use most are tried most. */
const METHODS: readonly MethodName[] = [
  ...(['auto', 'pagani', 'vegas+', 'auto', 'cuhre', 'mcubes'] as const),
  ...(['auto', 'pagani', 'vegas+', 'zmc', 'two-phase', 'mcubes1d', 'plain'] as const),
];
const BUDGETS = [1e5, 3e5, 1e6, 3e6];
/** A run of trials ends when there are this many per claim that was asked for: some kinds allow no claims. */
const MAX_TRIALS_PER_CLAIM = 20;
/** Claims between two lines about progress. */
const PROGRESS = 2000;

export interface ClaimsOptions {
  device: string;
  /** How many claims to make. */
  claims: number;
  seed: number;
  /** Methods to try instead of all. */
  methods?: readonly MethodName[];
  /** Only kinds whose name contains this. */
  kind?: string;
}

/** Prints the tables; returns the number of false claims. */
export async function claimsTable({ device, claims, seed, ...only }: ClaimsOptions): Promise<number> {
  const options = trialOptions(only);
  const start = performance.now();
  const verdicts: Verdict[] = [];
  let made = 0;
  for (let number = 0; made < claims && number < MAX_TRIALS_PER_CLAIM * claims; number++) {
    const verdict = await judge(trialOf(seed, number, options), device);
    verdicts.push(verdict);
    if (verdict.claim !== 'none' && ++made % PROGRESS === 0)
      console.error(`${made} claims, ${seconds(start)} s`);
  }
  const falseOnes = verdicts.filter(v => v.claim === 'false');
  print('kind', verdicts, v => v.trial.example.kind);
  print('method', verdicts, v => methodOf(v));
  print('dimensions', verdicts, v => `${v.trial.example.dims}`);
  print('tolerance', verdicts, v => v.trial.relTol.toExponential());
  console.log(
    `\n${verdicts.length} runs on ${device} of seed ${seed}, ${made} claims, ${falseOnes.length} false, ${seconds(start)} s`,
  );
  for (const v of falseOnes) console.log(`\n${textOf(v)}`);
  return falseOnes.length;
}

/** Repeats one trial, and prints what came out. */
export async function repeatTrial(options: Omit<ClaimsOptions, 'claims'>, number: number): Promise<void> {
  const verdict = await judge(trialOf(options.seed, number, trialOptions(options)), options.device);
  console.log(`${textOf(verdict)}\n  ${verdict.thrown ?? verdict.result}\n  claim: ${verdict.claim}`);
}

function trialOptions({ methods = METHODS, kind = '' }: Pick<ClaimsOptions, 'methods' | 'kind'>) {
  return { methods, budgets: BUDGETS, among: kinds.filter(k => k.name.includes(kind)) };
}

const seconds = (start: number) => ((performance.now() - start) / 1000).toFixed(0);

/** The method; for `auto`, also the one that it chose. */
function methodOf({ trial, result }: Verdict): string {
  return result && result.method !== trial.method ? `${trial.method}: ${result.method}` : trial.method;
}

const WIDTHS = [19, 6, 6, 6, 6, 6, 10, 8, 6, 9];

function print(title: string, verdicts: readonly Verdict[], keyOf: (v: Verdict) => string): void {
  const groups = new Map<string, Verdict[]>();
  for (const v of verdicts) {
    const group = groups.get(keyOf(v)) ?? [];
    if (group.push(v) === 1) groups.set(keyOf(v), group);
  }
  // numbers by size, names in the order in which they came: NaN || 0
  const sorted = [...groups].sort(([a], [b]) => Number(a) - Number(b) || 0);
  const names = ['runs', 'threw', 'claims', 'false', 'missed', 'tolerances', 'errors', 'mean', 'deviation'];
  console.log(`\n${row([title, ...names])}`);
  for (const [key, group] of sorted) console.log(row([key, ...cells(group)]));
  console.log(row(['all', ...cells(verdicts)]));
}

const row = (texts: readonly string[]) =>
  texts.map((t, i) => (i === 0 ? t.padEnd(WIDTHS[i]) : t.padStart(WIDTHS[i]))).join('  ');

function cells(group: readonly Verdict[]): string[] {
  const claims = group.filter(v => v.claim !== 'none');
  const sampled = claims.filter(v => v.sampled);
  const pulls = sampled.filter(v => v.claim === 'true').map(v => v.off);
  const deterministic = claims.filter(v => !v.sampled).map(v => v.off);
  const mean = pulls.reduce((s, p) => s + p, 0) / pulls.length;
  const deviation = Math.sqrt(pulls.reduce((s, p) => s + (p - mean) ** 2, 0) / (pulls.length - 1));
  const count = (of: (v: Verdict) => boolean) => `${group.filter(of).length}`;
  return [
    `${group.length}`,
    count(v => v.thrown !== null),
    `${claims.length}`,
    count(v => v.claim === 'false'),
    count(v => v.claim === 'false' && v.missed > 1),
    worst(deterministic),
    worst(sampled.map(v => v.off)),
    pulls.length > 0 ? mean.toFixed(2) : '–',
    pulls.length > 1 ? deviation.toFixed(2) : '–',
  ];
}

function worst(offs: readonly number[]): string {
  if (offs.length === 0) return '–';
  const largest = offs.reduce((m, o) => Math.max(m, Math.abs(o)), 0);
  return largest < 1000 ? largest.toPrecision(2) : largest.toExponential(1);
}
