/**
 * Box integrals to ten digits: how far apart are two points of a cube, on average? (Bailey, Borwein and Crandall, Box
 * integrals, 2007; the last value, of the cube, is known as Robbins' constant.)
 *
 * See: a distance has a kink only where it is 0, in one corner. Deterministic methods refine there and have eleven
 * digits at once, within what they claim. The last line asks Monte Carlo for the same, over both points: six
 * dimensions instead of three, and its error falls with the root of the evaluations only. To be smooth and of few
 * dimensions is what makes an integral cheap: reduce it by hand as far as you can.
 */
import { type Integrand, integrate } from 'quadrille';

const { PI, sqrt, log } = Math;

async function row(what: string, truth: number, f: Integrand, dims: number, relTol: number) {
  const r = await integrate(f, { dims, relTol });
  const cells = [
    what.padEnd(38),
    `${r}`.split(' ')[0].padEnd(20),
    truth.toFixed(14).padEnd(17),
    (r.value - truth).toExponential(0).padEnd(7),
    r.method.padEnd(7),
    r.evaluations.toExponential(1),
  ];
  console.log(cells.join(' '));
}

/** From a corner to a point. */
const toCorner: Integrand = (x: number[]) => Math.sqrt(x.reduce((s, xi) => s + xi * xi, 0));
/** Between two points: along each axis they are t apart with probability 2(1 - t). */
const apart: Integrand = (t: number[]) =>
  Math.sqrt(t.reduce((s, ti) => s + ti * ti, 0)) * t.reduce((w, ti) => w * 2 * (1 - ti), 1);
const bothPoints: Integrand = ([a, b, c, x, y, z]) => Math.hypot(a - x, b - y, c - z);

const square = (sqrt(2) + log(1 + sqrt(2))) / 3;
const cube = sqrt(3) / 4 + log(2 + sqrt(3)) / 2 - PI / 24;
const squareApart = (2 + sqrt(2) + 5 * log(1 + sqrt(2))) / 15;
const robbins =
  (4 + 17 * sqrt(2) - 6 * sqrt(3) + 21 * log(1 + sqrt(2)) + 42 * log(2 + sqrt(3)) - 7 * PI) / 105;

console.log(
  'mean distance                          found                true value        off by  method  evaluations',
);
await row('a corner of the square and a point', square, toCorner, 2, 1e-11);
await row('a corner of the cube and a point', cube, toCorner, 3, 1e-11);
await row('two points of the square', squareApart, apart, 2, 1e-11);
await row('two points of the cube', robbins, apart, 3, 1e-11);
await row('two points of the cube, six dimensions', robbins, bothPoints, 6, 1e-4);
