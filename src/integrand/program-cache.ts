/** A cache of programs: a function is compiled once for each shape of its params. */

import type { Integrand } from './compile.ts';
import { type Axis, buildDomain } from './domain.ts';
import type { Program } from './ir.ts';
import { lower } from './lower/lower.ts';
import type { Limits } from './lower/lowering.ts';
import { type Params, shapeOf } from './params.ts';
import { read } from './read.ts';

/** The most programs that are kept per function; one more empties the function's cache. */
const MAX_PROGRAMS = 16;

/** The program of a function on the sampled box, compiled anew. */
export function makeProgram(
  f: Integrand,
  dims: number,
  params: Params,
  axes: readonly Axis[],
  limits: Limits,
): Program {
  const infinite = axes.some(a => a.infinite);
  return lower(read(f), dims, params, infinite ? (b, z) => buildDomain(b, axes, z) : undefined, limits);
}

const programs = new WeakMap<object, Map<string, Program>>();

export function cachedProgram(
  f: Integrand,
  dims: number,
  params: Params,
  axes: readonly Axis[],
  deadline = Infinity,
): Program {
  const infinite = axes.some(a => a.infinite);
  const make = () => makeProgram(f, dims, params, axes, { deadline });
  if (typeof f !== 'function') return make();
  const known = programs.get(f) ?? new Map<string, Program>();
  programs.set(f, known);
  const key = `${dims} ${shapeOf(params)} ${infinite ? JSON.stringify(axes, (_, v) => (typeof v === 'number' ? String(v) : v)) : ''}`;
  const program = known.get(key) ?? make();
  if (known.size >= MAX_PROGRAMS) known.clear();
  known.set(key, program);
  return program;
}
