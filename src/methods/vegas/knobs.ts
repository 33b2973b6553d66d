/**
 * What makes the four forms of VEGAS different:
 *
 * - `plain`: Monte Carlo without a map.
 * - `mcubes`: a map per axis, and the same number of samples in each cube (I. Sakiotis, K. Arumugam, M. Paterno, D. Ranjan,
 *   B. Terzić, M. Zubair, "m-Cubes: an efficient and portable implementation of multi-dimensional integration for GPUs").
 * - `mcubes1d`: the same with one map for all axes.
 * - `vegas+`: samples follow the variances of cubes (G. P. Lepage, "Adaptive multidimensional integration: VEGAS enhanced").
 */
import type { VegasOptions } from './options.ts';

export type VegasMethod = 'plain' | 'mcubes' | 'mcubes1d' | 'vegas+';

export interface Knobs extends Required<Pick<VegasOptions, 'bins' | 'alpha' | 'beta' | 'maxStrata'>> {
  /** Takes fewer bins for fewer samples, since a bin with few samples learns noise; `bins` is the upper limit. */
  growBins: boolean;
  /** One map for all axes. */
  shared: boolean;
  /** Samples per cube on average: 4 for VEGAS+, which moves half of them to other cubes; 2 for m-Cubes. */
  perCube: number;
  /** Lattices may measure in the place of samples (lattice/vegas-or-lattice.ts). */
  orLattice?: true;
}

/** Cubes at most where each has a variance and a number of samples, which take memory. */
const MAX_KEPT_STRATA = 2 ** 20;

export const KNOBS: Record<VegasMethod, Omit<Knobs, 'growBins'>> = {
  plain: { bins: 1, alpha: 0, beta: 0, shared: false, perCube: Infinity, maxStrata: 1 },
  mcubes: { bins: 512, alpha: 0.5, beta: 0, shared: false, perCube: 2, maxStrata: 2 ** 52 },
  mcubes1d: { bins: 512, alpha: 0.5, beta: 0, shared: true, perCube: 2, maxStrata: 2 ** 52 },
  'vegas+': { bins: 1024, alpha: 0.5, beta: 0.75, shared: false, perCube: 4, maxStrata: MAX_KEPT_STRATA },
};

/** The knobs of a method with the options that were given. */
export function knobsOf(method: VegasMethod, { bins, alpha, beta, maxStrata }: VegasOptions): Knobs {
  const preset = KNOBS[method];
  return {
    ...preset,
    growBins: method !== 'plain' && bins === undefined,
    bins: bins ?? preset.bins,
    alpha: alpha ?? preset.alpha,
    beta: beta ?? preset.beta,
    maxStrata: maxStrata ?? (beta ? Math.min(preset.maxStrata, MAX_KEPT_STRATA) : preset.maxStrata),
  };
}
