/** The options that say where to integrate: `domain` or `dims`, and `breaks` and `points` in it; checked, and made a domain. */
import { boxOf, type Domain, type DomainPart, MAX_DIMS, type Range } from './integrand/domain.ts';
import { OnDemand } from './integrand/on-demand.ts';
import type { Params } from './integrand/params.ts';
import type { DomainShape } from './integrand/shapes.ts';

/** Where to integrate: a part per coordinate, or a shape that has all of them. */
export type DomainOption = readonly DomainPart[] | DomainShape;

/** The options that a domain is made of. */
export interface DomainOptions {
  domain?: unknown;
  dims?: number | undefined;
  breaks?: unknown;
  points?: unknown;
  /** The method: one whose regions start around points needs no stretched axes. */
  method?: string | undefined;
}

/** Domains that are no boxes. */
export const generalDomains = new OnDemand(() => import('./general-domain.ts'));

/** The domain. Where it is no box, or something is wrong with it, code that is loaded on demand makes it, or says what is wrong. */
export function domainOf(options: DomainOptions, params: Params): Domain {
  const ranges = plainRanges(options);
  return ranges ? boxOf(ranges) : generalDomains.now.generalDomainOf(options, params);
}

function plainRanges({ domain, dims, breaks, points }: DomainOptions): Range[] | undefined {
  if (breaks !== undefined || points !== undefined) return undefined;
  if (domain === undefined) return dims === undefined ? undefined : Array(dims).fill([0, 1]);
  if (dims !== undefined || !Array.isArray(domain)) return undefined;
  if (domain.length === 0 || domain.length > MAX_DIMS) return undefined;
  const ranges = Array.from(domain as unknown[], plainRange);
  return ranges.includes(undefined) ? undefined : (ranges as Range[]);
}

function plainRange(part: unknown): Range | undefined {
  if (!Array.isArray(part) || part.length !== 2) return undefined;
  const [a, b] = part as unknown[];
  return typeof a === 'number' && typeof b === 'number' && Number.isFinite(b - a) ? [a, b] : undefined;
}
