/**
 * The verdict on a program: compiled, it gives what plain JavaScript gives at a few points, or it is refused with a place and
 * a remedy. Anything else is a finding.
 */
import { compile, type Integrand } from '../../src/integrand/compile.ts';
import { IntegrandError } from '../../src/integrand/diagnostics.ts';
import { type Program, walk } from '../../src/integrand/ir.ts';
import { kit } from '../../src/integrand/math/index.ts';
import { bind, type Params } from '../../src/integrand/params.ts';
import { javascriptTarget } from '../../src/integrand/targets/javascript.ts';
import { byResult, columns, firstDifference } from '../compiler/compare.ts';
import { params as given } from '../compiler/surroundings.ts';
import { DIMS } from './program.ts';
import { callAt, evaluate, Thrown, TimedOut, within } from './sandbox.ts';
import { wrapped } from './syntax.ts';

export type Kind =
  /** The same numbers as plain JavaScript. */
  | 'same'
  /** Other numbers where the documentation says so: outside an array. */
  | 'documented'
  | 'refused'
  /** Plain JavaScript does not end, so there is nothing to compare with. */
  | 'endless'
  /** The last bit of a power or root decides what plain JavaScript gives. */
  | 'unstable'
  /** The text is no JavaScript function. */
  | 'nothing'
  | Fault;

export const FAULTS = ['differs', 'throws', 'crash', 'slow', 'hangs', 'unclear'] as const;
/**
 * What must not happen: other numbers; numbers where plain JavaScript throws; an error of the compiler itself; compiling
 * that takes longer than `SLOW`; a compiled program that does not end where JavaScript does; a refusal without its parts.
 */
export type Fault = (typeof FAULTS)[number];

export interface Verdict {
  kind: Kind;
  /** What was seen, for people. */
  why: string;
  /** The compiled program, where there is one. */
  program?: Program;
}

export const isFault = ({ kind }: Verdict): boolean => (FAULTS as readonly string[]).includes(kind);

export const params: Params = {
  ...given,
  singles: Float32Array.of(0.1, 2.5, -3),
  ints: Int32Array.of(3, -7, 5),
};

export const POINTS: readonly (readonly number[])[] = [
  [0.3, 0.7, 0.1],
  [0.9, -2, 3],
  [0, 1, 0.5],
  [-0.5, 0.25, 2],
  [0.62, -0, 1e10],
];

/** Milliseconds of compiling that are a finding, and those after which compiling is ended. */
const SLOW = 1500;
const COMPILING = 10_000;
const RUNNING = 500;

/** `compiler` stands for the compiler; tests of the judge give it a wrong one. */
export function judge(text: string, compiler = compiled): Verdict {
  const f = evaluate(text) as Integrand;
  if (typeof f !== 'function') return { kind: 'nothing', why: '' };
  let made: ReturnType<typeof compiled>;
  const start = process.cpuUsage();
  /** Milliseconds of the processor, which other programs of the machine do not change. */
  const elapsed = () => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };
  try {
    made = within(COMPILING, () => compiler(f));
  } catch (e) {
    if (e instanceof TimedOut) return { kind: 'slow', why: `compiling took more than ${COMPILING} ms` };
    if (!(e instanceof IntegrandError)) return { kind: 'crash', why: String((e as Error)?.stack ?? e) };
    const time = elapsed();
    if (time > SLOW) return { kind: 'slow', why: `refused after ${time.toFixed()} ms` };
    return isClear(e) ? { kind: 'refused', why: e.reason } : { kind: 'unclear', why: e.message };
  }
  const time = elapsed();
  if (time > SLOW) return { kind: 'slow', why: `compiling took ${time.toFixed()} ms` };
  return { ...compare(text, f, made), program: made.program };
}

/** Milliseconds for a batch of programs; one that does not end is judged again on its own. */
const BATCH = 5000;

/** The verdicts on many programs, given to `take` in their order. */
export function judgeAll(texts: readonly string[], take: (verdict: Verdict, text: string) => void): void {
  for (let from = 0; from < texts.length; ) {
    const verdicts: Verdict[] = [];
    try {
      within(BATCH, () => {
        while (from + verdicts.length < texts.length) verdicts.push(judge(texts[from + verdicts.length]));
      });
    } catch (e) {
      if (!(e instanceof TimedOut)) throw e;
      if (from + verdicts.length < texts.length) verdicts.push(judge(texts[from + verdicts.length]));
    }
    verdicts.forEach((v, i) => {
      // a slow program is measured again: the machine may have been busy with something else
      take(v.kind === 'slow' ? judge(texts[from + i]) : v, texts[from + i]);
    });
    from += verdicts.length;
  }
}

export function compiled(f: Integrand) {
  const { program, evaluate: wasm } = compile(f, { dims: DIMS, params });
  const javascript = javascriptTarget(program, bind(program.params, params));
  return { program, wasm, javascript };
}

