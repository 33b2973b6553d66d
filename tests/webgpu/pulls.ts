/** What the test of pulls runs: integrands with their integrals over the unit cube in closed form, methods with their tolerances. */
interface Known {
  f: (x: number[]) => number;
  dims: number;
  truth: number;
}

export const INTEGRANDS: Record<string, Known> = {
  'a peak': {
    f: ([x, y]) => 1 / ((0.04 + (x - 0.4) * (x - 0.4)) * (0.04 + (y - 0.4) * (y - 0.4))),
    dims: 2,
    truth: (5 * (Math.atan(3) + Math.atan(2))) ** 2,
  },
  'a wave': {
    f: ([x, y, z]) => 1 + Math.cos(5 * x + 3 * y + 4 * z),
    dims: 3,
    // Re Π (e^{ia} − 1)/(ia): Π sin(a/2)/(a/2) · cos(Σ a/2)
    truth: 1 + (Math.sin(2.5) / 2.5) * (Math.sin(1.5) / 1.5) * (Math.sin(2) / 2) * Math.cos(6),
  },
  'a step': {
    f: ([x, y]) => (x + y * y < 0.9 ? 2 + x : 0.5),
    dims: 2,
    // ∫ 0.5 + (1.5 + x)·[x < 0.9 − y²]: over y to √0.9, 1.5·t + t²/2 with t = 0.9 − y²
    truth: 0.5 + 1.5 * ((2 / 3) * 0.9 ** 1.5) + (8 / 15) * 0.9 ** 2.5 * 0.5,
  },
  'a bump in 5': {
    f: ([a, b, c, d, e]) => a * (1 - a) * b * (1 - b) * c * (1 - c) * d * (1 - d) * (1 + e),
    dims: 5,
    truth: 1.5 / 6 ** 4,
  },
};

export const METHODS = { 'vegas+': 1e-2, plain: 1e-2 } as const;

export const SEEDS = 50;
