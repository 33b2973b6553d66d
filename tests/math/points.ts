/**
 * Where the functions are measured: deterministic points, the same on every run.
 */

/** mulberry32: a generator of 32-bit words in four lines, good enough to scatter test points. */
export function scatter(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const random = scatter(20240229);
/** 53 random bits in [0, 1). */
const unit = () =>
  (Math.floor(random() * 134217728) * 67108864 + Math.floor(random() * 67108864)) / 9007199254740992;

export const uniform = (low: number, high: number, n: number) =>
  Array.from({ length: n }, () => low + (high - low) * unit());

/** Every binade between the two magnitudes equally often; with both signs when asked for. */
export const logUniform = (low: number, high: number, n: number, signed = false) =>
  Array.from({ length: n }, () => {
    const exponent = Math.log2(low) + (Math.log2(high) - Math.log2(low)) * unit();
    const half = exponent / 2;
    const x = 2 ** half * 2 ** (exponent - half) * (1 + unit() * 1e-3);
    return (signed && random() < 0.5 ? -1 : 1) * Math.min(Math.max(x, low), high);
  });

export const everyFloat = (n: number, signed = true) => logUniform(5e-324, Number.MAX_VALUE, n, signed);

/** The neighbours of a point: a few ulps, and every distance down to them. */
export const near = (centre: number, n: number, reach = 0.5) => {
  const size = Math.abs(centre) || 1;
  return Array.from({ length: n }, (_, i) => {
    const distance =
      i % 4 === 0 ? Math.round(16 * unit()) * 2 ** -52 * size : reach * 2 ** (-54 * unit()) * size;
    return centre + (random() < 0.5 ? -distance : distance);
  });
};

/** The float64 nearest to multiples of π/2 and their neighbours, for multiples up to the given one. */
export const nearQuarterTurns = (largest: number, n: number) =>
  logUniform(1, largest, n, true).map(k => {
    const x = Math.round(k) * (Math.PI / 2);
    return x * (1 + (Math.floor(random() * 5) - 2) * 2 ** -52);
  });

/** Pairs, from two lists of equal length. */
export const pairs = (xs: number[], ys: number[]) => xs.flatMap((x, i) => [x, ys[i]]);
