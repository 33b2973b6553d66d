/**
 * How fast the VEGAS family is on the CPU, against GSL's VEGAS.
 *
 *   npm run bench:vegas -- [--rates] [--times] [--long] [--memory] [--evaluations 1e7] [part of a name…]
 *
 * Rates: evaluations a second, ten iterations of which five adapt, on one core (half as many on all cores); GSL's ten
 * all adapt.
 * Times: seconds to a tolerance, and what the value is really off by; `--long` adds 1e-5 and raises the time limit.
 * Memory, only when asked for: 1e10 evaluations in ten dimensions, with the resident set watched; takes minutes.
 *
 * Contestants take turns, because other work on the machine slows all of them alike: compare inside a row. The goals
 * were set on a machine of two cores. `!` marks what misses its goal, `>` who does not get there within the time limit.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { integrate } from '../src/integrate.ts';
import type { IntegrateOptions } from '../src/problem.ts';
import type { Result } from '../src/result.ts';
import { catalogue } from '../tests/integrands/catalogue.ts';
import type { Entry } from '../tests/integrands/entry.ts';
import { Gsl, type GslRun } from './gsl.ts';

/** Evaluations a second and core. */
const RATE_GOALS = { f4_8: 2.0e7, f5_8: 2.0e7, f6_6: 2.4e7, roos_arnold_10: 1.8e7, gaussian_4: 2.8e7 };
/** Seconds on two cores to each of the tolerances. */
const TIME_GOALS = {
  f2_6: [0.01, 0.08, 1.5],
  f3_3: [0.003, 0.02, 0.1],
  f4_5: [0.01, 0.15, 10],
  f4_8: [0.03, 0.7, 40],
  f5_8: [0.01, 0.12, 3],
  f6_6: [0.03, 0.4, 20],
};
const TOLERANCES = [1e-3, 1e-4, 1e-5];
const SEEDS = [1, 2, 3];
const ITERATIONS = { all: 10, adapt: 5 };
/** Seconds that a contestant may take for a tolerance, and after which it runs with one seed only. */
const LIMIT = { short: 40, long: 150, repeat: 2 };
/** Width of a column of pulls. */
const PULLS = 16;
const MEMORY = { name: 'roos_arnold_10', evaluations: 1e10, iterations: 20, goal: 1e9 };

const { values: options, positionals: filters } = parseArgs({
  allowPositionals: true,
  options: {
    rates: { type: 'boolean', default: false },
    times: { type: 'boolean', default: false },
    memory: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    evaluations: { type: 'string' },
  },
});
const asked = options.rates || options.times || options.memory;
const evaluations = options.evaluations === undefined ? undefined : Number(options.evaluations);
if (evaluations !== undefined && !(evaluations >= 1e4))
  throw new TypeError(`--evaluations is ${options.evaluations}; pass a number from 1e4 on`);

const entryOf = (name: string): Entry => catalogue.find(e => e.name === name)!;
const chosen = <Goal>(goals: Record<string, Goal>): [Entry, Goal][] =>
  Object.entries(goals)
    .filter(([name]) => filters.length === 0 || filters.some(part => name.includes(part)))
    .map(([name, goal]) => [entryOf(name), goal]);

/** Values further from the truth than chance allows (a contestant may be fast because it is wrong), and runs that stopped short. */
const wrong: string[] = [];
function check(who: string, { name, truth }: Entry, { value, error }: { value: number; error: number }) {
  const pull = (value - truth!) / error;
  if (!(Math.abs(pull) <= 5)) wrong.push(`${who} on ${name}: ${value}, off by ${pull.toFixed(1)} errors`);
}

interface Rates {
  whole: number;
  adapting: number;
  frozen: number;
}

