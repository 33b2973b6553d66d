/** The options of `lattice`. */
import type { OptionsOf, OptionTable } from '../../options/table.ts';

export const LATTICE_OPTIONS = {
  /** Random shifts of the lattice, from whose means the error comes. Default 32. */
  shifts: { kind: 'whole', least: 8, most: 256 },
  /** Bins of the map per axis, between which it is a smooth curve. Default 512, fewer while iterations have few samples. */
  knots: { kind: 'whole', least: 4, most: 1024 },
} as const satisfies OptionTable;

/** Options of `lattice`. */
export interface LatticeOptions extends OptionsOf<typeof LATTICE_OPTIONS> {}
