/**
 * npm run fuzz -- [--minutes N] [--seed S] [--programs N]: random programs near the border of the language through the
 * compiler, domains and params of every kind, formulas and garbled texts through the command line's parser, altered programs through the verifier, until the time
 * is over or the programs are done. Prints a table of what was tried, and every finding as small as it gets; exit code 1 if
 * there is one. A seed has a million programs, the same on every machine.
 */
import { parseArgs } from 'node:util';
import { integrandOf } from '../../src/cli/expression/integrand.ts';
import { type Program, walk } from '../../src/integrand/ir.ts';
import { bind } from '../../src/integrand/params.ts';
import { wasmTarget } from '../../src/integrand/targets/wasm.ts';
import { encodeProgram } from '../../src/integrand/verify.ts';
import { columns, firstDifference } from '../compiler/compare.ts';
import { absent, onHost } from '../compiler/cuda/build.ts';
import { Random } from '../compiler/random.ts';
import { alteredBytes, alteredStructure } from './altered.ts';
import { faultOfFormula, faultOfText, formula, garbled, VARIABLES } from './formulas.ts';
import { isFault, judge, judgeAll, type Kind, POINTS, params, type Verdict } from './judge.ts';
import { judgeProblem, problem } from './problems.ts';
import { program } from './program.ts';
import { reduce } from './reduce.ts';
import { TimedOut, within } from './sandbox.ts';
import { judgeBytes } from './sent.ts';

const { values: given } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seed: { type: 'string', default: '1' },
    programs: { type: 'string' },
  },
});
const PER_SEED = 1_000_000;
const BATCH = 200;
/** Programs whose CUDA text is compiled together, and after how many programs. */
const CUDA_PROGRAMS = 40;
const CUDA_EVERY = 10_000;
/** Findings of one kind that are made small; the others are counted. */
const REDUCED = 40;

const first = Number(given.seed) * PER_SEED;
const most = Math.min(PER_SEED, Number(given.programs ?? PER_SEED));
const minutes = Number(given.minutes ?? (given.programs ? Infinity : 1));
if (!Number.isSafeInteger(first) || !(most >= 1) || !(minutes > 0)) {
  console.error('usage: npm run fuzz -- [--minutes N] [--seed S] [--programs N]; all are numbers above 0.');
  process.exit(2);
}

const tried = new Map<string, Map<string, number>>();
const count = (what: string, verdict: string, n = 1) => {
  const row = tried.get(what) ?? new Map<string, number>();
  tried.set(what, row);
  row.set(verdict, (row.get(verdict) ?? 0) + n);
};
/** Findings by their small text, with how often each came. */
const findings = new Map<string, { times: number; why: string; seed: number }>();
const reduced = new Map<Kind, number>();

function found(kind: string, text: string, why: string, seed: number): void {
  const key = `${kind}: ${text}`;
  const known = findings.get(key);
  if (known) known.times++;
  else {
    findings.set(key, { times: 1, why, seed });
    console.log(`seed ${seed}, ${key}\n  ${why.split('\n').slice(0, 4).join('\n  ')}`);
  }
}

function report(verdict: Verdict, text: string, seed: number): void {
  const { kind } = verdict;
  const n = (reduced.get(kind) ?? 0) + 1;
  reduced.set(kind, n);
  if (n > REDUCED) return;
  const small = kind === 'slow' ? text : reduce(text, t => judge(t).kind === kind);
  found(kind, small, kind === 'slow' ? verdict.why : judge(small).why, seed);
}

const cudaQueue: { program: Program; seed: number }[] = [];
const noCuda = absent('g++');
if (noCuda) console.log(`CUDA texts are not tried: ${noCuda}.`);

/** CUDA's own functions differ from the math library in last bits; programs without them give the same bits. */
const EXACT = new Set(['mod', 'round', 'sign', 'fround', 'clz32', 'imul']);
function isExact(p: Program): boolean {
  let exact = true;
  walk(p.body, s => {
    if (s.kind === 'let' && s.op === 'call' && !EXACT.has(s.fn)) exact = false;
  });
  return exact;
}

function tryCuda(): void {
  const subjects = cudaQueue.splice(0).map(({ program: p, seed }) => ({
    name: `p${seed}`,
    program: p,
    bindings: bind(p.params, params),
    points: POINTS.map(x => [...x]),
    expected: [],
    within: [],
  }));
  if (subjects.length === 0) return;
  const results = onHost(subjects);
  subjects.forEach((s, i) => {
    const wasm = new Float64Array(POINTS.length);
    wasmTarget(s.program, s.bindings)(columns(POINTS), wasm);
    const same = firstDifference(wasm, results[i]) < 0;
    count('CUDA texts', same ? 'same' : 'faults');
    const seed = Number(s.name.slice(1));
    if (!same) found('cuda differs', program(seed), `wasm ${wasm}, CUDA text ${results[i]}`, seed);
  });
}

