/** The options of `zmc`. */
import type { OptionsOf, OptionTable } from '../../options/table.ts';

export const ZMC_OPTIONS = {
  /** Parts of each axis. By default as many as make 2^14 blocks at most, an odd number where possible. */
  blocks: { kind: 'whole', least: 1, most: 2 ** 18 },
  /** Samples per block in one trial. Default 32, fewer where the budget is small. */
  samples: { kind: 'whole', least: 2 },
  /** Independent trials per block. Default 5. */
  trials: { kind: 'whole', least: 2, default: 5 },
  /** How many standard deviations above the mean deviation of all blocks the deviation of a block may be. Default 5. */
  sigma: { kind: 'number', least: 0, default: 5 },
  /** Layers of blocks; 1 means no search. Default 4. */
  depth: { kind: 'whole', least: 1, default: 4 },
} as const satisfies OptionTable;

/** Options of `zmc`. */
export interface ZmcOptions extends OptionsOf<typeof ZMC_OPTIONS> {}
