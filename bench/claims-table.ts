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
import { moreKinds } from '../tests/claims/kinds/more/index.ts';
import { trialOf } from '../tests/claims/trials.ts';
import { judge, textOf, type Verdict } from '../tests/claims/verdict.ts';

/** All methods; those that people use most are tried most. */
const METHODS: readonly MethodName[] = [
  ...(['auto', 'pagani', 'vegas+', 'auto', 'cuhre', 'mcubes'] as const),
  ...(['auto', 'pagani', 'vegas+', 'zmc', 'two-phase', 'mcubes1d', 'plain'] as const),
];
/** `cuhre` evaluates two regions at a time, which is nothing for float32 (methods/cubature/cuhre.ts); lattices are in its place. */
const METHODS_ON_WEBGPU = METHODS.map(method => (method === 'cuhre' ? 'lattice' : method));
const BUDGETS = [1e5, 3e5, 1e6, 3e6];
/** A run of trials ends when there are this many per claim that was asked for: some kinds allow no claims. */
const MAX_TRIALS_PER_CLAIM = 20;
/** Claims between two lines about progress. */
const PROGRESS = 2000;

export interface ClaimsOptions {
  device: string;
  /** How many claims to make. */
  claims: number;
  /** No further trial is begun after so many seconds. */
  seconds?: number;
  seed: number;
  /** Methods to try instead of all. */
  methods?: readonly MethodName[];
  /** Only kinds whose name contains this. */
  kind?: string;
  /** Of the further kinds, not of those in the tables of all. */
  more?: boolean;
  /** Trials that are under way at a time: while one waits for a card, others have the processor. */
  together?: number;
}

/** What came of a trial, as data that processes can send each other. */
export interface Row extends Pick<Verdict, 'claim' | 'sampled' | 'off' | 'missed'> {
  number: number;
  kind: string;
  /** The method; for `auto`, also the one that it chose. */
  method: string;
  dims: number;
  relTol: number;
  threw: boolean;
  /** All that is known of it, if its claim is false. */
  text: string;
}

/** Prints the tables; returns the number of false claims. */
export async function claimsTable(options: ClaimsOptions): Promise<number> {
  const start = performance.now();
  return printTables(await claimRows(options), options, start);
}

/** Trials first, first + step, first + 2·step, … until there are as many claims as were asked for. */
export async function claimRows(
  { device, claims, seed, seconds: limit = Infinity, together = 1, ...only }: ClaimsOptions,
  { first, step } = { first: 0, step: 1 },
): Promise<Row[]> {
  const options = trialOptions({ device, ...only });
  const start = performance.now();
  const rows: Row[] = [];
  let [made, n] = [0, 0];
  const oneAfterAnother = async () => {
    while (made < claims && n < MAX_TRIALS_PER_CLAIM * claims) {
      if (performance.now() - start > 1000 * limit) break;
      const verdict = await judge(trialOf(seed, first + n++ * step, options), device);
      rows.push(rowOf(verdict));
      if (verdict.claim !== 'none' && ++made % PROGRESS === 0)
        console.error(`${made} claims, ${seconds(start)} s`);
    }
  };
  await Promise.all(Array.from({ length: together }, oneAfterAnother));
  return rows;
}

/** Prints the tables of rows in any order; returns the number of false claims. */
export function printTables(rows: Row[], { device, seed }: ClaimsOptions, start: number): number {
  rows.sort((a, b) => a.number - b.number);
  print('kind', rows, r => r.kind);
  print('method', rows, r => r.method);
  print('dimensions', rows, r => `${r.dims}`);
  print('tolerance', rows, r => r.relTol.toExponential());
  const made = rows.filter(r => r.claim !== 'none').length;
  const falseOnes = rows.filter(r => r.claim === 'false');
  console.log(
    `\n${rows.length} runs on ${device} of seed ${seed}, ${made} claims, ${falseOnes.length} false, ${seconds(start)} s`,
  );
  for (const r of falseOnes) console.log(`\n${r.text}`);
  return falseOnes.length;
}

/** Repeats one trial, and prints what came out. */
export async function repeatTrial(options: Omit<ClaimsOptions, 'claims'>, number: number): Promise<void> {
  const verdict = await judge(trialOf(options.seed, number, trialOptions(options)), options.device);
  console.log(`${textOf(verdict)}\n  ${verdict.thrown ?? verdict.result}\n  claim: ${verdict.claim}`);
}

function trialOptions({
  device,
  methods,
  kind = '',
  more,
}: Pick<ClaimsOptions, 'device' | 'methods' | 'kind' | 'more'>) {
  const all = device === 'webgpu' ? METHODS_ON_WEBGPU : METHODS;
  const among = (more ? moreKinds : kinds).filter(k => k.name.includes(kind));
  const symmetric = among.some(k => k.symmetric);
  return { methods: methods ?? all.filter(m => symmetric || m !== 'mcubes1d'), budgets: BUDGETS, among };
}

const seconds = (start: number) => ((performance.now() - start) / 1000).toFixed(0);

function rowOf(verdict: Verdict): Row {
  const { trial, result, claim, sampled, off, missed, thrown } = verdict;
  const { number, method, relTol, example } = trial;
  return {
    number,
    kind: example.kind,
    method: result && result.method !== method ? `${method}: ${result.method}` : method,
    dims: example.dims,
    relTol,
    claim,
    sampled,
    off,
    missed,
    threw: thrown !== null,
    text: claim === 'false' ? textOf(verdict) : '',
  };
}

const WIDTHS = [19, 6, 6, 6, 6, 6, 10, 8, 6, 9];

function print(title: string, rows: readonly Row[], keyOf: (r: Row) => string): void {
  const groups = new Map<string, Row[]>();
  for (const r of rows) {
    const group = groups.get(keyOf(r)) ?? [];
    if (group.push(r) === 1) groups.set(keyOf(r), group);
  }
  // numbers by size, names in the order in which they came: NaN || 0
  const sorted = [...groups].sort(([a], [b]) => Number(a) - Number(b) || 0);
  const names = ['runs', 'threw', 'claims', 'false', 'missed', 'tolerances', 'errors', 'mean', 'deviation'];
  console.log(`\n${row([title, ...names])}`);
  for (const [key, group] of sorted) console.log(row([key, ...cells(group)]));
  console.log(row(['all', ...cells(rows)]));
}

const row = (texts: readonly string[]) =>
  texts.map((t, i) => (i === 0 ? t.padEnd(WIDTHS[i]) : t.padStart(WIDTHS[i]))).join('  ');

function cells(group: readonly Row[]): string[] {
  const claims = group.filter(v => v.claim !== 'none');
  const sampled = claims.filter(v => v.sampled);
  const pulls = sampled.filter(v => v.claim === 'true').map(v => v.off);
  const deterministic = claims.filter(v => !v.sampled).map(v => v.off);
  const mean = pulls.reduce((s, p) => s + p, 0) / pulls.length;
  const deviation = Math.sqrt(pulls.reduce((s, p) => s + (p - mean) ** 2, 0) / (pulls.length - 1));
  const count = (of: (r: Row) => boolean) => `${group.filter(of).length}`;
  return [
    `${group.length}`,
    count(r => r.threw),
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
