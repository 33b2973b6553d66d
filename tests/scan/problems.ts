/** What scans are tried with, and how results are compared. */
import type { Integrand, IntegrateOptions, Params, Result } from '../../src/index.ts';

export const methods = [
  'auto',
  'plain',
  'mcubes',
  'mcubes1d',
  'vegas+',
  'zmc',
  'pagani',
  'cuhre',
  'two-phase',
] as const;

/** A ridge that params move and sharpen: some sets take workers, some do not. */
export const ridge: Integrand = ([x, y, z], p) =>
  p.scale * Math.exp(-p.width * (x + y - p.at) ** 2) * (1 + (p.bent ? z * z : z));

export const sets: Params[] = Array.from({ length: 12 }, (_, i) => ({
  scale: 1 + i / 7,
  width: [1, 10, 80][i % 3],
  at: 0.3 + i / 10,
  bent: i % 2 === 0,
}));

export const options = { dims: 3, relTol: 2e-3, maxEvaluations: 3e5, seed: 21 } satisfies IntegrateOptions;

/** Everything that a seed decides. */
export function bitsOf(r: Result): object {
  const { elapsed: _, device: __, ...same } = r;
  return same;
}
