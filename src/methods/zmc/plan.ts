/** How many blocks a domain is cut into, and how they are searched, as options, budget and time allow. */
import { OptionError } from '../../options/option-error.ts';
import { withDefaults } from '../../options/table.ts';
import type { MethodProblem } from '../method.ts';
import { ZMC_OPTIONS, type ZmcOptions } from './options.ts';

/** Blocks per box, at most, by default. */
const MAX_BLOCKS = 2 ** 14;
/** Samples per block and trial, by default. */
const SAMPLES_PER_TRIAL = 32;
/** Evaluations that all trials of one box may take. */
const MAX_BOX_EVALUATIONS = 2 ** 21;
/** The part of the budget, and of the time, that the search may take. */
export const SEARCH_PART = 0.4;
/** Boxes that the search should suffice for, at least. */
const SEARCHED_BOXES = 20;
/** The largest number of parts of an axis that is chosen without the option. */
const MAX_PER_AXIS = 63;

/** Passes per measurement, at least, so that χ² has degrees of freedom. */
export const PASSES = 5;
/**
 * Samples that each block must have had before a claim, once some blocks are cut. Where a peak lies near a border of
 * blocks, all passes with fewer samples may miss the part of the peak that reaches into the block beside it.
 */
export const MIN_BLOCK_SAMPLES = 150;

export interface Plan extends Required<ZmcOptions> {
  /** The evaluations that budget and time allow, as they were known when the run began. */
  budget: number;
}

export function planFor(problem: MethodProblem, options: ZmcOptions, budget: number): Plan {
  const { ranges, maxEvaluations } = problem;
  const dims = ranges.length;
  const { trials, sigma, depth } = withDefaults(ZMC_OPTIONS, options) as Required<ZmcOptions>;
  const ofBox = Math.min(MAX_BOX_EVALUATIONS, (SEARCH_PART / SEARCHED_BOXES) * budget);
  const blocks =
    options.blocks ?? blocksFor(dims, Math.min(MAX_BLOCKS, ofBox / (SAMPLES_PER_TRIAL * trials)));
  const count = blocks ** dims;
  const affordable = Math.floor(ofBox / (count * trials));
  const samples = options.samples ?? Math.max(2, Math.min(SAMPLES_PER_TRIAL, affordable));
  if (2 * count > maxEvaluations)
    throw new OptionError(
      'maxEvaluations',
      maxEvaluations,
      w =>
        `${blocks} blocks an axis are ${count} in ${dims} dimensions, with two samples each: raise it, or use fewer ${w.quoted('zmc.blocks')}`,
    );
  return { blocks, samples, trials, sigma, depth, budget };
}

/** Parts per axis: as many as give at most `most` blocks, an odd number if possible, since peaks often are in the middle. */
function blocksFor(dims: number, most: number): number {
  let n = 1;
  while ((n + 1) ** dims <= most && n < MAX_PER_AXIS) n++;
  if (n < 3 && 3 ** dims <= 16 * most) return 3;
  return n > 2 && n % 2 === 0 ? n - 1 : n;
}
