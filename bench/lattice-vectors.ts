/**
 * Finds the generating vector of the lattices (src/random/lattice-vector.ts), and prints how good it is beside others.
 *
 *     node scripts/run.mjs bench/lattice-vectors.ts --find [DIMS]   finds the vector and prints it; minutes, and 1 GB
 *     node scripts/run.mjs bench/lattice-vectors.ts                 worst-case errors of the vector in use, of a published one, of random ones
 *
 * The squared worst-case error of the points {k·z/n}, k < n, in the Korobov space with product weights γ_j is
 *
 *     e²(n, z) = −1 + 1/n Σ_k Π_j (1 + γ_j·ω({k·z_j/n})),     ω(x) = 2π²·(x² − x + 1/6)
 *
 * which for points with a random shift is, up to constants, the mean over shifts for integrands with square-integrable mixed first
 * derivatives (Dick, Kuo, Sloan, "High-dimensional integration: the quasi-Monte Carlo way", Acta Numerica 2013, section 5). The vector is
 * built component by component; for n = 2^m the sum over the odd k is a cyclic correlation over the powers of 5 modulo 2^m, so
 * all candidates of a component take one FFT (Nuyens, Cools, "Fast algorithms for component-by-component construction of
 * rank-1 lattice rules", 2006). The sums over odd k of all levels 2^j ≤ n add up to the error at every level, so that the same
 * FFTs tell how good a candidate is for n = 2^FIRST to 2^LAST; the component is the one whose worst ratio to the best candidate of a
 * level is smallest (Cools, Kuo, Nuyens, "Constructing embedded lattice rules for multivariate integration", 2006).
 *
 * γ_j = 1/10 for all j: behind VEGAS' map no axis is less important than the others, and what is left of an integrand there depends mostly
 * on one or two coordinates at a time. So all pairs of axes have to be good ones, and triples count less. A vector for γ_j = 1/j had bad
 * pairs among its later axes: on f4 in 8 dimensions it was as good as a random vector, and this one has 0.4 times its error at 2^16 points.
 */
import { VECTOR } from '../src/random/lattice-vector.ts';

const [FIRST, LAST] = [10, 24];
const WEIGHT = 0.1;
const omega = (x: number): number => 2 * Math.PI ** 2 * (x * x - x + 1 / 6);

/** A complex FFT in place, of a length that is a power of two. */
class Fft {
  readonly #n: number;
  readonly #cos: Float64Array;
  readonly #sin: Float64Array;

  constructor(n: number) {
    this.#n = n;
    const half = Math.max(1, n / 2);
    this.#cos = Float64Array.from({ length: half }, (_, i) => Math.cos((2 * Math.PI * i) / n));
    this.#sin = Float64Array.from({ length: half }, (_, i) => -Math.sin((2 * Math.PI * i) / n));
  }

