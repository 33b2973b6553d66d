/** What several kinds are made of: draws, quadratures, and integrals along planes. */
import type { Range } from '../../../../src/integrand/domain.ts';
import { kit } from '../../../../src/integrand/math/index.ts';
import { type Draw, LEAST_FRACTION } from '../../draw.ts';

export const everywhere: Range = [-Infinity, Infinity];
export const ranges = (dims: number, range: Range): Range[] => Array.from({ length: dims }, () => range);
export const product = (v: ArrayLike<number>): number => Array.from(v).reduce((t, x) => t * x, 1);
export const sum = (v: ArrayLike<number>): number => Array.from(v).reduce((t, x) => t + x, 0);
export const gamma = (a: number): number => Math.exp(kit.lgamma(a));
/** Φ(x), accurate in its lower tail. */
export const normal = (x: number): number => kit.erfc(-x / Math.SQRT2) / 2;
/** The volume of the unit ball: V₀ = 1, V₁ = 2, V_d = 2π/d·V_(d−2). */
export const unitBall = (dims: number): number =>
  dims < 2 ? dims + 1 : ((2 * Math.PI) / dims) * unitBall(dims - 2);

/** ∫ exp(−((x − at)/width)²) over [0, 1]. */
export const bell = (at: number, width: number): number =>
  ((Math.sqrt(Math.PI) * width) / 2) * (kit.erf((1 - at) / width) + kit.erf(at / width));

/** The first of what is drawn that is allowed. A condition that few draws meet makes an endless loop, so that it is seen. */
export function until<T>(one: () => T, isAllowed: (t: T) => boolean): T {
  for (;;) {
    const drawn = one();
    if (isAllowed(drawn)) return drawn;
  }
}

/** Nodes and weights of Gauss and Legendre on [−1, 1], by Newton's iteration. */
function gauss(n: number): { x: number; w: number }[] {
  return Array.from({ length: n }, (_, i) => {
    let x = Math.cos((Math.PI * (i + 0.75)) / (n + 0.5));
    let slope = 0;
    for (let step = 0; step < 20; step++) {
      let [before, now] = [1, x];
      for (let k = 2; k <= n; k++) [before, now] = [now, ((2 * k - 1) * x * now - (k - 1) * before) / k];
      slope = (n * (x * now - before)) / (x * x - 1);
      x -= now / slope;
    }
    return { x, w: 2 / ((1 - x * x) * slope * slope) };
  });
}

const NODES = gauss(24);

/** ∫ g from the first to the last of some places, none of which is inside of a panel of the quadrature. */
export function quadrature(g: (x: number) => number, places: readonly number[]): number {
  const sorted = [...new Set(places)].sort((a, b) => a - b);
  let total = 0;
  for (let i = 1; i < sorted.length; i++) {
    const [middle, half] = [(sorted[i] + sorted[i - 1]) / 2, (sorted[i] - sorted[i - 1]) / 2];
    for (const { x, w } of NODES) total += w * half * g(middle + half * x);
  }
  return total;
}

/** c, and places at distances w/2, w, 2w, … from it, as far as they are between two limits. */
export function around(c: number, w: number, [low, high]: readonly [number, number]): number[] {
  const places = [low, high, c];
  for (let r = w / 2; r < high - low; r *= 2) places.push(c - r, c + r);
  return places.filter(x => x >= low && x <= high);
}

/** The corners of the unit cube: n·v for each of them, and (−1)^(number of zeros in v). */
function corners(n: ArrayLike<number>): { at: number; sign: number }[] {
  return Array.from({ length: 2 ** n.length }, (_, bits) => {
    let [at, sign] = [0, 1];
    for (let i = 0; i < n.length; i++) {
      if ((bits >> i) & 1) at += n[i];
      else sign = -sign;
    }
    return { at, sign };
  });
}

/** ∫ g(n·x − c) over the unit cube, from the antiderivative of g of as high an order as there are axes. */
export const alongPlane = (n: ArrayLike<number>, c: number, antiderivative: (t: number) => number): number =>
  corners(n).reduce((t, { at, sign }) => t + sign * antiderivative(at - c), 0) / product(n);

