/**
 * Bounds that are a function of the coordinates before them: ([x]) => [0, x]. The axis is sampled in u from 0 to 1, and
 *
 *     x = a + (b − a)·u,      dx/du = b − a,       with the sign turned where a > b, and 0 where a = b.
 *
 * Of such a range nothing is known but what the function says at a point. It is asked at a few points before the run, because two
 * things have to be known by then: whether the range is infinite, which a change of variables has to be chosen for, and how
 * close to its ends numbers come.
 */
import { OptionError } from '../options/option-error.ts';
import type { SpecialFunctions } from './compile.ts';
import { kit } from './math/index.ts';
import type { Params } from './params.ts';

/** Bounds of a range as a function of the coordinates before it, of `params`, and of the functions that `Math` lacks. */
// biome-ignore lint/suspicious/noExplicitAny: what params hold is between the caller and the function
export type BoundsFunction = (x: any, p: any, m: SpecialFunctions) => readonly [number, number];

/** Bounds that depend on coordinates, as a part of an axis. All but `f` and `call` is data. */
export interface FunctionBounds {
  /** The function, for the compiler. */
  f?: BoundsFunction;
  /** The function with its params. */
  call?: (x: readonly number[]) => readonly [number, number];
  /** Its text, for workers and states. */
  text: string;
  /** What messages call it. */
  name: string;
  /** Set if one end, or both, is infinite. */
  open?: OpenBounds;
  /** How close numbers come to each end, as a part of the range. */
  gaps: readonly [number, number];
}

export interface OpenBounds {
  /** The bounds as they must be at every point: ±Infinity, or undefined for the finite end. */
  bounds: readonly [number | undefined, number | undefined];
  /** The direction of the infinite end; 0 if both are. */
  direction: 1 | -1 | 0;
  /** −1 if the range is given backwards. */
  sign: 1 | -1;
}

/** `before` are points of the coordinates before this one. */
export function functionBounds(
  f: BoundsFunction,
  d: number,
  before: readonly (readonly number[])[],
  params: Params,
): FunctionBounds {
  const name = `domain[${d}]`;
  const refuse = (remedy: string, reason: string): never => {
    throw new OptionError(name, f, remedy, w => `${w.quoted(name)} ${reason}`);
  };
  const call = (x: readonly number[]) => f([...x], params, kit);
  const pairs = before.map((x): readonly [number, number] => {
    let pair: unknown;
    try {
      pair = call(x);
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e);
      return refuse('mend it there', `throws "${why}" at [${x.join(', ')}]`);
    }
    const isPair = Array.isArray(pair) && pair.length === 2 && pair.every(b => typeof b === 'number');
    if (!isPair) refuse('return two bounds, such as [0, x]', `returns no two numbers at [${x.join(', ')}]`);
    return pair as [number, number];
  });
  const open = openBounds(pairs, refuse);
  return { f, call, text: String(f), name, ...(open && { open }), gaps: gapsOf(pairs) };
}

const isInfinite = (b: number) => Math.abs(b) === Infinity;

function openBounds(
  pairs: readonly (readonly [number, number])[],
  refuse: (remedy: string, reason: string) => never,
): OpenBounds | undefined {
  const [a, b] = [0, 1].map(i => pairs[0][i]);
  for (const i of [0, 1])
    if (pairs.some(pair => (isInfinite(pair[i]) || isInfinite(pairs[0][i])) && pair[i] !== pairs[0][i]))
      refuse('write Infinity as it is, at every point', 'has a bound that is infinite at some points only');
  if (!isInfinite(a) && !isInfinite(b)) return undefined;
  if (a === b) refuse('give the other end', 'goes from an infinity to itself');
  return {
    bounds: [isInfinite(a) ? a : undefined, isInfinite(b) ? b : undefined],
    direction: isInfinite(a) && isInfinite(b) ? 0 : a === Infinity || b === Infinity ? 1 : -1,
    sign: a === Infinity || b === -Infinity ? -1 : 1,
  };
}

/** Numbers near 0 are as dense as one likes; near another end they are at least 2^-52 of it apart. */
function gapsOf(pairs: readonly (readonly [number, number])[]): [number, number] {
  const gap = (i: 0 | 1) => {
    const known = pairs.map(([a, b]) => {
      const [low, high] = a > b ? [b, a] : [a, b];
      const own = (2 ** -52 * Math.abs(i === 0 ? low : high)) / (high - low);
      return own < 1 ? own : 0;
    });
    return Math.max(...known);
  };
  return [gap(0), gap(1)];
}