  /** Decimation in frequency: the result is in bit-reversed order, which products of two results do not mind. */
  forward(re: Float64Array, im: Float64Array): void {
    const [n, cos, sin] = [this.#n, this.#cos, this.#sin];
    for (let size = n; size >= 2; size /= 2) {
      const [half, step] = [size / 2, n / size];
      for (let start = 0; start < n; start += size)
        for (let i = start, t = 0; i < start + half; i++, t += step) {
          const [a, b, c, d] = [re[i], im[i], re[i + half], im[i + half]];
          re[i] = a + c;
          im[i] = b + d;
          const [x, y] = [a - c, b - d];
          re[i + half] = x * cos[t] - y * sin[t];
          im[i + half] = x * sin[t] + y * cos[t];
        }
    }
  }

  /** The inverse of `forward`, times n: takes bit-reversed order. */
  inverse(re: Float64Array, im: Float64Array): void {
    const [n, cos, sin] = [this.#n, this.#cos, this.#sin];
    for (let size = 2; size <= n; size *= 2) {
      const [half, step] = [size / 2, n / size];
      for (let start = 0; start < n; start += size)
        for (let i = start, t = 0; i < start + half; i++, t += step) {
          const [x, y] = [re[i + half], im[i + half]];
          const c = x * cos[t] + y * sin[t];
          const d = y * cos[t] - x * sin[t];
          re[i + half] = re[i] - c;
          im[i + half] = im[i] - d;
          re[i] += c;
          im[i] += d;
        }
    }
  }
}

/** The odd k modulo 2^level, up to their sign: the powers of 5 in their order. */
interface Level {
  level: number;
  fft: Fft;
  /** FFT of ω(5^a/2^level), and Π (1 + γ ω) of the components so far at k = 5^a. */
  re: Float64Array;
  im: Float64Array;
  products: Float64Array;
}

function levelFor(level: number): Level {
  const n = 2 ** Math.max(0, level - 2);
  const re = new Float64Array(n);
  for (let a = 0, k = 1; a < n; a++, k = Math.imul(5, k) & (2 ** level - 1)) re[a] = omega(k / 2 ** level);
  const im = new Float64Array(n);
  const fft = new Fft(n);
  fft.forward(re, im);
  return { level, fft, re, im, products: new Float64Array(n).fill(1) };
}

/** For every candidate z = 5^b: Σ over odd k modulo 2^level of ω(k·z/2^level)·Π(k). */
function sumsOf({ level, fft, re, im, products }: Level): Float64Array {
  const n = products.length;
  // Σ_a ω(5^(a+b))·P(5^a): the spectrum of ω times the conjugate of that of P
  const [x, y] = [products.slice(), new Float64Array(n)];
  fft.forward(x, y);
  for (let i = 0; i < n; i++) {
    const [a, b, c, d] = [re[i], im[i], x[i], -y[i]];
    x[i] = a * c - b * d;
    y[i] = a * d + b * c;
  }
  fft.inverse(x, y);
  const twice = (level >= 2 ? 2 : 1) / n; // k and −k; level 0 and 1 have one odd k
  for (let i = 0; i < n; i++) x[i] *= twice;
  return x;
}

function find(dims: number): number[] {
  const levels = Array.from({ length: LAST + 1 }, (_, level) => levelFor(level));
  const vector: number[] = [];
  const candidates = 2 ** (LAST - 2);
  for (let j = 0; j < dims; j++) {
    let best = 0;
    const sums = levels.map(sumsOf);
    // ∑ of products at all levels up to m: the constant part of the error at 2^m
    const constants = levels.map(({ level, products }) => {
      let own = 0;
      for (let i = 0; i < products.length; i++) own += products[i];
      return own * (level >= 2 ? 2 : 1);
    });
    if (j > 0) {
      // the sums up to each level, by candidates of that level: b modulo 2^(level − 2)
      let below = sums[0];
      let constant = constants[0];
      const errors: Float64Array[] = [];
      for (let m = 1; m <= LAST; m++) {
        const own = sums[m];
        const mask = below.length - 1;
        const total = new Float64Array(own.length);
        for (let b = 0; b < own.length; b++) total[b] = own[b] + below[b & mask];
        constant += constants[m];
        below = total;
        if (m >= FIRST) errors.push(total.map(s => (constant + WEIGHT * s) / 2 ** m - 1));
      }
      const least = errors.map(e => e.reduce((a, b) => Math.min(a, b), Infinity));
      let smallest = Infinity;
      for (let b = 0; b < candidates; b++) {
        let worst = 0;
        for (let m = 0; m < errors.length && worst < smallest; m++)
          worst = Math.max(worst, errors[m][b & (errors[m].length - 1)] / least[m]);
        if (worst < smallest) [smallest, best] = [worst, b];
      }
      console.error(`component ${j + 1}: worst ratio of e² to the best of a level ${smallest.toFixed(3)}`);
    }
    let z = 1;
    for (let b = 0; b < best; b++) z = Math.imul(5, z) & (2 ** LAST - 1);
    vector.push(z);
    for (const { level, products } of levels) {
      const mask = 2 ** level - 1;
      for (let a = 0, k = z & mask; a < products.length; a++, k = Math.imul(5, k) & mask)
        products[a] *= 1 + WEIGHT * omega(k / 2 ** level);
    }
    if (j % 4 === 3) console.error(`so far: ${vector.join(', ')}`);
  }
  return vector;
}

/** The worst-case error of n points. */
function errorOf(z: readonly number[], dims: number, n: number): number {
  let sum = 0;
  for (let k = 0; k < n; k++) {
    let product = 1;
    for (let j = 0; j < dims; j++) product *= 1 + WEIGHT * omega(((k * (z[j] % n)) % n) / n);
    sum += product - 1;
  }
  return Math.sqrt(sum / n);
}

/** The first ten components of lattice-32001-1024-1048576.3600, by F. Y. Kuo, https://web.maths.unsw.edu.au/~fkuo/lattice/. */
const PUBLISHED = [1, 182667, 469891, 498753, 110745, 446247, 250185, 118627, 245333, 283199];

function table(): void {
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  console.log(
    'worst-case errors, γ_j = 1/10: the vector in use; lattice-32001-1024-1048576.3600 (Kuo); median of 11 random ones',
  );
  for (const dims of [2, 4, 6, 8, 10])
    for (const m of [10, 12, 14, 16, 18, 20]) {
      const n = 2 ** m;
      const drawn = Array.from({ length: 11 }, () =>
        errorOf(
          [1, ...Array.from({ length: dims - 1 }, () => 2 * Math.floor((random() * n) / 2) + 1)],
          dims,
          n,
        ),
      ).sort((a, b) => a - b);
      const numbers = [errorOf(VECTOR, dims, n), errorOf(PUBLISHED, dims, n), drawn[5]];
      console.log(
        `${dims} dimensions`.padEnd(15),
        `2^${m}`.padEnd(6),
        ...numbers.map(e => e.toExponential(2).padEnd(10)),
      );
    }
}

const at = process.argv.indexOf('--find');
if (at > 0) console.log(find(Number(process.argv[at + 1] ?? 40)).join(', '));
else table();
