/** Errors of several results that are raised; a file of its own, since pages load `auto` without samples. */
import { blocksIn, packedIndex } from '../tasks/correlation.ts';
import type { SeveralEstimates } from './method.ts';

/**
 * Estimates with larger errors, for what samples do not show. That is not known to be correlated: covariances stay what samples
 * said, and correlations fall by the factors by which errors grew. Left as they were, they would let what is hidden cancel in a
 * ratio of two results.
 */
export function withErrors(estimates: SeveralEstimates, errors: readonly number[]): SeveralEstimates {
  const parts = errors.map((error, r) => (error > estimates.errors[r] ? estimates.errors[r] / error : 1));
  const blocks = blocksIn(estimates.correlations ?? [], errors.length);
  const correlations = estimates.correlations?.map((own, b) => {
    const block = blocks[b];
    const fallen = [...own];
    if (own.length > 0)
      block.forEach((r, i) => {
        for (let j = 0; j < i; j++) fallen[packedIndex(i, j)] *= parts[r] * parts[block[j]];
      });
    return fallen;
  });
  return { ...estimates, errors, ...(correlations && { correlations }) };
}
