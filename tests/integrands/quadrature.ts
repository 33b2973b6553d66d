/**
 * Integrals by independent, plain means: how the catalogue's functions are held against their truths. All
 * treat the function as a black box.
 */
import type { Range } from './entry.ts';
import { uniform } from './points.ts';

type F = (x: number[]) => number;
interface Node {
  x: number;
  w: number;
}

/** Gauss–Legendre with n nodes: the roots of the Legendre polynomial, by Newton's method. */
export function gauss(n: number, [from, to]: Range): Node[] {
  return Array.from({ length: n }, (_, i) => {
    let t = Math.cos((Math.PI * (i + 0.75)) / (n + 0.5));
    let slope = 0;
    for (let step = 0; step < 20; step++) {
      let [p, before] = [1, 0];
      for (let k = 1; k <= n; k++) [p, before] = [((2 * k - 1) * t * p - (k - 1) * before) / k, p];
      slope = (n * (t * p - before)) / (t * t - 1);
      t -= p / slope;
    }
    return { x: from + ((t + 1) / 2) * (to - from), w: (to - from) / ((1 - t * t) * slope * slope) };
  });
}

/** Gauss–Legendre on each of several pieces, for kinks and peaks. */
export const piecewise = (n: number, knots: number[]): Node[] =>
  knots.slice(1).flatMap((to, i) => gauss(n, [knots[i], to]));

/** The trapezoidal rule without its ends, exponentially accurate for what vanishes there. */
export const trapezoidal = (n: number, [from, to]: Range): Node[] =>
  Array.from({ length: n }, (_, i) => ({ x: from + ((i + 0.5) / n) * (to - from), w: (to - from) / n }));

/** Nodes crowded at 0 by x = t², for a corner peak in the unit cube. */
export const crowded = (n: number): Node[] =>
  gauss(n, [0, 1]).map(({ x, w }) => ({ x: x * x, w: 2 * x * w }));

/** The product of one rule an axis. */
export function product(f: F, rules: Node[][]): number {
  const x = rules.map(() => 0);
  const sum = (axis: number): number => {
    if (axis === rules.length) return f(x);
    let s = 0;
    for (const node of rules[axis]) {
      x[axis] = node.x;
      s += node.w * sum(axis + 1);
    }
    return s;
  };
  return sum(0);
}

/** The same rule on every axis of a symmetric function: one of each set of permuted points, counted as often. */
export function symmetric(f: F, dims: number, rule: Node[]): number {
  const x = new Array<number>(dims).fill(0);
  // `run` is how many of the last coordinates are equal: dims!/Π run! permutations, built up one factor at a time
  const sum = (axis: number, first: number, run: number, weight: number): number => {
    if (axis === dims) return weight * f(x);
    let s = 0;
    for (let k = first; k < rule.length; k++) {
      const length = axis > 0 && k === first ? run + 1 : 1;
      x[axis] = rule[k].x;
      s += sum(axis + 1, k, length, (weight * rule[k].w * (axis + 1)) / length);
    }
    return s;
  };
  return sum(0, 0, 0, 1);
}

/**
 * A product of functions of one variable, each integrated by its rule along a line through `at`. That f is such a
 * product is checked at points made of the rules' nodes; NaN when it is not.
 */
export function separable(f: F, at: number[], rules: Node[][]): number {
  const center = f(at);
  const along = (axis: number, xi: number) => f(at.map((a, i) => (i === axis ? xi : a))) / center;
  for (let trial = 0; trial < 20; trial++) {
    const x = rules.map((rule, axis) => rule[(trial * 7 + axis * 3) % rule.length].x);
    const expected = x.reduce((p, xi, axis) => p * along(axis, xi), center);
    if (!(Math.abs(f(x) - expected) <= 1e-10 * Math.abs(expected))) return Number.NaN;
  }
  return rules.reduce((p, rule, axis) => p * rule.reduce((s, { x, w }) => s + w * along(axis, x), 0), center);
}

/** Plain Monte Carlo: the estimate and its standard error. */
export function monteCarlo(f: F, domain: Range[], n: number): { value: number; error: number } {
  const next = uniform(7);
  const volume = domain.reduce((v, [from, to]) => v * (to - from), 1);
  let [sum, squares] = [0, 0];
  for (let i = 0; i < n; i++) {
    const y = f(domain.map(([from, to]) => from + next() * (to - from)));
    sum += y;
    squares += y * y;
  }
  const mean = sum / n;
  return { value: volume * mean, error: volume * Math.sqrt((squares / n - mean * mean) / (n - 1)) };
}
