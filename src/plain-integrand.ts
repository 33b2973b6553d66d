/** An integrand that a device calls as it is: whether workers can make it from its text, and what it returns. */

import {
  type Checked,
  evaluatorFor,
  MAX_MS,
  MAX_TURNS,
  madeFrom,
  messageOf,
  POINTS,
  pointOf,
} from './compared.ts';
import type { PlainProgram } from './integrand/bound.ts';
import type { Integrand } from './integrand/compile.ts';
import { toDomain } from './integrand/domain.ts';
import { kit } from './integrand/math/index.ts';
import { arrivedParams } from './integrand/moved-params.ts';
import { bind } from './integrand/params.ts';
import { type MovedFunction, type PlainFunction, plainProgram } from './integrand/plain.ts';
import { cachedProgram } from './integrand/program-cache.ts';
import { read } from './integrand/read.ts';
import type { ResultShape } from './integrand/shape.ts';
import type { Problem } from './problem.ts';

export { shapeOfPlain, withShape } from './integrand/plain.ts';

/** The function with its params, as devices take it. */
export function preparePlain(
  f: Integrand<ResultShape>,
  module: URL | null,
  problem: Problem,
  deadline: number,
): PlainProgram {
  if (typeof f !== 'function') read(f); // throws an error that says what is wrong with it
  const plain = plainProgram(f as Integrand, module, problem.domain, problem.params, deadline);
  const { moved, long } = plain.call;
  const byText = moved && (moved.text !== undefined || moved.params.functions);
  if (byText && !isItsText(f as Integrand, moved, long, problem)) plain.call.moved = undefined;
  return plain;
}

/**
 * Whether workers may make a plain function from its text: whether a function made from it here gives the same values. Its text
 * uses no name from outside but those of JavaScript itself; the function may still mean another `Math` by it, one of its module.
 * A function that may take long is called only at points where its compiled program ends soon; if there is no such point, its
 * text is believed.
 */
function isItsText(
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
