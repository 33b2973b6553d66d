/**
 * The compiled integrand and the function itself, compared before a run.
 *
 * Both are evaluated at a few random points of the domain, on the calling thread. A difference is an error that shows the point
 * and both values: a construct that compiles into something else must not become a wrong integral.
 *
 * - What is compared is the program as JavaScript (targets/javascript.ts), which is ready in a tenth of a millisecond and is
 *   made for every run anyway (ends.ts). It has been through everything that differs from integrand to integrand: reading,
 *   lowering, folding. The other targets give its bits, which the fuzzer asserts on random programs.
 * - The compiled program goes first, with a limited number of turns of its loops. The function is called only where these were
 *   enough: nothing could end it on this thread. So what loops for long at every point is not compared.
 * - Last bits differ, since the engine's Math is not our library, and an integrand may magnify them without bound: it
 *   subtracts nearly equal numbers, or a step lies between the two values. Where values differ by more than 1e-9, the program is
 *   compiled again with all calls of the library left as calls, and evaluated with arguments and results of calls changed in
 *   their last bits. A difference that such changes can make is none of the compiler's.
 * - Documented differences are none either: what is read outside an array is NaN, and so is everything after a write there.
 */
import type { CompiledProgram } from './integrand/bound.ts';
import type { Integrand } from './integrand/compile.ts';
import { isMapped, onSampled, toDomain } from './integrand/domain.ts';
import { type Program, walk } from './integrand/ir.ts';
import { kit } from './integrand/math/index.ts';
import { arrivedParams } from './integrand/moved-params.ts';
import { bind } from './integrand/params.ts';
import type { MovedFunction, PlainFunction } from './integrand/plain.ts';
import { cachedProgram, makeProgram } from './integrand/program-cache.ts';
import { flatten, leaves, type ResultShape } from './integrand/shape.ts';
import { stopChecksOf } from './integrand/stop-checks.ts';
import { pointTarget } from './integrand/targets/javascript.ts';
import { IntegrationError } from './options/integration-error.ts';
import type { Problem } from './problem.ts';
import { keyOf, STREAM, wordsOf } from './random/philox.ts';

/** Points that are compared. */
const POINTS = 4;
/** Turns of loops per point: some ten microseconds. */
const MAX_TURNS = 4096;
/** No more points are compared after this many milliseconds. */
const MAX_MS = 2;
/** Relative differences up to this one need no explanation. */
const SMALL = 1e-9;
/** Evaluations with changed last bits, and the relative change of each number. */
const TRIALS = 16;
const LAST_BITS = 2 ** -50;
/** Differences up to this many times what changed last bits make are explained by them. */
const MARGIN = 64;
/** Beyond, numbers are about to overflow; below, small powers round to 0. */
const [HUGE, TINY] = [1e290, 1e-290];
const KEY = keyOf(1);

type Checked = Pick<Problem, 'dims' | 'params' | 'domain'>;
type Outcome = { value: unknown } | { thrown: unknown };

