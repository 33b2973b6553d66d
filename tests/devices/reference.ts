/**
 * What the sums of an iteration have to be, in plain JavaScript, one sample after another: the contract of
 * src/tasks/sample.ts and the formulas of design.md, with nothing of a kernel in it.
 *
 * A cube with many samples is summed in pieces: its mean is that of all samples, its variance the
 * average of the pieces' variances (n − 1 each) by their share of the samples.
 */
import { wordsOf } from '../../src/random/philox.ts';
import type { LatticePoints, SampleSums, SampleTask } from '../../src/tasks/sample.ts';

/** `each` is told the weight of every sample. */
export function reference(
  task: SampleTask,
  f: (x: number[]) => number,
  each?: (w: number) => void,
): SampleSums {
  const { strata, counts, bins, unit, adapt } = task;
  const dims = strata.length;
  const cubes = task.lattice ? task.lattice.shifts.length / dims : strata.reduce((a, b) => a * b, 1);
  const countOf = (cube: number) =>
    typeof counts === 'number' ? counts : (counts.each as Uint32Array)[cube];
  let evaluations = 0;
  for (let cube = 0; cube < cubes; cube++) evaluations += countOf(cube);
  const sums: SampleSums = {
    evaluations,
    sum: 0,
    variance: 0,
    concentration: 0,
    histogram: adapt && new Float64Array(dims * bins),
    squares: 0,
    variances: adapt?.variances || task.cubes ? new Float64Array(cubes) : null,
    means: task.cubes ? new Float64Array(cubes) : null,
    nonFinite: null,
  };
  let sample = 0;
  for (let cube = 0; cube < cubes; cube++) {
    const n = countOf(cube);
    let mean = 0;
    let variance = 0;
    for (const m of pieces(n)) {
      const values: number[] = [];
      const counted = isCounted(task, typeof counts === 'number' ? evaluations : counts.evaluations, sample);
      for (let i = 0; i < m; i++) {
        const drawn = draw(task, cube, sample++);
        const y = f(drawn.x);
        let w = (y * drawn.jacobian) / unit;
        if (!Number.isFinite(w)) {
          const first = sums.nonFinite?.first ?? { point: drawn.x, value: y };
          sums.nonFinite = { count: (sums.nonFinite?.count ?? 0) + 1, first };
          w = 0;
        }
        values.push(w);
        each?.(w);
        if (!adapt) continue;
        const increment = Math.round(w * w * adapt.scale * (evaluations / cubes / n));
        sums.squares += increment;
        if (!counted) continue;
        drawn.bins.forEach((b, d) => {
          sums.histogram![d * bins + b] += increment;
        });
      }
      const own = values.reduce((a, b) => a + b, 0) / m;
      const spread = values.reduce((s, v) => s + (v - own) ** 2, 0) / (m - 1);
      mean += (own * m) / n;
      variance += (spread * m) / n;
      sums.concentration += ((spread * m) / n ** 2) ** 2;
    }
    sums.sum += mean;
    sums.variance += variance / n;
    if (sums.variances) sums.variances[cube] = variance;
    if (sums.means) sums.means[cube] = mean;
  }
  return sums;
}

/** Whether the histogram counts a piece: by the golden ratio times the number of its block, in whole numbers of any size. */
function isCounted({ adapt, iteration }: SampleTask, samples: number, sample: number): boolean {
  let size = 8192n;
  while (size * 2n ** 14n <= samples) size *= 2n;
  const block = (BigInt(sample) % 2n ** 32n) / size;
  return (block * 0x9e3779b9n + BigInt(iteration) * 0x6a09e667n) % 2n ** 32n <= (adapt?.limit ?? Infinity);
}

/** Point, bins and Jacobian of one sample. */
function draw(task: SampleTask, cube: number, sample: number) {
  if (task.lattice) return drawLattice(task, task.lattice, cube, sample);
  const { strata, bins, edges, key, iteration, stream } = task;
  const x: number[] = [];
  const found: number[] = [];
  let jacobian = 1;
  strata.forEach((n, d) => {
    const k = cube % n;
    cube = Math.floor(cube / n);
    const u = (wordsOf(sample, d >> 2, iteration, stream, key)[d & 3] + 0.5) * 2 ** -32;
    const t = (k + u) * (bins / n);
    const b = Math.floor(t);
    const [low, high] = (edges as Float64Array).subarray(d * (bins + 1) + b);
    x.push(low + (t - b) * (high - low));
    found.push(b);
    jacobian *= bins * (high - low);
  });
  return { x, bins: found, jacobian };
}

/** The same for a lattice: the words in whole numbers of any size, the cubic by the polynomials of Hermite. */
function drawLattice({ bins, edges }: SampleTask, lattice: LatticePoints, shift: number, sample: number) {
  const { steps, shifts, slopes, folded } = lattice;
  const x: number[] = [];
  const found: number[] = [];
  let jacobian = 1;
  steps.forEach((step, d) => {
    const sum = BigInt(shifts[shift * steps.length + d]) + BigInt(sample) * BigInt(step);
    const word = Number(sum % 2n ** 32n);
    const twice = folded && word >= 2 ** 31 ? 2 ** 33 - 1 - 2 * word : 2 * word;
    const t = ((folded ? twice : word) + 0.5) * 2 ** -32 * bins;
    const b = Math.floor(t);
    const s = t - b;
    const [low, high] = (edges as Float64Array).subarray(d * (bins + 1) + b);
    const [m, M] = slopes.subarray(d * (bins + 1) + b);
    const rise = s * s * (3 - 2 * s);
    x.push(low * (1 - rise) + high * rise + m * s * (1 - s) ** 2 - M * s * s * (1 - s));
    found.push(b);
    jacobian *= bins * (6 * s * (1 - s) * (high - low) + m * (1 - s) * (1 - 3 * s) + M * s * (3 * s - 2));
  });
  return { x, bins: found, jacobian };
}

/** The samples of a cube in pieces of 256; a single one left over takes two from the piece before. */
function pieces(n: number): number[] {
  const parts: number[] = [];
  for (let left = n; left > 0; ) {
    const m = left <= 256 ? left : left === 257 ? 254 : 256;
    parts.push(m);
    left -= m;
  }
  return parts;
}
