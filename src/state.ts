/**
 * The state of a run: what `resume` goes on with, and what `map` begins with. It is plain data with a version, which JSON and
 * structuredClone keep; what the method has recorded is text in it (tasks/wire.ts), so that no number changes.
 *
 * read-state.ts reads the states that a run is given.
 */
import type { BoundProgram } from './integrand/bound.ts';
import type { MethodRecord } from './methods/method.ts';
import type { Problem } from './problem.ts';
import { encode } from './tasks/wire.ts';

/** The version of the format. A state of another version is refused. */
export const VERSION = 3;

/** What a run has done and learned: plain data, which JSON and `structuredClone` keep. */
export interface State {
  /** The version of the format. */
  version: number;
  /** The method that the run used. */
  method: string;
  /** The number of dimensions. */
  dims: number;
  /** The box that was sampled, and the maps of infinite ranges. */
  domain: string;
  /** The seed. */
  seed: string;
  /** A digest of the integrand and its params. */
  integrand: string;
  /** The record of the method. */
  record: string;
}

/** Whether it can be told later that an integrand is the same: not where a function uses names from outside its text. */
export const isTold = (integrand: BoundProgram): boolean =>
  integrand.kind === 'compiled' || integrand.call.moved !== undefined;

export function stateOf(
  { domain, dims, seed }: Problem,
  method: string,
  integrand: BoundProgram,
  record: MethodRecord,
): State {
  return {
    version: VERSION,
    method,
    dims,
    domain: encode(domain.axes),
    seed: String(seed),
    integrand: digestOf(integrand),
    record: encode(record),
  };
}

/** Whether a method learns a map that another run can begin with. */
export const learnsMap = (method: string): boolean =>
  ['vegas+', 'mcubes', 'mcubes1d', 'lattice'].includes(method);

/** A digest of the program and its params, or of the text of a plain function: 128 bits that tell mistakes, not attacks. */
export function digestOf(integrand: BoundProgram): string {
  if (integrand.kind === 'plain') return digest(encode([integrand.call.moved, integrand.dims]));
  const params = [...integrand.params].map(([name, value]) => [
    name,
    typeof value === 'object' ? Float64Array.from(value) : value,
  ]);
  return digest(encode([integrand.program, params]));
}

/** Four hashes of 32 bits (FNV-1a with different starts and a last mix). */
function digest(text: string): string {
  const parts = [0x811c9dc5, 0x1b873593, 0x85ebca6b, 0xc2b2ae35].map(start => {
    let h = start;
    for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
    h = Math.imul(h ^ (h >>> 16), 0x45d9f3b);
    return ((h ^ (h >>> 16)) >>> 0).toString(16).padStart(8, '0');
  });
  return parts.join('');
}
