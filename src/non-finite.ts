/** The error of a run that met a value that is not finite. */
import { badBounds, toDomain } from './integrand/domain.ts';
import { IntegrationError } from './options/integration-error.ts';
import type { Wording } from './options/wording.ts';
import type { Problem } from './problem.ts';
import type { NonFinite } from './tasks/part.ts';

export class NonFiniteError extends IntegrationError {
  readonly first: NonFinite['first'];
  readonly problem: Problem;
  readonly caller: string | undefined;

  constructor(
    text: (w: Wording) => string,
    first: NonFinite['first'],
    problem: Problem,
    caller: string | undefined,
  ) {
    super(text, caller);
    this.first = first;
    this.problem = problem;
    this.caller = caller;
  }
}

export function nonFiniteError(
  first: NonFinite['first'],
  problem: Problem,
  names?: readonly string[],
  caller?: string,
): Error {
  const { point, value, result } = first;
  const bad = badBounds(problem.domain.axes, point);
  if (bad) {
    const { name, bounds, before } = bad;
    return new IntegrationError(
      w =>
        `${w.quoted(name)} gives the bounds [${bounds.join(', ')}]${before.length > 0 ? ` at ${w.point(before)}` : ''}; mend it there, narrow the ranges before it, or count such points as 0 with ${w.setting('onNonFinite', 'zero')}.`,
      caller,
    );
  }
  const { x } = toDomain(problem.domain.axes, point);
  const shown = Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
  const what =
    names && result !== undefined ? `the result ${names[result]} of the integrand` : 'the integrand';
  const text = (w: Wording) =>
    `${what} is ${shown} at ${w.point(x)}; mend it there, exclude the point from the domain, or count such values as 0 with ${w.setting('onNonFinite', 'zero')}.`;
  return new NonFiniteError(text, first, problem, caller);
}
