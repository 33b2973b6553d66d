/** What the compiler has to know of tables; tables.ts makes them. */
import type { Axis, Grid } from './lookup.ts';
import type { Table } from './tables.ts';

export function isTable(v: unknown): v is Table {
  return typeof v === 'function' && 'slopes' in v && 'axes' in v;
}

/** The axis as the functions of lookup.ts read it. */
export const gridOf = ({ data, length, uniform, log }: Axis): Grid => ({
  grid: data,
  count: length,
  uniform,
  log,
});