/** Throws an `IntegrationError` when the compiled program is not the function. */
export function selfCheck(
  f: Integrand<ResultShape>,
  { program, params }: CompiledProgram,
  problem: Checked,
): void {
  const { domain, dims } = problem;
  const evaluate = evaluatorFor(program, params);
  if (!evaluate) return;
  const axes = isMapped(domain.axes) ? domain.axes : undefined;
  const shape = program.shape ?? 'number';
  const names = leaves(shape);
  /** An outcome, result by result; a single number is compared as it is, of whatever type. */
  const byResult = (outcome: Outcome): Outcome[] => {
    if ('thrown' in outcome || shape === 'number') return names.map(() => outcome);
    try {
      return flatten(outcome.value, shape).map(value => ({ value }));
    } catch (e) {
      return names.map(() => ({ thrown: e }));
    }
  };
  const plain = (z: Float64Array, g = f): Outcome => {
    const call = onSampled((x: number[]) => g(x, problem.params, kit), axes, toDomain);
    try {
      return { value: call([...z]) };
    } catch (e) {
      return { thrown: e };
    }
  };
  const start = performance.now();
  for (let i = 0; i < POINTS && (i === 0 || performance.now() - start < MAX_MS); i++) {
    const z = pointOf(domain.ranges, dims, i);
    const compiled = evaluate(z, MAX_TURNS);
    if (compiled === undefined) continue;
    const own = byResult(plain(z));
    for (const [k, leaf] of names.entries()) {
      const [mine, value] = [own[k], compiled[k]];
      if (agree(mine, value, SMALL)) continue;
      if (Number.isNaN(value) && hasStores(program)) continue;
      const { x } = toDomain(domain.axes, [...z]);
      const again = byResult(plain(z))[k];
      if ('value' in mine && 'value' in again && !Object.is(mine.value, again.value))
        throw unsteady(x, leaf, mine.value, again.value);
      if ('value' in mine && explained(f, problem, z, k, Number(mine.value), value)) continue;
      const made = madeFrom(String(f));
      const itsText = made !== undefined && agree(byResult(plain(z, made))[k], value, SMALL);
      throw different(x, leaf, mine, value, itsText);
    }
  }
}

/**
 * Whether workers may make a plain function from its text: whether a function made from it here gives the same values. Its text
 * uses no name from outside but those of JavaScript itself; the function may still mean another `Math` by it, one of its module.
 * A function that may take long is called only at points where its compiled program ends soon; if there is no such point, its
 * text is believed.
 */
export function isItsText(
  f: Integrand,
  moved: MovedFunction,
  long: PlainFunction['long'],
  problem: Checked,
): boolean {
  const { domain, dims, params } = problem;
  const ends = long ? endingOf(f, problem) : () => true;
  const outcomeOf = (g: Integrand, x: number[], p: unknown): unknown => {
    try {
      const value: unknown = g(x, p, kit);
      if (typeof value !== 'object' || value === null) return value;
      return 'then' in value ? 'a promise' : JSON.stringify(value);
    } catch (e) {
      return messageOf(e);
    }
  };
  const made = moved.text === undefined ? f : madeFrom(moved.text);
  const theirs = arrived(moved);
  if (!made || !theirs) return false;
  const start = performance.now();
  for (let i = 0; i < POINTS && (i === 0 || performance.now() - start < MAX_MS); i++) {
    const z = pointOf(domain.ranges, dims, i);
    if (!ends(z)) continue;
    const { x } = toDomain(domain.axes, [...z]);
    if (!Object.is(outcomeOf(f, [...x], params), outcomeOf(made, [...x], theirs))) return false;
  }
  return true;
}

/** The function that a text makes where it sees no names but the global ones; undefined where that is forbidden. */
function madeFrom(text: string): Integrand | undefined {
  try {
    return new Function(`return (${text})`)();
  } catch {
    return undefined;
  }
}

/** The params that a worker makes; undefined where making functions from text is forbidden. */
function arrived({ params }: MovedFunction): unknown {
  try {
    return arrivedParams(params);
  } catch {
    return undefined;
  }
}

/** Whether the function ends soon at a point, as far as its compiled program tells. */
function endingOf(f: Integrand, { dims, params, domain }: Checked): (z: Float64Array) => boolean {
  try {
    const program = cachedProgram(f, dims, params, domain.axes);
    const evaluate = evaluatorFor(program, bind(program.params, params));
    return z => evaluate?.(z, MAX_TURNS) !== undefined;
  } catch {
    return () => false; // it does not compile
  }
}

/** Undefined where pages forbid to make functions from text. */
function evaluatorFor(program: Program, params: CompiledProgram['params']) {
  try {
    return pointTarget(program, params, stopChecksOf(program).checked.size > 0);
  } catch {
    return undefined;
  }
}

/** Point number i, which is the same in every run and in none of the streams of a run. */
function pointOf(ranges: readonly (readonly [number, number])[], dims: number, i: number): Float64Array {
  const z = new Float64Array(dims);
  for (let group = 0; 4 * group < dims; group++) {
    const words = wordsOf(i, group, 0, STREAM.check, KEY);
    for (let d = 4 * group; d < Math.min(dims, 4 * group + 4); d++) {
      const [low, high] = ranges[d];
      z[d] = low + (high - low) * ((words[d % 4] + 0.5) * 2 ** -32);
    }
  }
  return z;
}

