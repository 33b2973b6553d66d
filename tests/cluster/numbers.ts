/** The members of a result that do not depend on who computed it, and when. */
import type { Result } from '../../src/index.ts';

export function numbers<S>({ value, error, evaluations, chi2, status, iterations }: Result<S>): object {
  return { value, error, evaluations, chi2, status, iterations };
}
