/**
 * Ridge, where VEGAS+ beats VEGAS: a hundred Gaussians in a row along the diagonal of the four-dimensional cube (cuVegas,
 * table 3; there N is 1000, here 100, which is nearly the same ridge at a tenth of the cost).
 *
 * See: VEGAS learns a density for each axis apart, and seen along an axis the ridge is nearly flat: little to learn.
 * `mcubes` puts as many samples into every cube; `vegas+` gives more to the cubes that vary more, those along the
 * diagonal. With the same evaluations its error is about a third; VEGAS would need some ten times as many for that.
 */
import { integrate, type Result } from 'quadrille';

const ridge = (x: number[], { N }: { N: number }) => {
  let sum = 0;
  for (let i = 0; i < N; i++) {
    let r2 = 0;
    for (const xj of x) r2 += (xj - i / (N - 1)) ** 2;
    sum += Math.exp(-100 * r2);
  }
  return (10000 / (Math.PI ** 2 * N)) * sum;
};
// for each Gaussian a product of (erf(10c) + erf(10 - 10c))/2 over the axes, c its centre; their mean
const truth = 0.8441643134507915;

const found = (r: Result) => `${r}`.split(' ')[0];
const pull = (r: Result) => ((r.value - truth) / r.error).toFixed(1);

console.log(
  `true value ${truth}; the numbers in brackets are errors, in the last digits; "off by" is in errors\n`,
);
console.log('evaluations  mcubes        off by  vegas+        off by  ratio of errors  mcubes would need');
for (const evaluations of [1e4, 5e4, 2e5]) {
  // the first five iterations learn and do not count, as where cuVegas is compared with m-Cubes (section 4.7)
  const protocol = {
    dims: 4,
    params: { N: 100 },
    relTol: 0,
    vegas: { evaluations, iterations: 10, adapt: 5 },
  };
  const vegas = await integrate(ridge, { ...protocol, method: 'mcubes' });
  const plus = await integrate(ridge, { ...protocol, method: 'vegas+' });
  const ratio = vegas.error / plus.error;
  const row = [
    plus.evaluations.toExponential(1).padEnd(12),
    found(vegas).padEnd(13),
    pull(vegas).padEnd(7),
    found(plus).padEnd(13),
    pull(plus).padEnd(7),
    ratio.toFixed(1).padEnd(16),
    `${(ratio ** 2).toFixed(0)} times as many`,
  ];
  console.log(row.join(' '));
}
