/**
 * An integrand at work: a plain function with a loop, params and a table, compiled to vector code and
 * averaged over a million points of the unit cube.
 *
 * What to see: the average comes close to the exact integral, and compiled points per second against
 * calling the function itself.
 */
import { compile, table } from 'quadrille';

const dims = 6;
const xs = Float64Array.from({ length: 101 }, (_, i) => i / 100);
const params = {
  a: 2,
  spectrum: table(
    [xs],
    xs.map(x => x * (1 - x)),
  ),
};

const f = (x: number[], p: typeof params) => {
  let s = 0;
  for (let i = 1; i < x.length; i++) s += (x[i] - 0.5) ** 2;
  return Math.exp(-p.a * s) * p.spectrum(x[0]);
};

// points of a lattice with irrational steps: evenly spread, and the same in every run
const n = 1_000_000;
const steps = [2, 3, 5, 7, 11, 13].map(p => Math.sqrt(p) % 1);
const points = Float64Array.from(
  { length: n * dims },
  (_, k) => ((k % n) * steps[Math.floor(k / n)] + 0.5) % 1,
);

const compiled = compile(f, { dims, params });
compiled.evaluate(points.slice(0, 6000)); // warm up
const start = performance.now();
const values = compiled.evaluate(points);
const seconds = (performance.now() - start) / 1000;
const mean = values.reduce((a, b) => a + b) / n;

const x = Array(dims).fill(0);
const plainStart = performance.now();
let sum = 0;
for (let i = 0; i < n; i++) {
  for (let d = 0; d < dims; d++) x[d] = points[d * n + i];
  sum += f(x, params);
}
const plainSeconds = (performance.now() - plainStart) / 1000;

// ∫ exp(−a(x − ½)²) dx over [0, 1] is √(π/a)·erf(√a/2), here five times; the table's integral is a sum of trapezoids
const gauss = Math.sqrt(Math.PI / params.a) * 0.6826894921370859; // erf(√2/2)
const trapezoids = xs.reduce((s, v) => s + v * (1 - v), 0) / 100;
console.log(`average of ${n.toExponential()} points  ${mean.toFixed(8)}`);
console.log(`exact integral         ${(gauss ** 5 * trapezoids).toFixed(8)}`);
console.log(`compiled               ${(n / seconds).toExponential(1)} points a second, on one core`);
console.log(`plain JavaScript       ${(n / plainSeconds).toExponential(1)} points a second`);
if (Math.abs(mean - sum / n) > 1e-12) throw new Error('the compiled integrand differs from the function');
