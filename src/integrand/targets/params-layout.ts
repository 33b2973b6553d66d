/**
 * The params buffer of a card: one number for the target's own use, then the params in the order of their declarations, then
 * those constant arrays that the target reads from there.
 */
import type { Program } from '../ir.ts';

export interface ParamsLayout {
  /** The offset of each param and constant array in the buffer, in its numbers. */
  offsets: ReadonlyMap<string, number>;
  /** The length of the buffer. */
  length: number;
}

export function paramsLayout(program: Program, isPlaced: (constants: number[]) => boolean): ParamsLayout {
  const offsets = new Map<string, number>();
  let length = 1;
  const place = (name: string, size: number) => {
    offsets.set(name, length);
    length += size;
  };
  for (const p of program.params) place(p.name, p.kind === 'array' ? p.length : 1);
  for (const [name, data] of Object.entries(program.constants)) if (isPlaced(data)) place(name, data.length);
  return { offsets, length };
}
