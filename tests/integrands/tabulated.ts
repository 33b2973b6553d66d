/**
 * An integrand with tables and arrays in its params: six dimensions, interpolated functions of one and two
 * variables, a histogram. It has the shape of the cosmological application of m-Cubes (section 6.1), which the
 * paper describes but does not define.
 *
 * A linear interpolant is integrated exactly by the trapezoidal rule on its own knots: hence the truth.
 */
import { table } from '../../src/integrand/tables.ts';
import { type Entry, entry, type Range } from './entry.ts';

const range = (n: number, at: (i: number) => number) => Float64Array.from({ length: n }, (_, i) => at(i));

// the knots: uneven, even, even and short of the domain at both ends, even and very short of it
const z = range(40, i => 0.1 * 30 ** (i / 39));
const mass = range(21, i => 13 + i / 10);
const radius = range(16, i => 0.25 + i / 20);
const angle = range(11, i => -0.5 + i / 10);

const spectrum = z.map(zi => zi ** 2 * Math.exp(-zi));
const response = Array.from(mass, m => Array.from(radius, r => (1 + r * r) / (1 + (m - 14) ** 2 + r)));
const beam = angle.map(t => 1 + Math.cos(5 * t));
const weights = range(6, k => 1 / (k + 1));
const rates = range(6, k => 0.5 + k * k);
const counts = Int32Array.from([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]);

const domain: Range[] = [
  [0.1, 3],
  [13, 15],
  [0, 1.25],
  [-1, 1],
  [0, 2],
  [0, 1],
];

/** The weight of each knot in the integral over [from, to]; beyond the last knots the edge values hold. */
function trapezoid(knots: Float64Array, from = knots[0], to = knots[knots.length - 1]): Float64Array {
  const last = knots.length - 1;
  return knots.map((k, i) => {
    const left = i === 0 ? 2 * from - k : knots[i - 1];
    const right = i === last ? 2 * to - k : knots[i + 1];
    return (right - left) / 2;
  });
}

const dot = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a).reduce((s, ai, i) => s + ai * b[i], 0);

const truth =
  dot(spectrum, trapezoid(z)) *
  dot(
    response.map(row => dot(row, trapezoid(radius, ...domain[2]))),
    trapezoid(mass),
  ) *
  dot(beam, trapezoid(angle)) *
  dot(
    weights,
    rates.map(r => (1 - Math.exp(-2 * r)) / r),
  ) *
  (dot(
    counts,
    counts.map(() => 1),
  ) /
    counts.length);

export const tabulated: Entry = entry({
  name: 'tabulated_6',
  paper: 'made here: after the application of m-Cubes, section 6.1',
  dims: 6,
  domain,
  params: {
    spectrum: table([z], spectrum),
    response: table([mass, radius], response),
    beam: table([angle], beam, { outside: 'zero' }),
    weights,
    rates,
    counts,
  },
  f: ([z, m, r, angle, t, u], p) => {
    let decay = 0;
    for (let k = 0; k < p.weights.length; k++) decay += p.weights[k] * Math.exp(-p.rates[k] * t);
    const bin = Math.floor(u * p.counts.length);
    return p.spectrum(z) * p.response(m, r) * p.beam(angle) * decay * p.counts[bin];
  },
  truth,
});
