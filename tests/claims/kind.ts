/** What the generator of integrands makes: a family of integrands is a `Kind`, one of them with its integral an `Example`. */
import type { Integrand } from '../../src/integrand/compile.ts';
import type { Range } from '../../src/integrand/domain.ts';
import type { Params } from '../../src/integrand/params.ts';
import type { Draw } from './draw.ts';

export interface Drawn {
  f: Integrand;
  params: Params;
  /** The integral, to 1e-12 relative to the integral of |f|. */
  truth: number;
  /** The part of the domain that the feature fills; absent where the integrand has no feature of that sort. */
  fraction?: number;
  /** One range per axis; the unit cube unless given. */
  domain?: readonly Range[];
}

export interface Kind {
  name: string;
  /** The dimensions in which it is drawn. */
  dims: readonly number[];
  /** Whether a symmetric draw is the same in every coordinate. */
  symmetric: boolean;
  draw(draw: Draw, dims: number): Drawn;
}

export interface Example extends Required<Drawn> {
  kind: string;
  dims: number;
}

export function exampleOf(kind: Kind, draw: Draw, dims: number): Example {
  const domain = Array.from({ length: dims }, (): Range => [0, 1]);
  return { kind: kind.name, dims, domain, fraction: 1, ...kind.draw(draw, dims) };
}

/** The whole numbers from 1, or `from`, to `to`. */
export const upTo = (to: number, from = 1): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);