/** A fixed protocol, timed as a whole and by what its iterations do; the start counts as adapting. */
async function protocol(
  e: Entry,
  method: 'vegas+' | 'mcubes',
  device: string,
  total: number,
): Promise<Rates> {
  const start = performance.now();
  const learned = { evaluations: 0, ms: 0 };
  const result = await integrate(e.f, {
    ...problem(e),
    method,
    device,
    relTol: 0,
    maxEvaluations: Infinity,
    vegas: {
      iterations: ITERATIONS.all,
      adapt: ITERATIONS.adapt,
      evaluations: Math.round(total / ITERATIONS.all),
    },
    onProgress(p) {
      if (p.adapting) Object.assign(learned, { evaluations: p.evaluations, ms: performance.now() - start });
    },
  });
  const ms = performance.now() - start;
  check(`${method} with ${total.toExponential()} evaluations`, e, result);
  return {
    whole: (result.evaluations / ms) * 1000,
    adapting: (learned.evaluations / learned.ms) * 1000,
    frozen: ((result.evaluations - learned.evaluations) / (ms - learned.ms)) * 1000,
  };
}

const problem = ({ domain, params }: Entry): IntegrateOptions => ({ domain, ...(params && { params }) });
const row = (name: string, ...cells: string[]) =>
  console.log((name.padEnd(22) + cells.map(c => c.padStart(10)).join('')).trimEnd());
const figure = (v: number | undefined) => (v === undefined ? '–' : v.toExponential(1));
const rate = (v: number | undefined) => (v === undefined ? '–' : v.toExponential(2));
const ratio = (v: number | undefined) => (v === undefined ? '–' : v.toFixed(2));
const seconds = (v: number) => (v < 0.1 ? v.toFixed(4) : v < 10 ? v.toFixed(3) : v.toFixed(1));
const median = (v: number[]) => v.toSorted((a, b) => a - b)[v.length >> 1];

async function compareRates(gsl: Gsl | undefined): Promise<void> {
  const total = evaluations ?? 1e8;
  console.log(`\nevaluations per second on one core, ${total.toExponential()} evaluations`);
  row('', 'whole', 'adapting', 'frozen', 'all cores', 'GSL', 'ours/GSL', 'goal');
  for (const [e, goal] of chosen(RATE_GOALS)) {
    let peer: GslRun | undefined;
    for (const method of ['vegas+', 'mcubes'] as const) {
      const one = await protocol(e, method, 'cpu:1', total);
      peer ??= await gsl?.run(e.name, Math.round(total / ITERATIONS.all), ITERATIONS.all, 1);
      const all = await protocol(e, method, 'cpu', total / 2);
      const peerRate = peer && peer.evaluations / peer.seconds;
      const missed = one.whole < goal ? '!' : '';
      row(
        `${e.name} ${method}`,
        ...[one.whole, one.adapting, one.frozen, all.whole, peerRate].map(rate),
        ratio(peerRate && one.whole / peerRate),
        figure(goal) + missed,
      );
    }
    if (peer) check('GSL', e, peer);
  }
}

interface Reached {
  seconds: number;
  evaluations: number;
  value: number;
  error: number;
}

async function reach(e: Entry, relTol: number, seed: number, limit: number): Promise<Reached | undefined> {
  const start = performance.now();
  const result: Result = await integrate(e.f, {
    ...problem(e),
    method: 'vegas+',
    device: 'cpu',
    relTol,
    seed,
    maxEvaluations: 1e12,
    maxTime: 1000 * limit,
  });
  if (result.status !== 'converged') {
    wrong.push(`vegas+ on ${e.name} to ${relTol.toExponential()}, seed ${seed}: ${result}`);
    return undefined;
  }
  const { evaluations, value, error } = result;
  return { seconds: (performance.now() - start) / 1000, evaluations, value, error };
}

/** The medians of several runs, the largest true error among them, and how many of its errors each is off. */
function cells(runs: Reached[], truth: number, none: string): string[] {
  if (runs.length === 0) return [none, '', '', ''.padStart(PULLS)];
  return [
    seconds(median(runs.map(r => r.seconds))),
    figure(median(runs.map(r => r.evaluations))),
    figure(Math.max(...runs.map(r => Math.abs(r.value - truth) / Math.abs(truth)))),
    runs
      .map(r => ((r.value - truth) / r.error).toFixed(1).padStart(5))
      .join('')
      .padStart(PULLS),
  ];
}

