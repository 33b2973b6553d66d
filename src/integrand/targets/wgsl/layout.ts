/** The params buffer of a program: what it holds, where, and which numbers float32 cannot hold. */
import { type Program, walk } from '../../ir.ts';
import type { Bindings } from '../../params.ts';
import { type ParamsLayout, paramsLayout } from '../params-layout.ts';
import { isHeld, toFloat32 } from './literals.ts';

/**
 * Before the params comes a 0 (math32/kit.ts says what for), behind them all constant arrays: WGSL has arrays of constants too,
 * but compilers copy those that are read at run-time indices into every thread.
 */
export const layout = (program: Program): ParamsLayout => paramsLayout(program, () => true);

/** The params buffer: booleans as 1 and 0, numbers rounded to float32 (literals.ts). */
export function wgslParams(program: Program, params: Bindings): Float32Array {
  const { offsets, length } = layout(program);
  const buffer = new Float32Array(length);
  for (const [name, offset] of offsets) {
    const value = params.get(name) ?? program.constants[name];
    if (typeof value !== 'object') buffer[offset] = toFloat32(Number(value));
    else for (let i = 0; i < value.length; i++) buffer[offset + i] = toFloat32(value[i]);
  }
  return buffer;
}

/** A number that float32 cannot hold; the program works with the nearest one that it can hold instead. */
export interface Unheld {
  /** The param, as `mass` or `table[3]`; absent for a constant of the integrand. */
  param?: string;
  value: number;
  /** The float32 that stands for it. */
  as: number;
}

/** The params and constants that float32 cannot hold, for a device to refuse or to warn of. */
export function unheldNumbers(program: Program, params: Bindings): Unheld[] {
  const found: Unheld[] = [];
  const look = (value: number, param?: string) => {
    if (!isHeld(value))
      found.push({ ...(param === undefined ? {} : { param }), value, as: toFloat32(value) });
  };
  for (const p of program.params) {
    const value = params.get(p.name);
    if (typeof value === 'number') look(value, p.name);
    else if (typeof value === 'object') value.forEach((v: number, i: number) => look(v, `${p.name}[${i}]`));
  }
  for (const data of Object.values(program.constants)) for (const v of data) look(v);
  walk(program.body, s => {
    if (s.kind === 'let' && s.op === 'const' && typeof s.value === 'number') look(s.value);
  });
  return found;
}
