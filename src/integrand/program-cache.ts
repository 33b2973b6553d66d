/**
 * A cache of programs: a function is compiled once for each shape of its params and each map of its domain. Programs are
 * found by the text of the function, not by the function itself: a closure that is made anew in each call of a fit has the
 * same text, and text, shape and maps are all that a program is made of, since names from outside are refused.
 */

import type { Integrand } from './compile.ts';
import { type Axis, isMapped } from './domain.ts';
import { type Program, walk } from './ir.ts';
import { lower } from './lower/lower.ts';
import type { Limits } from './lower/lowering.ts';
import { type Params, shapeOf } from './params.ts';
import { read } from './read.ts';
import { RecentCache } from './recent-cache.ts';
import type { ResultShape } from './shape.ts';

/**
 * Statements of all programs that are kept, and characters of their keys: some 200 bytes each with what targets make of
 * them, so 50 MB in all. An ordinary integrand has 20 to 500 of them.
 */
const MAX_SIZE = 2 ** 18;

/** The program of a function on the sampled box, compiled anew. */
export function makeProgram(
  f: Integrand<ResultShape>,
  dims: number,
  params: Params,
  axes: readonly Axis[],
  limits: Limits,
): Program {
  return lower(read(f), dims, params, isMapped(axes) ? axes : undefined, limits);
}

const programs = new RecentCache<Program>(MAX_SIZE);

export function cachedProgram(
  f: Integrand<ResultShape>,
  dims: number,
  params: Params,
  axes: readonly Axis[],
  deadline = Infinity,
): Program {
  const make = () => makeProgram(f, dims, params, axes, { deadline });
  if (typeof f !== 'function') return make();
  const key = `${dims} ${shapeOf(params)} ${mapsOf(axes)} ${Function.prototype.toString.call(f)}`;
  const known = programs.get(key);
  if (known) return known;
  const program = make();
  programs.set(key, program, key.length + sizeOf(program));
  return program;
}

/** What of a domain is a part of a program. Finite ranges are not. */
export function mapsOf(axes: readonly Axis[]): string {
  if (!isMapped(axes)) return '';
  // how close numbers come to bounds of functions depends on params, and is for ends/end-points.ts
  return JSON.stringify(axes, (key, v) =>
    key === 'gaps' ? undefined : typeof v === 'number' ? String(v) : v,
  );
}

function sizeOf({ body, constants }: Program): number {
  let size = Object.values(constants).reduce((n, list) => n + list.length, 0);
  walk(body, () => size++);
  return size;
}