/** ∫ g(n·x) over the unit cube, for a g that has its structure within a few w of c. */
export function alongRidge(n: ArrayLike<number>, c: number, w: number, g: (s: number) => number): number {
  const all = corners(n);
  const density = (s: number) => alongPlane(n, s, t => (t > 0 ? t ** (n.length - 1) : 0));
  const knots = all.map(({ at }) => at);
  const limits = [Math.min(...knots), Math.max(...knots)] as const;
  return quadrature(s => g(s) * density(s), [...knots, ...around(c, w, limits)]) / gamma(n.length);
}

/** An oblique direction with no small component. */
export const oblique = (draw: Draw, dims: number): Float64Array =>
  draw.chance(0.2)
    ? draw.perAxis(dims, axis => (axis % 2 === 0 ? 1 : -1))
    : draw.perAxis(dims, () => (draw.chance(0.5) ? 1 : -1) * draw.between(0.3, 1));

/** A value of n·x inside the unit cube. */
export const level = (draw: Draw, n: ArrayLike<number>): number => sum(Array.from(n, v => v * draw.edge()));

/** A rotation as the rows of a matrix, one after the other. */
export function rotation(draw: Draw, dims: number): Float64Array {
  const r = Float64Array.from({ length: dims * dims }, (_, i) => Number(i % (dims + 1) === 0));
  for (let i = 0; i < dims; i++) {
    for (let j = 0; j < i; j++) {
      const angle = draw.between(0, 2 * Math.PI);
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      for (let k = 0; k < dims; k++) {
        const [a, b] = [r[i * dims + k], r[j * dims + k]];
        r[i * dims + k] = c * a - s * b;
        r[j * dims + k] = s * a + c * b;
      }
    }
  }
  return r;
}

/** How far an ellipsoid with given half-axes reaches along each coordinate. */
export const extents = (r: Float64Array, axes: Float64Array): Float64Array =>
  axes.map((_, i) => Math.hypot(...axes.map((s, k) => s * r[k * axes.length + i])));

/** Numbers with product 1 and a ratio of at most `most` between any two of them. */
export function aspects(draw: Draw, dims: number, most: number): Float64Array {
  const logs = draw.perAxis(dims, () => draw.between(0, Math.log(most)));
  const mean = sum(logs) / dims;
  return logs.map(v => Math.exp(v - mean));
}

/** Centres in R^d and widths w of features exp(−((x − at)/w)²) that fill a fraction of what the map x/(1 + |x|) makes of it. */
export function farAndWide(
  draw: Draw,
  dims: number,
): { at: Float64Array; width: Float64Array; fraction: number } {
  const fraction = draw.fraction();
  const part = fraction ** (1 / dims);
  const at = draw.perAxis(dims, () => (draw.chance(0.5) ? 1 : -1) * (draw.size(1, draw.tame ? 2 : 30) - 1));
  const width = at.map(v => (2 * part * (1 + Math.abs(v)) ** 2) / Math.sqrt(Math.PI));
  return { at, width, fraction };
}

/** Limits on all axes. */
export function boxOf(draw: Draw, dims: number, fraction: number): { from: Float64Array; to: Float64Array } {
  const widths = draw.factors(dims, fraction);
  const from = draw.perAxis(dims, axis => draw.interval(widths[axis])[0]);
  return { from, to: from.map((a, i) => a + widths[i]) };
}

export const volume = (from: Float64Array, to: Float64Array): number =>
  from.reduce((v, a, i) => v * (to[i] - a), 1);

/** A peak in the unit cube; wider where too much of it would be outside. */
export function peakOf(draw: Draw, dims: number): { at: Float64Array; width: number; fraction: number } {
  const at = draw.perAxis(dims, () => draw.edge());
  let width = draw.fraction() ** (1 / dims) / Math.sqrt(Math.PI);
  const filled = () => product(at.map(c => bell(c, width)));
  while (filled() < LEAST_FRACTION) width *= 1.1;
  return { at, width, fraction: filled() };
}
