/**
 * Makes the tables of examples/cosmology.ts:
 *
 *   node scripts/run.mjs examples/data/clusters.ts > examples/data/clusters.csv
 *
 * How many clusters of galaxies there are at redshift z with mass M, in a textbook model and not fitted to anything: a flat
 * universe with Ωm = 0.3, h = 0.7, σ8 = 0.8, nS = 0.96; the transfer function of Bardeen, Bond, Kaiser and Szalay
 * (1986, eq. G3); the mass function of Press and Schechter (1974). Lengths are in Mpc/h, masses in solar masses/h.
 */
import { type IntegrandOf, type Params, type ScanOptions, scan } from 'quadrille';

const [matter, h, sigma8, tilt] = [0.3, 0.7, 0.8, 0.96];
const hubbleLength = 2997.92458; // c/H0
const meanDensity = 2.77536627e11 * matter;
const collapse = 1.686; // the linear overdensity at which a ball collapses

const steps = (from: number, to: number, n: number) =>
  Array.from({ length: n + 1 }, (_, i) => Number((from + ((to - from) * i) / n).toFixed(6)));
const redshifts = steps(0, 0.8, 40);
const masses = steps(13.2, 15.8, 26); // as log10
const options = { relTol: 1e-9, method: 'pagani' } as const;
const values = async <P extends Params>(f: IntegrandOf<P, number>, of: ScanOptions<number, P>) => {
  const results = await scan(f, of);
  const failed = results.find(r => !r.converged);
  if (failed) throw new Error(`no table: ${failed}`);
  return results.map(r => r.value);
};

/** H(z)/H0. */
const expansion = (z: number) => Math.sqrt(matter * (1 + z) ** 3 + 1 - matter);

// the comoving distance to z, from z·t with t in [0, 1]; the one to z = 0 is 0, which meets no relative tolerance
const distance = await values(
  ([t], p) => (p.c * p.z) / Math.sqrt(p.matter * (1 + p.z * t) ** 3 + 1 - p.matter),
  { ...options, absTol: 1e-6, dims: 1, params: redshifts.map(z => ({ z, matter, c: hubbleLength })) },
);
// how far structures had grown at z (Heath 1977), in the scale a = 1/(1 + z)
const growth = await values(
  ([t], p) => {
    const a = p.a * t;
    return p.a * p.expansion * (a / (p.matter + (1 - p.matter) * a ** 3)) ** 1.5;
  },
  {
    ...options,
    dims: 1,
    params: redshifts.map(z => ({ a: 1 / (1 + z), expansion: expansion(z), matter })),
  },
);
/** The deviation of the density in balls of these radii, not normalised yet. */
const deviation = async (radii: number[]) => {
  const variance = await values(
    ([lnK], p) => {
      const k = Math.exp(lnK);
      const q = k / p.shape;
      const poly = 1 + 3.89 * q + (16.1 * q) ** 2 + (5.46 * q) ** 3 + (6.71 * q) ** 4;
      const transfer = (Math.log(1 + 2.34 * q) / (2.34 * q)) * poly ** -0.25;
      const y = k * p.R;
      const ball = y < 0.01 ? 1 - (y * y) / 10 : (3 * (Math.sin(y) - y * Math.cos(y))) / y ** 3;
      return Math.exp((3 + p.tilt) * lnK) * (transfer * ball) ** 2;
    },
    { ...options, domain: [[-9, 5]], params: radii.map(R => ({ R, tilt, shape: matter * h })) },
  );
  return variance.map(Math.sqrt);
};
const radius = (logMass: number) => ((3 * 10 ** logMass) / (4 * Math.PI * meanDensity)) ** (1 / 3);
const delta = 0.01;
const [at8] = await deviation([8]);
const sigma = (await deviation(masses.map(radius))).map(s => (sigma8 * s) / at8);
const above = await deviation(masses.map(m => radius(m + delta)));
const below = await deviation(masses.map(m => radius(m - delta)));
const slope = masses.map((_, j) => Math.log(below[j] / above[j]) / (2 * delta * Math.LN10));

console.log(
  '# clusters of galaxies in a textbook model; made by examples/data/clusters.ts, which says which',
);
console.log('# z, comoving volume dV/dz of a steradian, then ln(dn/dlnM) at these log10 M:');
console.log(['z', 'volume', ...masses.map(m => m.toFixed(1))].join(','));
redshifts.forEach((z, i) => {
  const volume = (hubbleLength * distance[i] ** 2) / expansion(z);
  const logDensity = masses.map((m, j) => {
    const nu = collapse / ((sigma[j] * growth[i]) / growth[0]);
    return Math.log(Math.sqrt(2 / Math.PI) * (meanDensity / 10 ** m) * nu * slope[j]) - nu ** 2 / 2;
  });
  console.log([z.toFixed(2), volume.toPrecision(7), ...logDensity.map(v => v.toFixed(4))].join(','));
});
