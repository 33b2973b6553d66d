/**
 * What lies under a feature: base·exp(Σ slope·x) on the unit cube, which is nothing (base 0), a constant (slopes 0) or smooth.
 * On nothing a method that misses the feature finds 0 and should be suspicious; on a background it finds a plausible value.
 */
import type { Draw } from './draw.ts';

export interface Background {
  base: number;
  slope: Float64Array;
}

export function background(draw: Draw, dims: number): Background {
  const base = draw.pick([0, 1, 1]);
  const flat = draw.chance(0.5);
  return { base, slope: draw.perAxis(dims, () => (flat ? 0 : draw.between(-2, 2))) };
}

/** ∫ exp(s·x) over [0, 1]. */
export const exponential = (s: number): number => (s === 0 ? 1 : Math.expm1(s) / s);

export const integralOf = ({ base, slope }: Background): number =>
  slope.reduce((product, s) => product * exponential(s), base);

/**
 * The height of a feature that fills `fraction` of the domain: what it adds is between a hundredth and ten times the
 * integral of the background. Negative heights make integrands with both signs.
 */
export function heightOn(under: Background, fraction: number, draw: Draw): number {
  const background = integralOf(under);
  if (background === 0) return draw.sign() * draw.size(0.1, 10);
  return (draw.sign() * draw.size(0.01, 10) * background) / fraction;
}
