/** An integrand with its params, as devices take it: compiled, or to be called as it is. */
import type { Program } from './ir.ts';
import type { Bindings } from './params.ts';
import type { PlainFunction } from './plain.ts';

export type BoundProgram = CompiledProgram | PlainProgram;

export interface CompiledProgram {
  kind: 'compiled';
  dims: number;
  program: Program;
  params: Bindings;
}

export interface PlainProgram {
  kind: 'plain';
  dims: number;
  call: PlainFunction;
}

/** The program, for a device that runs nothing but compiled ones. */
export function compiledOnly(bound: BoundProgram, device: string): CompiledProgram {
  if (bound.kind === 'compiled') return bound;
  throw new TypeError(`a function as it is cannot run on ${device}; use device: 'js'.`);
}
