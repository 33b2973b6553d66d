/**
 * Test points: the same on every machine and in every run, coordinate-major as compiled programs take them.
 */
import type { Entry } from './entry.ts';

/** Uniform numbers in (0, 1), never at its ends: Mulberry32, 32 bits each. */
export function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 2 ** 32;
  };
}

/** `count` points of the domain, every other one in the entry's focus if it has one. */
export function points({ domain, focus }: Entry, count: number, seed = 1): Float64Array {
  const next = uniform(seed);
  const all = new Float64Array(domain.length * count);
  for (let i = 0; i < count; i++) {
    domain.forEach((range, axis) => {
      const [from, to] = focus && i % 2 === 1 ? focus : range;
      const u = next();
      all[axis * count + i] = Number.isFinite(to - from)
        ? from + u * (to - from)
        : Math.tan(Math.PI * (u - 0.5));
    });
  }
  return all;
}

/** Point i of a coordinate-major batch, into `x`. */
export function pick(all: Float64Array, count: number, i: number, x: number[]): number[] {
  for (let axis = 0; axis < x.length; axis++) x[axis] = all[axis * count + i];
  return x;
}
