/** What is measured of many runs: pulls, and how well Q is spread. */

export interface Pulls {
  mean: number;
  deviation: number;
  worst: number;
}

/** Mean and standard deviation of (value − truth)/error: 0 and 1 when errors are true. */
export function pullsOf(runs: readonly { value: number; error: number }[], truth: number): Pulls {
  const pulls = runs.map(r => (r.value - truth) / r.error);
  const mean = pulls.reduce((a, b) => a + b, 0) / pulls.length;
  const deviation = Math.sqrt(pulls.reduce((s, p) => s + (p - mean) ** 2, 0) / (pulls.length - 1));
  return { mean, deviation, worst: Math.max(...pulls.map(Math.abs)) };
}

/** The Kolmogorov–Smirnov distance of a sample from the uniform distribution on [0, 1], times √n: above 1.95 in one sample of a thousand. */
export function kolmogorovSmirnov(sample: readonly number[]): number {
  const n = sample.length;
  const sorted = [...sample].sort((a, b) => a - b);
  const distance = sorted.reduce((d, q, i) => Math.max(d, Math.abs(q - i / n), Math.abs(q - (i + 1) / n)), 0);
  return distance * Math.sqrt(n);
}