async function compareTimes(gsl: Gsl | undefined): Promise<void> {
  const limit = options.long ? LIMIT.long : LIMIT.short;
  console.log(
    '\nseconds to a tolerance: vegas+ on every core, GSL on one; medians of up to three seeds, the largest true error of\n' +
      'them, and the pull (value − truth)/error of each',
  );
  const side = ['evals', 'true err', 'pulls'.padStart(PULLS)];
  row('', 'ours', ...side, 'GSL', ...side, 'GSL/ours', 'goal');
  for (const [e, goals] of chosen(TIME_GOALS)) {
    for (const [i, tolerance] of TOLERANCES.entries()) {
      if (tolerance < 1e-4 && !options.long) continue;
      await reach(e, Math.max(tolerance, 1e-4), 0, limit); // warms up
      const ours: Reached[] = [];
      const theirs: Reached[] = [];
      for (const seed of SEEDS) {
        const one = await reach(e, tolerance, seed, limit);
        if (one) ours.push(one);
        const slow = seed !== SEEDS[0] && !(theirs[0]?.seconds < LIMIT.repeat);
        const other = slow ? undefined : await gsl?.reach(e.name, tolerance, seed, limit);
        if (other) theirs.push(other);
      }
      for (const r of ours) check('vegas+', e, r);
      for (const r of theirs) check('GSL', e, r);
      const mine = median(ours.map(r => r.seconds));
      row(
        `${e.name} ${tolerance.toExponential()}`,
        ...cells(ours, e.truth!, `>${limit}`),
        ...cells(theirs, e.truth!, gsl ? `>${limit}` : '–'),
        ratio(theirs.length > 0 && ours.length > 0 ? median(theirs.map(r => r.seconds)) / mine : undefined),
        `${goals[i]}${mine <= goals[i] ? '' : '!'}`,
      );
    }
  }
}

async function watchMemory(): Promise<void> {
  const { name, iterations, goal } = MEMORY;
  const total = evaluations ?? MEMORY.evaluations;
  const before = process.memoryUsage().rss;
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 20);
  const e = entryOf(name);
  const result = await integrate(e.f, {
    ...problem(e),
    method: 'vegas+',
    device: 'cpu',
    relTol: 0,
    maxEvaluations: Infinity,
    vegas: { iterations, evaluations: Math.round(total / iterations) },
  });
  clearInterval(timer);
  check('vegas+', e, result);
  const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
  console.log(
    `\nmemory: ${result.evaluations.toExponential(2)} evaluations of ${name} in ${(result.elapsed / 1000).toFixed(1)} s, ` +
      `resident ${mb(before)} before, ${mb(peak)} at most (goal: under ${mb(goal)})${peak < goal ? '' : '!'}`,
  );
}

console.log(
  `${new Date().toISOString().slice(0, 10)}, ${cpus()[0].model.trim()}, ${cpus().length} cores, Node ${process.version}`,
);
const started = performance.now();
const gsl = asked && !options.rates && !options.times ? undefined : Gsl.start();
if (typeof gsl === 'string') console.log(`GSL is skipped: ${gsl}`);
const peer = typeof gsl === 'string' ? undefined : gsl;
if (!asked || options.rates) await compareRates(peer);
if (!asked || options.times) await compareTimes(peer);
if (options.memory) await watchMemory();
peer?.stop();
if (wrong.length > 0)
  console.log(`\noff by more than five of their own errors, or not converged:\n  ${wrong.join('\n  ')}`);
if (wrong.some(w => !w.startsWith('GSL'))) process.exitCode = 1;
console.log(`\nall in ${((performance.now() - started) / 1000).toFixed(0)} s`);