function agree(own: Outcome, compiled: number, within: number): boolean {
  if ('thrown' in own) return false;
  if (own.value === undefined) return Number.isNaN(compiled);
  if (typeof own.value !== 'number') return false;
  if (Object.is(own.value, compiled)) return true;
  const [size, other] = [Math.abs(own.value), Math.abs(compiled)];
  if (!(size < HUGE) && !(other < HUGE)) return Number.isNaN(size) === Number.isNaN(other);
  return Math.abs(own.value - compiled) <= within * Math.max(size, other) + TINY;
}

/** Whether, in result k, changes of last bits make a difference as large as the one between the function and the program. */
function explained(
  f: Integrand<ResultShape>,
  problem: Checked,
  z: Float64Array,
  k: number,
  own: number,
  compiled: number,
): boolean {
  const { dims, params, domain } = problem;
  let evaluate: ReturnType<typeof pointTarget>;
  try {
    const program = makeProgram(f, dims, params, domain.axes, { keepCalls: true });
    evaluate = pointTarget(program, bind(program.params, params), true);
  } catch {
    return true; // nothing can be said: with calls left as calls it does not compile
  }
  let spread = 0;
  for (let trial = 0; trial < TRIALS; trial++) {
    let count = 0;
    const nudge = (v: number): number => {
      const [word] = wordsOf(count++, trial, 1, STREAM.check, KEY);
      return v * (1 + LAST_BITS * ((word % 3) - 1));
    };
    const changed = evaluate(z.map(nudge), 64 * MAX_TURNS, nudged(nudge))?.[k];
    if (changed === undefined || agree({ value: own }, changed, SMALL)) return true;
    if (Number.isFinite(changed)) spread = Math.max(spread, Math.abs(changed - compiled));
  }
  return Math.abs(own - compiled) <= MARGIN * spread;
}

/** Functions whose results are the same in every library. */
const EXACT = new Set(['round', 'sign', 'fround', 'clz32', 'imul', 'mod']);

/** The math library with changed results. */
function nudged(nudge: (v: number) => number): typeof kit {
  const functions = Object.entries(kit).map(([name, f]) => [
    name,
    (...args: number[]) => {
      const value = (f as (...args: number[]) => unknown)(...args);
      return typeof value === 'number' && !EXACT.has(name) ? nudge(value) : value;
    },
  ]);
  return Object.fromEntries(functions) as typeof kit;
}

function hasStores(program: Program): boolean {
  let found = false;
  walk(program.body, s => {
    found ||= s.kind === 'store';
  });
  return found;
}

/** `leaf` is the name of the result, '' for a single one. `itsText`: the program is what the text says, so that a name of the text means something else to the function. */
function different(x: number[], leaf: string, own: Outcome, compiled: number, itsText: boolean): Error {
  const what =
    'thrown' in own ? `throws "${messageOf(own.thrown)}"` : `gives ${named(leaf)}${String(own.value)}`;
  const why = itsText
    ? 'a name that it uses, such as Math or isNaN, is one of your own. Give it another name and write it inside the function; or run the function'
    : 'Quadrille compiled something else than you wrote. Please report it, with the function; it runs';
  return new IntegrationError(
    w =>
      `at ${w.point(x)} the function ${what}, but compiled it is ${compiled}: ${why} as it is with ${w.setting('device', 'js')}.`,
  );
}

const named = (leaf: string) => (leaf === '' ? '' : `${leaf} = `);

function unsteady(x: number[], leaf: string, first: unknown, second: unknown): Error {
  return new IntegrationError(
    w =>
      `at ${w.point(x)} the function gives ${named(leaf)}${String(first)}, then ${String(second)}: it reads a clock, a random number or something else that changes, where an integrand has one value per point. If that is meant, run it as it is with ${w.setting('device', 'js')}.`,
  );
}

const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));
