/**
 * How fast compiled integrands are: evaluations a second on one core, against plain JavaScript and C.
 *
 *   npm run bench:compiler -- [part of a name…]
 *
 * Points come in batches of 1024 that stay in the cache, the same for all. Each figure is the best of several short
 * rounds, in which the contestants take turns, because other work on the machine slows all of them alike: compare
 * inside a row, not between runs. The aims: at least 3 times plain JavaScript, at least half of C where an
 * integrand has transcendental functions, and a compile time under 10 ms.
 */
import { compile } from '../src/integrand/compile.ts';
import { catalogue } from '../tests/integrands/catalogue.ts';
import type { Entry } from '../tests/integrands/entry.ts';
import { hard } from '../tests/integrands/hard.ts';
import { points } from '../tests/integrands/points.ts';
import { CProgram } from './c.ts';
import { type Contestant, contestants } from './contestants.ts';

const BATCH = 1024;
const ROUNDS = 6;
const ROUND_MS = 25;
const WARM = { ms: 60, batches: 20 }; // V8 takes that many to optimise a function of 400 terms
const AIM = { js: 3, c: 0.5, compileMs: 10 };
const TARGETS = ['wasm', 'javascript'] as const;

/** Evaluations a second, the best round of each contestant. */
async function race(list: Contestant[]): Promise<{ rates: Map<string, number>; sums: Map<string, number> }> {
  const rates = new Map<string, number>();
  const sums = new Map<string, number>();
  const repeats = new Map<string, number>();
  for (const one of list) {
    // short calls first, for V8 to reach its best code, then as many as fill a round
    let n = 1;
    for (let spent = 0, batches = 0; spent < WARM.ms || batches < WARM.batches; ) {
      const { seconds } = await one.run(n);
      spent += seconds * 1000;
      batches += n;
      n = Math.max(1, Math.min(4 * n, Math.round((n * ROUND_MS) / (seconds * 1000 + 1e-3))));
    }
    repeats.set(one.name, n);
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const one of list) {
      const n = repeats.get(one.name)!;
      const { seconds, sum } = await one.run(n);
      rates.set(one.name, Math.max(rates.get(one.name) ?? 0, (n * BATCH) / seconds));
      sums.set(one.name, sum);
    }
  }
  return { rates, sums };
}

const transcendental = (e: Entry) =>
  /\b(sin|cos|exp|log|pow|erf|erfc|erfinv|lgamma|j0|j1)\b/.test(e.f.toString());

/** Every contestant has to agree with plain JavaScript; C may fuse operations, and that moves an escape count. */
function disagreeing(e: Entry, sums: Map<string, number>): string[] {
  const js = sums.get('js')!;
  const allowed = (name: string) =>
    name === 'c' && e.tolerance === 0 ? 1e-2 * Math.abs(js) : 1e-11 * Math.max(Math.abs(js), e.scale ?? 0);
  return [...sums.keys()].filter(name => !(Math.abs(sums.get(name)! - js) <= allowed(name)));
}

/** Milliseconds to compile the 8-D Gaussian for every target: the first time in this process, and the median. */
function compileTime(): { first: number; median: number } {
  const { f, dims } = catalogue.find(e => e.name === 'f4_8')!;
  const times = Array.from({ length: 41 }, () => {
    const fresh = new Function(`return ${f}`)() as typeof f; // a new function each time: nothing to look up
    const start = performance.now();
    for (const target of TARGETS) compile(fresh, { dims, target });
    return performance.now() - start;
  });
  const [first, ...warm] = times;
  return { first, median: warm.sort((a, b) => a - b)[warm.length / 2] };
}

const mean = (ratios: number[]) => Math.exp(ratios.reduce((s, r) => s + Math.log(r), 0) / ratios.length);
const mark = (ok: boolean) => (ok ? ' ' : '!');
const rate = (r: number | undefined) => (r ? r.toExponential(2) : '–').padStart(9);
const ratio = (r: number | undefined, aim?: number) =>
  (r ? r.toFixed(2) : '–').padStart(8) + (r && aim ? mark(r >= aim) : ' ');

const { first, median } = compileTime();
const c = CProgram.start();
if (typeof c === 'string') console.log(`C is skipped: ${c}\n`);
const program = typeof c === 'string' ? undefined : c;

const filters = process.argv.slice(2);
// without what is there twice (over an infinite domain) and what has no finite sum
const chosen = [...catalogue, ...hard].filter(
  e => !/finite/.test(e.name) && (filters.length === 0 || filters.some(part => e.name.includes(part))),
);

console.log('evaluations per second on one core');
console.log(
  `${''.padEnd(21)}${['js', 'wasm', 'js target', 'C'].map(t => t.padStart(10)).join('')}  wasm/js   wasm/C  transcendental`,
);
const overJs: number[] = [];
const overC: number[] = [];
const wrong: string[] = [];
for (const e of chosen) {
  const list = await contestants(e, points(e, BATCH), program).catch((error: Error) => error);
  if (list instanceof Error) {
    wrong.push(`${e.name}: ${list.message}`);
    continue;
  }
  const { rates, sums } = await race(list);
  const [js, wasm, javascript, cRate] = ['js', 'wasm', 'javascript', 'c'].map(name => rates.get(name));
  const hasFunctions = transcendental(e);
  overJs.push(wasm! / js!);
  if (cRate && hasFunctions) overC.push(wasm! / cRate);
  const differs = disagreeing(e, sums);
  if (differs.length > 0)
    wrong.push(`${e.name}: ${differs.map(d => `${d} ${sums.get(d)}`)}, js ${sums.get('js')}`);
  console.log(
    `${e.name.padEnd(21)} ${[js, wasm, javascript, cRate].map(rate).join(' ')} ${ratio(wasm! / js!, AIM.js)}${ratio(
      cRate && wasm! / cRate,
      hasFunctions ? AIM.c : undefined,
    )} ${hasFunctions ? 'yes' : 'no'}`,
  );
}
program?.stop();

console.log(`\ngeometric mean of wasm/js: ${ratio(mean(overJs), AIM.js).trim()} (aim ${AIM.js})`);
if (overC.length > 0) {
  console.log(`geometric mean of wasm/C, transcendental: ${ratio(mean(overC), AIM.c).trim()} (aim ${AIM.c})`);
}
console.log(
  `compiling f4_8 for ${TARGETS.join(' and ')}: ${median.toFixed(2)} ms, the first time ${first.toFixed(2)} ms ` +
    `(aim ${AIM.compileMs})${mark(median < AIM.compileMs)}`,
);
if (wrong.length > 0) {
  console.log(
    `\nwhat does not compile, and sums that differ from plain JavaScript:\n  ${wrong.join('\n  ')}`,
  );
  process.exitCode = 1;
}
