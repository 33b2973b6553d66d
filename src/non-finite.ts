/**
 * The error of a run that met a value that is not finite. A function that runs as it is may return something that is no number at all,
 * which counts as NaN: it is then asked once more what that was.
 */
import type { BoundProgram } from './integrand/bound.ts';
import { badBounds, toDomain } from './integrand/domain.ts';
import { wordsOf } from './integrand/shape.ts';
import { IntegrationError } from './options/integration-error.ts';
import type { Problem } from './problem.ts';
import type { NonFinite } from './tasks/part.ts';

export async function nonFiniteError(
  first: NonFinite['first'],
  { domain }: Problem,
  integrand: BoundProgram,
  names?: readonly string[],
  caller?: string,
): Promise<Error> {
  const { point, value, result } = first;
  const bad = badBounds(domain.axes, point);
  if (bad) {
    const { name, bounds, before } = bad;
    return new IntegrationError(
      w =>
        `${w.quoted(name)} gives the bounds [${bounds.join(', ')}]${before.length > 0 ? ` at ${w.point(before)}` : ''}; mend it there, narrow the ranges before it, or count such points as 0 with ${w.setting('onNonFinite', 'zero')}.`,
      caller,
    );
  }
  const { x } = toDomain(domain.axes, point);
  const other = await noNumber(first, integrand);
  if (other)
    return new IntegrationError(
      w => `the integrand returns ${other[0]} at ${w.point(x)}; ${other[1]}.`,
      caller,
    );
  const shown = Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
  const what =
    names && result !== undefined ? `the result ${names[result]} of the integrand` : 'the integrand';
  return new IntegrationError(
    w =>
      `${what} is ${shown} at ${w.point(x)}; mend it there, exclude the point from the domain, or count such values as 0 with ${w.setting('onNonFinite', 'zero')}.`,
    caller,
  );
}

/** What a function returned at a point that is no number, and what to do about it; undefined where it was a number. */
async function noNumber(
  { point, value, result }: NonFinite['first'],
  integrand: BoundProgram,
): Promise<[what: string, remedy: string] | undefined> {
  if (integrand.kind !== 'plain' || integrand.call.long) return undefined;
  if (result !== undefined || !Number.isNaN(value)) return undefined;
  let returned: unknown;
  try {
    const { f, raw = f } = integrand.call;
    returned = await raw(point);
  } catch {
    return undefined;
  }
  if (typeof returned === 'number' || typeof returned === 'boolean') return undefined;
  if (returned === undefined) return ['nothing', 'is a `return` missing? Return a number on every path'];
  return [
    wordsOf(returned),
    'return a number, or on every path the same array or object of numbers, or array or object of these',
  ];
}