function tryFormulas(seed: number): void {
  const r = new Random(seed);
  const f = formula(r, 1 + r.below(4));
  const wrong = faultOfFormula(
    f,
    VARIABLES.map(() => 4 * r.unit() - 2),
  );
  count('formulas', wrong ? 'faults' : 'same');
  if (wrong) return found('formula', f.ours, wrong, seed);
  const verdict = judge(integrandOf(f.ours, VARIABLES, []).text);
  count('formulas compiled', isFault(verdict) ? 'faults' : verdict.kind);
  if (isFault(verdict)) found(`formula ${verdict.kind}`, f.ours, verdict.why, seed);
  const text = garbled(r);
  const fault = faultOfText(text);
  count('garbled formulas', fault ? 'faults' : 'read or refused');
  if (fault) found('text', JSON.stringify(text), fault, seed);
}

function tryProblem(seed: number): void {
  const made = problem(seed);
  const { kind, why } = judgeProblem(made, seed);
  count('domains and params', kind === 'fault' ? 'faults' : kind);
  if (kind === 'fault') found('problem', made.text, why, seed);
}

function trySent(p: Program, seed: number): void {
  const whole = judgeBytes(encodeProgram(p));
  count('programs sent', whole.kind === 'runs' ? 'same' : 'faults');
  if (whole.kind !== 'runs')
    found('sent', program(seed), whole.kind === 'fault' ? whole.why : 'refused', seed);
  const r = new Random(seed);
  for (const alter of [alteredBytes, alteredStructure, alteredStructure, alteredStructure]) {
    const bytes = alter(p, r);
    const verdict = judgeBytes(bytes);
    count(
      alter === alteredBytes ? 'altered bytes' : 'altered structures',
      verdict.kind === 'fault' ? 'faults' : verdict.kind,
    );
    if (verdict.kind === 'fault') found(alter.name, new TextDecoder().decode(bytes), verdict.why, seed);
  }
}

/** Runs a step under one limit of time; if that is not enough, again, with a limit for each of its parts. */
function together(step: () => void): void {
  try {
    within(60_000, step);
  } catch (e) {
    if (!(e instanceof TimedOut)) throw e;
    step();
  }
}

const start = performance.now();
const over = () => performance.now() - start > minutes * 60_000;
let done = 0;
for (; done < most && !over(); done += BATCH) {
  const seeds = Array.from({ length: Math.min(BATCH, most - done) }, (_, i) => first + done + i);
  let at = 0;
  judgeAll(seeds.map(program), (verdict, text) => {
    const seed = seeds[at++];
    if (verdict.kind === 'nothing') return count('texts that are no JavaScript', 'not compiled');
    count('programs', isFault(verdict) ? 'faults' : verdict.kind);
    if (isFault(verdict)) report(verdict, text, seed);
    const p = verdict.kind === 'same' ? verdict.program : undefined;
    // the harness for CUDA texts, tests/compiler/cuda, takes programs with one result
    if (p?.results.length === 1 && !noCuda && cudaQueue.length < CUDA_PROGRAMS && isExact(p))
      cudaQueue.push({ program: p, seed });
    if (p && at % 7 === 0) together(() => trySent(p, seed));
    if (at % 10 === 0) together(() => tryFormulas(seed));
    if (at % 10 === 0) tryProblem(seed);
  });
  if (done % CUDA_EVERY === 0) tryCuda();
}
tryCuda();

const COLUMNS = [
  'same',
  'documented',
  'refused',
  'runs',
  'endless',
  'unstable',
  'read or refused',
  'not compiled',
  'faults',
];
console.log(
  `\nseeds ${first} to ${first + done - 1}, ${((performance.now() - start) / 60_000).toFixed(1)} minutes`,
);
for (const [what, row] of tried) {
  const all = [...row.values()].reduce((a, b) => a + b, 0);
  const parts = COLUMNS.filter(c => c === 'faults' || row.has(c)).map(
    c => `${(row.get(c) ?? 0).toLocaleString('en')} ${c}`,
  );
  console.log(`${what.padEnd(30)}${all.toLocaleString('en').padStart(10)}   ${parts.join(', ')}`);
}
for (const [key, { times, seed }] of findings)
  console.log(`${times} × ${key.replace(/\s+/g, ' ').slice(0, 300)} (seed ${seed})`);
process.exitCode = findings.size > 0 ? 1 : 0;
