/** What self-check.ts does about values that differ: whether last bits explain it, and what the error says. */

import { agree, type Checked, KEY, MAX_TURNS, messageOf, type Outcome, SMALL } from './compared.ts';
import type { Integrand } from './integrand/compile.ts';
import { kit } from './integrand/math/index.ts'; // calls that stay calls may be of any function
import { NotLoaded } from './integrand/on-demand.ts';
import { bind } from './integrand/params.ts';
import { makeProgram } from './integrand/program-cache.ts';
import type { ResultShape } from './integrand/shape.ts';
import { pointTarget } from './integrand/targets/javascript.ts';
import { IntegrationError } from './options/integration-error.ts';
import { STREAM, wordsOf } from './random/philox.ts';

/** Evaluations with changed last bits, and the relative change of each number. */
const TRIALS = 16;
const LAST_BITS = 2 ** -50;
/** Differences up to this many times what changed last bits make are explained by them. */
const MARGIN = 64;

/** Whether, in result k, changes of last bits make a difference as large as the one between the function and the program. */
export function explained(
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
  } catch (e) {
    if (e instanceof NotLoaded) throw e;
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

/** `leaf` is the name of the result, '' for a single one. `itsText`: the program is what the text says, so that a name of the text means something else to the function. */
export function different(
  x: number[],
  leaf: string,
  own: Outcome,
  compiled: number,
  itsText: boolean,
): Error {
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

export function unsteady(x: number[], leaf: string, first: unknown, second: unknown): Error {
  return new IntegrationError(
    w =>
      `at ${w.point(x)} the function gives ${named(leaf)}${String(first)}, then ${String(second)}: it reads a clock, a random number or something else that changes, where an integrand has one value per point. If that is meant, run it as it is with ${w.setting('device', 'js')}.`,
  );
}
