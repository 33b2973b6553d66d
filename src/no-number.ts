/**
 * A function that runs as it is may return something that is no number at all, which counts as NaN. It is then asked once more what
 * that was.
 */
import type { BoundProgram } from './integrand/bound.ts';
import { toDomain } from './integrand/domain.ts';
import { wordsOf } from './integrand/shape.ts';
import { NonFiniteError } from './non-finite.ts';
import { IntegrationError } from './options/integration-error.ts';

/** The error in other words, if it is that of a function that returned no number; otherwise the error as it is. */
export async function explained(error: unknown, integrand: BoundProgram): Promise<unknown> {
  if (!(error instanceof NonFiniteError) || integrand.kind !== 'plain' || integrand.call.long) return error;
  const { first, problem, caller } = error;
  if (first.result !== undefined || !Number.isNaN(first.value)) return error;
  let value: unknown;
  try {
    const { f, raw = f } = integrand.call;
    value = await raw(first.point);
  } catch {
    return error;
  }
  if (typeof value === 'number' || typeof value === 'boolean') return error;
  const { x } = toDomain(problem.domain.axes, first.point);
  const [what, remedy] =
    value === undefined
      ? ['nothing', 'is a `return` missing? Return a number on every path']
      : [
          wordsOf(value),
          'return a number, or on every path the same array or object of numbers, or array or object of these',
        ];
  return new IntegrationError(w => `the integrand returns ${what} at ${w.point(x)}; ${remedy}.`, caller);
}