/** A refusal says what, where and what to write instead; none of the engine's own words are in it. */
const isClear = ({ reason, remedy, line }: IntegrandError): boolean =>
  /\w.*\.$/s.test(reason) &&
  /\w/.test(remedy) &&
  line !== undefined &&
  !/undefined is not|Cannot read|of of|\[object|is not a function\b.*\bat\b/.test(reason + remedy);

function compare(
  text: string,
  f: Integrand,
  { wasm, javascript, program }: ReturnType<typeof compiled>,
): Verdict {
  const shape = program.shape ?? 'number';
  let plain: unknown[];
  try {
    plain = byResult(
      within(RUNNING, () => callAt(f, POINTS, params, kit)),
      shape,
    );
  } catch {
    return { kind: 'endless', why: '' };
  }
  const points = columns(POINTS);
  let values: Float64Array;
  try {
    const [first, second] = within(10 * RUNNING, () => {
      const out = new Float64Array(POINTS.length * program.results.length);
      javascript(points, out);
      return [wasm(points), out];
    });
    if (firstDifference(first, second) >= 0)
      return { kind: 'differs', why: `wasm ${first}, javascript ${second}` };
    values = first;
  } catch (e) {
    if (e instanceof TimedOut) return { kind: 'hangs', why: 'the compiled program does not end' };
    return { kind: 'crash', why: String((e as Error)?.stack ?? e) };
  }
  const loose = /\*\*|pow|hypot/.test(text);
  const agree = (list: readonly unknown[]) => list.every((v, i) => isSame(v, values[i], loose));
  if (agree(plain)) return { kind: 'same', why: '' };
  const stray = storesAnywhere(program);
  const forgiven = (list: readonly unknown[]) =>
    list.every((v, i) => isSame(v, values[i], loose) || (stray && Number.isNaN(values[i])));
  if (forgiven(plain)) return { kind: 'documented', why: '' };
  const lenient = evaluate(readingNaN(text));
  if (forgiven(byResult(runAgain(lenient) ?? [undefined], shape))) return { kind: 'documented', why: '' };
  if (loose && !isStable(text, plain)) return { kind: 'unstable', why: '' };
  const at = plain.findIndex((v, i) => !isSame(v, values[i], loose));
  const shown = plain[at] instanceof Thrown ? `throws ${plain[at].text}` : `gives ${show(plain[at])}`;
  return {
    kind: plain[at] instanceof Thrown ? 'throws' : 'differs',
    why: `at [${POINTS[at % POINTS.length].join(', ')}] JavaScript ${shown}, compiled it gives ${values[at]}`,
  };
}

const show = (v: unknown): string =>
  typeof v === 'string' ? `'${v}'` : typeof v === 'object' ? 'an object' : String(v);

function runAgain(f: unknown): unknown[] | undefined {
  if (typeof f !== 'function') return undefined;
  try {
    return within(RUNNING, () => callAt(f, POINTS, params, kit));
  } catch {
    return undefined;
  }
}

/** `loose`: powers and roots of the compiler are within some ulps of the engine's, and sums of them within more. */
function isSame(plain: unknown, compiled: number, loose: boolean): boolean {
  if (plain === undefined) return Number.isNaN(compiled);
  if (typeof plain !== 'number') return false;
  if (Object.is(plain, compiled)) return true;
  return loose && Math.abs(plain - compiled) <= 1e-9 * Math.max(1, Math.abs(plain));
}

/** Whether a store at an index known at run time may be outside its array, which makes the result NaN. */
function storesAnywhere(program: Program): boolean {
  const constants = new Set<number>();
  let found = false;
  walk(program.body, s => {
    if (s.kind === 'let' && s.op === 'const') constants.add(s.id);
    if (s.kind === 'store' && !constants.has(s.index)) found = true;
  });
  return found;
}

/** The text with every element at a computed index, and every `at`, read as NaN where it is undefined. */
const readingNaN = (text: string): string =>
  wrapped(text, (node, own) => {
    const element = node.type === 'MemberExpression' && node.computed && node.property.type !== 'Literal';
    const isAt = node.type === 'CallExpression' && /\.at\([^()]*(\(.*\))?[^()]*\)$/s.test(own);
    return element || isAt ? ['(v => v === undefined ? NaN : v)(', ')'] : undefined;
  });

/** Whether plain JavaScript gives the same when every power and root is off by a few ulps. */
function isStable(text: string, plain: readonly unknown[]): boolean {
  return [1 + 2 ** -49, 1 - 2 ** -49].every(factor => {
    const moved = wrapped(text, (node, own) => {
      const power = node.type === 'BinaryExpression' && node.operator === '**';
      const call = node.type === 'CallExpression' && /^[^(]*(pow|hypot)\b/.test(own);
      return power || call ? ['((', `) * ${factor})`] : undefined;
    });
    const again = runAgain(evaluate(moved));
    return again?.every((v, i) => Object.is(v, plain[i]) || isSame(plain[i], v as number, true)) ?? false;
  });
}
