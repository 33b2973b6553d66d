import type { CommonOptions } from '../../src/problem.ts';

/** Options for twenty iterations with so many evaluations in all, or for a tolerance if the amount is below 1. */
export function askedFor(amount: number): CommonOptions {
  if (amount < 1) return { relTol: amount, maxEvaluations: 1e13, maxTime: 3000 };
  return {
    relTol: 0,
    maxEvaluations: 2 * amount,
    vegas: { evaluations: amount / 20, iterations: 20, adapt: 10 },
  };
}
