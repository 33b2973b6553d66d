/**
 * A place to run functions that may never end and may change what they reach: a context of their own, whose built-in objects
 * are frozen, under a limit of time. Its `Math` is the math library that compiled programs call, so that a compiled program
 * and plain JavaScript give the same bits wherever `**` and `Math.hypot` are not used: what differs is a fault of the compiler.
 */
import { createContext, runInContext, Script } from 'node:vm';
import { kit } from '../../src/integrand/math/index.ts';

const BUILT_IN =
  'Object Function Array Number Boolean String Symbol BigInt RegExp Date Map Set Promise Error TypeError Float64Array Float32Array Uint8Array Int32Array Math JSON Reflect';

const context = createContext({ kit });
runInContext(
  `{
    const exact = ['abs', 'ceil', 'floor', 'max', 'min', 'sqrt', 'trunc', 'hypot', 'random', 'fround', 'clz32', 'imul', 'sign', 'round'];
    const library = Object.fromEntries(
      Object.getOwnPropertyNames(Math).map(name => [name, exact.includes(name) ? Math[name] : kit[name] ?? Math[name]]),
    );
    Math = library;
    for (const o of [${BUILT_IN.split(' ').join(', ')}]) {
      Object.freeze(o);
      if (o.prototype) Object.freeze(o.prototype);
    }
    delete globalThis.kit;
  }`,
  context,
);
const own = new Set(Object.getOwnPropertyNames(context));

/** What a text stands for as an expression; undefined when it is no JavaScript or throws. */
export function evaluate(text: string): unknown {
  try {
    return within(1000, () => runInContext(`(${text}\n)`, context));
  } catch {
    return undefined;
  } finally {
    for (const name of Object.getOwnPropertyNames(context)) if (!own.has(name)) delete context[name];
  }
}

/** Gives `f` points and params as objects of the context; what it throws at a point stands in the place of its value. */
export type Caller = (
  f: unknown,
  points: readonly (readonly number[])[],
  params: unknown,
  special: unknown,
) => unknown[];

/** An error that a function threw, as its text. */
export class Thrown {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const caller = runInContext(
  '(f, points, p, m, thrown) => points.map(x => { try { return f([...x], p, m); } catch (e) { return thrown(e); } })',
  context,
) as (...args: unknown[]) => unknown[];

export const callAt: Caller = (f, points, params, special) => [
  ...caller(f, points, params, special, (e: unknown) => {
    try {
      return new Thrown(String(e));
    } catch {
      return new Thrown('an error without text');
    }
  }),
];

export class TimedOut extends Error {}

const jobs = createContext({ job: undefined as unknown });
const script = new Script('job()');
let limited = false;

/**
 * Runs a step, WebAssembly included; throws `TimedOut` when it takes longer than `timeout` milliseconds. Inside another such
 * step only the outer limit counts: each limit costs a thread, about a millisecond, which a batch of programs can share.
 */
export function within<T>(timeout: number, step: () => T): T {
  if (limited) return step();
  let end: { value: T } | { error: unknown } | undefined;
  jobs.job = () => {
    try {
      end = { value: step() };
    } catch (error) {
      end = { error };
    }
  };
  limited = true;
  try {
    script.runInContext(jobs, { timeout });
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new TimedOut();
    throw e;
  } finally {
    limited = false;
  }
  if (end && 'value' in end) return end.value;
  throw end!.error;
}
