/**
 * First steps: three integrals with known values.
 *
 * See: each line has the value with its error in the last digits, the method that `auto` took, and what it cost; then how
 * far off it really is, in errors. Where the method samples (vegas+), chi2/dof near 1 says that iterations agree;
 * the table at the end has them one by one. Those that adapt do not enter the result.
 */
import { integrate, type Result, table } from 'quadrille';

const show = async (what: string, truth: number, run: Promise<Result>) => {
  const r = await run;
  const off = ((r.value - truth) / r.error).toFixed(1);
  console.log(`${what}\n  ${r}\n  true value ${truth}, off by ${off} errors\n`);
  return r;
};

// a peak in eight dimensions, in less than a millionth of the volume
const peak = await show(
  'a narrow peak in 8 dimensions',
  6.383802190004384e-10,
  integrate(x => Math.exp(-625 * x.reduce((s: number, v: number) => s + (v - 0.5) ** 2, 0)), {
    dims: 8,
    relTol: 1e-4,
  }),
);

// infinite ranges, parameters
await show(
  'a Gaussian over the plane',
  Math.PI / 3.5,
  integrate(([x, y], p) => Math.exp(-p.a * (x * x + y * y)), {
    domain: [
      [-Infinity, Infinity],
      [-Infinity, Infinity],
    ],
    params: { a: 3.5 },
    relTol: 1e-4,
  }),
);

// a function known at points only
const xs = Float64Array.from({ length: 101 }, (_, i) => i / 100);
const spectrum = table(
  [xs],
  xs.map(x => x * (1 - x)),
);
await show(
  'a tabulated spectrum',
  0.16665 * (Math.E - 1),
  integrate(([x, y], p) => p.spectrum(x) * Math.exp(y), { dims: 2, params: { spectrum }, relTol: 1e-4 }),
);

console.log('iterations of the first one:');
console.log(peak.summary());
