/** Programs of functions that were integrated before: the same function with params of the same shape is compiled once. */

import type { Integrand } from './compile.ts';
import { type Axis, buildDomain } from './domain.ts';
import type { Program } from './ir.ts';
import { lower } from './lower/lower.ts';
import { type Params, shapeOf } from './params.ts';
import { read } from './read.ts';

/** Shapes of params that are kept for a function. */
const MOST = 16;

const programs = new WeakMap<object, Map<string, Program>>();

export function lowered(f: Integrand, dims: number, params: Params, axes: readonly Axis[]): Program {
  const infinite = axes.some(a => a.infinite);
  const make = () => lower(read(f), dims, params, infinite ? (b, z) => buildDomain(b, axes, z) : undefined);
  if (typeof f !== 'function') return make();
  const known = programs.get(f) ?? new Map<string, Program>();
  programs.set(f, known);
  const key = `${dims} ${shapeOf(params)} ${infinite ? JSON.stringify(axes, (_, v) => (typeof v === 'number' ? String(v) : v)) : ''}`;
  const program = known.get(key) ?? make();
  if (known.size >= MOST) known.clear();
  known.set(key, program);
  return program;
}
