/** An integrand together with its params, in the forms that devices accept: compiled, or as a JavaScript function. */
import type { Program } from './ir.ts';
import type { Bindings } from './params.ts';
import type { PlainFunction } from './plain.ts';
import { countOf, type Shape } from './shape.ts';

export type BoundProgram = CompiledProgram | PlainProgram;

export interface CompiledProgram {
  /** Tells a compiled program from a plain one. */
  kind: 'compiled';
  /** The number of coordinates of a point. */
  dims: number;
  /** The integrand as instructions. It has `program.results.length` results, whose shape is `program.shape`. */
  program: Program;
  /** The values of the params that the program reads, by name. */
  params: Bindings;
}

export interface PlainProgram {
  /** Tells a plain program from a compiled one. */
  kind: 'plain';
  /** The number of coordinates of a point. */
  dims: number;
  /** The function of a point, and how workers can create it. */
  call: PlainFunction;
  /** The shape of what it returns, once `shapeOfPlain` (plain.ts) has found it; absent, it is taken for a number. */
  shape?: Shape;
}

/** How many results the integrand has. */
export function resultCount(bound: BoundProgram): number {
  return bound.kind === 'compiled' ? bound.program.results.length : countOf(bound.shape ?? 'number');
}

/** The shape of what the integrand returns. */
export const boundShape = (bound: BoundProgram): Shape =>
  (bound.kind === 'compiled' ? bound.program.shape : bound.shape) ?? 'number';

/** The compiled program; throws for a plain function, which `device` cannot run. */
export function compiledOnly(bound: BoundProgram, device: string): CompiledProgram {
  if (bound.kind === 'compiled') return bound;
  throw new TypeError(`a function as it is cannot run on ${device}; use device: 'js'.`);
}
