/** A compiled integrand and the function itself at a few points: what self-check.ts, differences.ts and plain-integrand.ts share. */
import type { CompiledProgram } from './integrand/bound.ts';
import type { Integrand } from './integrand/compile.ts';
import type { Program } from './integrand/ir.ts';
import { stopChecksOf } from './integrand/stop-checks.ts';
import { pointTarget } from './integrand/targets/javascript.ts';
import type { Problem } from './problem.ts';
import { keyOf, STREAM, wordsOf } from './random/philox.ts';

/** Points that are compared. */
export const POINTS = 4;
/** Turns of loops per point: some ten microseconds. */
export const MAX_TURNS = 4096;
/** No more points are compared after this many milliseconds. */
export const MAX_MS = 2;
/** Relative differences up to this one need no explanation. */
export const SMALL = 1e-9;
/** Beyond, numbers are about to overflow; below, small powers round to 0. */
const [HUGE, TINY] = [1e290, 1e-290];
export const KEY = keyOf(1);

export type Checked = Pick<Problem, 'dims' | 'params' | 'domain'>;
export type Outcome = { value: unknown } | { thrown: unknown };

/** The function that a text makes where it sees no names but the global ones; undefined where that is forbidden. */
export function madeFrom(text: string): Integrand | undefined {
  try {
    return new Function(`return (${text})`)();
  } catch {
    return undefined;
  }
}

/** Undefined where pages forbid to make functions from text. */
export function evaluatorFor(program: Program, params: CompiledProgram['params']) {
  try {
    return pointTarget(program, params, stopChecksOf(program).checked.size > 0);
  } catch {
    return undefined;
  }
}

/** Point number i, which is the same in every run and in none of the streams of a run. */
export function pointOf(
  ranges: readonly (readonly [number, number])[],
  dims: number,
  i: number,
): Float64Array {
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

export function agree(own: Outcome, compiled: number, within: number): boolean {
  if ('thrown' in own) return false;
  if (own.value === undefined) return Number.isNaN(compiled);
  if (typeof own.value !== 'number') return false;
  if (Object.is(own.value, compiled)) return true;
  const [size, other] = [Math.abs(own.value), Math.abs(compiled)];
  if (!(size < HUGE) && !(other < HUGE)) return Number.isNaN(size) === Number.isNaN(other);
  return Math.abs(own.value - compiled) <= within * Math.max(size, other) + TINY;
}

export const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));
